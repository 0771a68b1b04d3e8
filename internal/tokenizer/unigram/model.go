// Package unigram is the Unigram model of SentencePiece and of a tokenizer.json: of all ways to cut a text into tokens,
// the one whose scores have the greatest sum.
package unigram

import (
	"fmt"
	"math"
	"strconv"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
	"github.com/weir-data/weir/internal/tokenizer/unigram/trie"
)

// unknownPenalty is what an unknown character scores below the lowest token.
const unknownPenalty = 10

// Model is a vocabulary with scores. It never changes; encoders share it.
type Model struct {
	trie    *trie.Trie
	texts   []byte   // all tokens, one behind the other
	ends    []uint32 // where each ends
	scores  []float64
	longest int // bytes of the longest token
	unknown uint32
	penalty float64 // the score of an unknown character
	// bytes are the tokens that stand for single bytes, -1 where there is none; nil: unknown text is never spelt.
	bytes *[256]int32
}

// Parse reads the "model" value of a tokenizer.json. Its scores are read as the reference reads them; what it cannot do as
// the reference does is refused by name.
func Parse(spec document.Value) (*Model, error) {
	m := &Model{}
	if err := m.parse(spec); err != nil {
		return nil, fmt.Errorf("model Unigram: %w", err)
	}
	return m, nil
}

func (m *Model) parse(spec document.Value) error {
	if err := m.readVocabulary(spec.Member("vocab")); err != nil {
		return err
	}
	unknown := spec.Member("unk_id")
	if unknown.Null() {
		return format.Error(format.ErrUsage, "unk_id is not given: an unknown character would end the run")
	}
	id, err := strconv.ParseUint(string(unknown), 10, 31)
	if err != nil || id >= uint64(len(m.ends)) {
		return format.Error(format.ErrData, "unk_id %s is not one of %d tokens", unknown, len(m.ends))
	}
	m.unknown = uint32(id)
	m.trie, err = trie.Build(len(m.ends), m.text)
	if err != nil {
		return err
	}
	switch fallback := spec.Member("byte_fallback"); string(fallback) {
	case "", "false":
	case "true":
		m.bytes = new([256]int32)
		for b := range m.bytes {
			m.bytes[b] = -1
			if id, ok := m.trie.Get(fmt.Appendf(nil, "<0x%02X>", b)); ok {
				m.bytes[b] = int32(id)
			}
		}
	default:
		return format.Error(format.ErrData, "byte_fallback is %s", fallback)
	}
	return nil
}

func (m *Model) readVocabulary(vocab document.Value) error {
	if vocab.Kind() != '[' {
		return format.Error(format.ErrData, "vocab is not a list of tokens and scores")
	}
	low := math.Inf(1)
	err := vocab.Elements(func(entry document.Value) error {
		var parts [2]document.Value
		n := 0
		_ = entry.Elements(func(v document.Value) error { // it fails only where this function does
			if n < 2 {
				parts[n] = v
			}
			n++
			return nil
		})
		begin := len(m.texts)
		texts, ok := parts[0].AppendText(m.texts)
		if k := parts[1].Kind(); n != 2 || !ok || k != '-' && k-'0' > 9 {
			return format.Error(format.ErrData, "token %d is not a text and a score", len(m.ends))
		}
		s, ok := score(parts[1])
		if !ok {
			return format.Error(format.ErrData, "token %d: the score %s is out of range", len(m.ends), parts[1])
		}
		if int64(len(texts)) > math.MaxUint32 {
			return format.Error(format.ErrUsage, "the tokens are more than 4 GiB")
		}
		m.texts, m.ends, m.scores = texts, append(m.ends, uint32(len(texts))), append(m.scores, s)
		m.longest = max(m.longest, len(texts)-begin)
		low = min(low, s)
		return nil
	})
	m.penalty = low - unknownPenalty
	return err
}

func (m *Model) text(id int) []byte {
	begin := uint32(0)
	if id > 0 {
		begin = m.ends[id-1]
	}
	return m.texts[begin:m.ends[id]]
}

// ID is the id of a token.
func (m *Model) ID(token string) (uint32, bool) { return m.trie.Get([]byte(token)) }

// Size is how many tokens there are.
func (m *Model) Size() int { return len(m.ends) }

// AppendToken appends the text of a token; false: no such id.
func (m *Model) AppendToken(dst []byte, id uint32) ([]byte, bool) {
	if int64(id) >= int64(len(m.ends)) {
		return dst, false
	}
	return append(dst, m.text(int(id))...), true
}

// Bytes is the memory that the model holds.
func (m *Model) Bytes() int64 {
	return m.trie.Bytes() + int64(cap(m.texts)) + int64(cap(m.ends))*4 + int64(cap(m.scores))*8 + 1024
}
