// Package wordpiece is the WordPiece and WordLevel models of a tokenizer.json: a word becomes the longest tokens it
// begins with, one after the other, or one token as a whole.
package wordpiece

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
	"github.com/weir-data/weir/internal/tokenizer/unigram/trie"
)

// Model is a vocabulary. It never changes; encoders share it.
type Model struct {
	trie    *trie.Trie
	texts   []byte   // all tokens, one behind the other
	ends    []uint32 // where each ends
	ids     []uint32 // by place in the vocabulary, which is the trie's value
	byID    map[uint32]uint32
	count   int // tokens, each counted once
	unknown uint32
	whole   bool // WordLevel: a word is one token
	// inside is the node of the prefix that tokens inside a word have; absent: no token has it.
	inside trie.Node
	absent bool
	limit  uint64 // characters of the longest word that is looked at
}

// Parse reads the "model" value of a tokenizer.json, of type WordPiece or WordLevel.
func Parse(spec document.Value) (*Model, error) {
	kind, _ := spec.Member("type").AppendText(nil)
	if len(kind) == 0 {
		kind = []byte("WordPiece")
	}
	m := &Model{whole: string(kind) == "WordLevel"}
	err := m.parse(spec)
	if err != nil {
		return nil, fmt.Errorf("model %s: %w", kind, err)
	}
	return m, nil
}

func (m *Model) parse(spec document.Value) error {
	if err := m.readVocabulary(spec.Member("vocab")); err != nil {
		return err
	}
	var err error
	if m.trie, err = trie.Build(len(m.ends), m.text); err != nil {
		return err
	}
	m.byID = make(map[uint32]uint32, len(m.ids))
	for i, id := range m.ids {
		if at, _ := m.trie.Get(m.text(i)); at == uint32(i) { // of a token that is there twice, the last counts
			m.byID[id] = at
			m.count++
		}
	}
	unknown, ok := spec.Member("unk_token").AppendText(nil)
	if !ok {
		return format.Error(format.ErrData, "unk_token is missing")
	}
	at, ok := m.trie.Get(unknown)
	if !ok {
		return format.Error(format.ErrUsage, "unk_token %q is not in the vocabulary: an unknown word would end the run", unknown)
	}
	m.unknown = m.ids[at]
	if m.whole {
		return nil
	}
	prefix, ok := spec.Member("continuing_subword_prefix").AppendText(nil)
	if !ok {
		return format.Error(format.ErrData, "continuing_subword_prefix is missing")
	}
	m.inside = m.trie.Root()
	for _, b := range prefix {
		if m.inside, ok = m.trie.Next(m.inside, b); !ok {
			m.absent = true
			break
		}
	}
	limit := spec.Member("max_input_chars_per_word")
	if m.limit, err = strconv.ParseUint(string(limit), 10, 64); err != nil {
		return format.Error(format.ErrData, "max_input_chars_per_word %q is not a number", limit)
	}
	return nil
}

func (m *Model) readVocabulary(vocab document.Value) error {
	if vocab.Kind() != '{' {
		return format.Error(format.ErrData, "vocab is not a map of tokens to ids")
	}
	return vocab.Members(func(key, value document.Value) error {
		texts, ok := key.AppendText(m.texts)
		if !ok {
			return format.Error(format.ErrData, "token %d is not a text", len(m.ends))
		}
		id, err := strconv.ParseUint(string(value), 10, 32)
		if err != nil {
			return format.Error(format.ErrData, "token %s has the id %s", key, value)
		}
		if int64(len(texts)) > math.MaxUint32 {
			return format.Error(format.ErrUsage, "the tokens are more than 4 GiB")
		}
		m.texts, m.ends, m.ids = texts, append(m.ends, uint32(len(texts))), append(m.ids, uint32(id))
		return nil
	})
}

func (m *Model) text(at int) []byte {
	begin := uint32(0)
	if at > 0 {
		begin = m.ends[at-1]
	}
	return m.texts[begin:m.ends[at]]
}

// ID is the id of a token.
func (m *Model) ID(token string) (uint32, bool) {
	at, ok := m.trie.Get([]byte(token))
	if !ok {
		return 0, false
	}
	return m.ids[at], true
}

// Size is how many tokens there are.
func (m *Model) Size() int { return m.count }

// AppendToken appends the text of a token; false: no such id.
func (m *Model) AppendToken(dst []byte, id uint32) ([]byte, bool) {
	at, ok := m.byID[id]
	if !ok {
		return dst, false
	}
	return append(dst, m.text(int(at))...), true
}

// Bytes is the memory that the model holds; a map takes about 16 bytes for a pair of numbers.
func (m *Model) Bytes() int64 {
	return m.trie.Bytes() + int64(cap(m.texts)) + int64(cap(m.ends)+cap(m.ids))*4 + int64(len(m.byID))*16
}

// Encoder turns words into ids. It holds no memory of its own.
type Encoder struct{ *Model }

// NewEncoder returns an encoder of the model.
func (m *Model) NewEncoder() *Encoder { return &Encoder{m} }

// Encode appends the ids of one word. A word that is not tokens from end to end, or is too long, is one unknown token.
func (e *Encoder) Encode(piece []byte, ids []uint32) []uint32 {
	m := e.Model
	if m.whole {
		if at, ok := m.trie.Get(piece); ok {
			return append(ids, m.ids[at])
		}
		return append(ids, m.unknown)
	}
	if uint64(len(piece)) > m.limit && uint64(utf8.RuneCount(piece)) > m.limit {
		return append(ids, m.unknown)
	}
	begin := len(ids)
	for at, n := 0, m.trie.Root(); at < len(piece); n = m.inside {
		id, length := m.longest(piece[at:], n)
		if length == 0 || at > 0 && m.absent {
			return append(ids[:begin], m.unknown)
		}
		ids = append(ids, id)
		at += length
	}
	return ids
}

// longest returns the longest token that text begins with, from a node on, and its length; 0: there is none.
func (m *Model) longest(text []byte, n trie.Node) (id uint32, length int) {
	found := uint32(0)
	for i, b := range text {
		var ok bool
		if n, ok = m.trie.Next(n, b); !ok {
			break
		}
		if at, ok := n.Value(); ok {
			found, length = at, i+1
		}
	}
	if length > 0 {
		id = m.ids[found]
	}
	return id, length
}
