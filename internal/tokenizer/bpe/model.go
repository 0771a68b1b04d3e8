// Package bpe is byte-pair encoding as the tokenizers library does it: over
// bytes (byte-level vocabularies) and over characters with bytes to fall back
// on (those that come from SentencePiece).
package bpe

import (
	"encoding/json"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// Model is a vocabulary and its merges. It does not change and is safe for
// concurrent use; NewEncoder makes what encodes with it.
type Model struct {
	*vocabulary
	pairs *pairs
	cuts  *cuts // nil: a piece is merged whole

	// symbol is the token of a byte (byte-level) or of an ASCII character;
	// none: there is none. Of a piece with a prefix or a suffix, see ends.
	symbol   [256]uint32
	fallback [256]uint32 // the token <0xNN> of a byte; none
	complete bool        // no piece has an unknown symbol
	affixed  bool        // prefix or suffix is not empty
	prefix   []byte      // of every symbol but the first
	suffix   []byte      // of the last symbol
	unknown  uint32      // none: what is unknown is left out
	fuse     bool        // unknown symbols side by side are one token
	ignore   bool        // a piece that is a token is that token
	longest  int         // bytes of the longest token
	stable   []uint64    // bits by id: tokens over shortest bytes that merge to themselves
}

// options are the settings of a model beside its vocabulary.
type options struct {
	Dropout                 *float64 `json:"dropout"`
	UnkToken                *string  `json:"unk_token"`
	ContinuingSubwordPrefix *string  `json:"continuing_subword_prefix"`
	EndOfWordSuffix         *string  `json:"end_of_word_suffix"`
	FuseUnk                 bool     `json:"fuse_unk"`
	ByteFallback            bool     `json:"byte_fallback"`
	IgnoreMerges            bool     `json:"ignore_merges"`
}

// Parse reads the "model" of a tokenizer.json. With byteLevel, pieces are raw
// bytes that stand for the alphabet's characters. What cannot be done as the
// library does it is format.ErrUsage and named.
func Parse(spec document.Value, byteLevel bool) (*Model, error) {
	opt, err := parseOptions(spec)
	if err != nil {
		return nil, fmt.Errorf("BPE: %w", err)
	}
	m := &Model{fuse: opt.FuseUnk, ignore: opt.IgnoreMerges, unknown: none}
	if opt.ContinuingSubwordPrefix != nil {
		m.prefix = []byte(*opt.ContinuingSubwordPrefix)
	}
	if opt.EndOfWordSuffix != nil {
		m.suffix = []byte(*opt.EndOfWordSuffix)
	}
	m.affixed = len(m.prefix)+len(m.suffix) > 0
	var table *alphabet.Table
	if byteLevel {
		table = alphabet.New()
	}
	if m.vocabulary, err = parseVocabulary(spec.Member("vocab"), table); err != nil {
		return nil, fmt.Errorf("BPE: %w", err)
	}
	if m.pairs, err = parsePairs(spec.Member("merges"), m.vocabulary, len(m.prefix)); err != nil {
		return nil, fmt.Errorf("BPE: %w", err)
	}
	if err := m.setUnknown(opt); err != nil {
		return nil, fmt.Errorf("BPE: %w", err)
	}
	if err := m.setAffixes(); err != nil {
		return nil, fmt.Errorf("BPE: %w", err)
	}
	m.setSymbols(opt)
	m.setCuts()
	m.setStable()
	m.scratch = nil
	return m, nil
}

// parseOptions reads the members of a model but the two large ones.
func parseOptions(spec document.Value) (options, error) {
	var opt options
	small := []byte("{")
	_ = spec.Members(func(key, value document.Value) error {
		if name := string(key); name != `"vocab"` && name != `"merges"` {
			if len(small) > 1 {
				small = append(small, ',')
			}
			small = append(append(append(small, key...), ':'), value...)
		}
		return nil
	})
	if err := json.Unmarshal(append(small, '}'), &opt); err != nil {
		return opt, format.Error(format.ErrData, "%w", err)
	}
	if opt.Dropout != nil && *opt.Dropout != 0 {
		return opt, format.Error(format.ErrUsage, "dropout is %v: ids would be random; set it to null", *opt.Dropout)
	}
	return opt, nil
}

func (m *Model) setUnknown(opt options) error {
	if opt.UnkToken == nil {
		return nil
	}
	id, ok, _ := m.textID([]byte(*opt.UnkToken), nil)
	if !ok {
		return format.Error(format.ErrUsage, "unk_token %q is not in the vocabulary", *opt.UnkToken)
	}
	m.unknown = id
	return nil
}

// setAffixes turns prefix and suffix into what they are in pieces.
func (m *Model) setAffixes() error {
	if m.table == nil {
		return nil
	}
	for _, affix := range []*[]byte{&m.prefix, &m.suffix} {
		raw, ok := m.table.AppendBytes(nil, *affix)
		if !ok {
			return format.Error(format.ErrUsage, "the affix %q is not of the byte-level alphabet", *affix)
		}
		*affix = raw
	}
	return nil
}

func (m *Model) setSymbols(opt options) {
	for b := range 256 {
		m.symbol[b], m.fallback[b] = none, none
		if m.table == nil && b >= utf8.RuneSelf {
			continue
		}
		if id, ok := m.id([]byte{byte(b)}); ok {
			m.symbol[b] = id
		}
	}
	m.complete = true
	for b := range 256 {
		if opt.ByteFallback {
			if id, ok, _ := m.textID(fmt.Appendf(nil, "<0x%02X>", b), nil); ok {
				m.fallback[b] = id
			}
		}
		byText := m.table == nil && m.fallback[b] != none
		m.complete = m.complete && (m.symbol[b] != none || byText)
	}
}

// setCuts finds out where pieces may be cut. They may not where a symbol can be
// left out or fused, which brings together what did not stand side by side, nor
// where a symbol depends on its place, nor where a byte that was fallen back on
// is merged.
func (m *Model) setCuts() {
	if !m.complete || m.affixed {
		return
	}
	fallback := map[uint32]bool{}
	if m.table == nil {
		for _, id := range m.fallback {
			fallback[id] = true
		}
	}
	c := newCuts(m.pairs.count)
	for _, p := range m.pairs.slots {
		if p.left == none {
			continue
		}
		a, b := m.token(p.left), m.token(p.right)
		if len(a) == 0 || len(b) == 0 || fallback[p.left] || fallback[p.right] {
			return
		}
		c.add(a, b)
	}
	m.cuts = c
}

// setStable finds the long tokens that merging their own bytes gives; short
// pieces are remembered by the encoders instead.
func (m *Model) setStable() {
	m.stable = make([]uint64, (len(m.start)+63)/64)
	e := m.NewEncoder(0)
	var ids []uint32
	for id := range m.start {
		if !m.holds(uint32(id)) || m.written[id] || m.stop[id]-m.start[id] <= shortest {
			continue
		}
		m.longest = max(m.longest, int(m.stop[id]-m.start[id]))
		ids = e.merge(m.token(uint32(id)), ids[:0])
		if len(ids) == 1 && ids[0] == uint32(id) {
			m.stable[id/64] |= 1 << (id % 64)
		}
	}
}

func (m *Model) isStable(id uint32) bool { return m.stable[id/64]>>(id%64)&1 != 0 }

// ID is the id of a token as tokenizer.json writes it.
func (m *Model) ID(token string) (uint32, bool) {
	id, ok, _ := m.textID([]byte(token), nil)
	return id, ok
}

// Size is how many tokens there are.
func (m *Model) Size() int { return m.count }

// AppendToken appends a token as tokenizer.json writes it; false: no such id.
func (m *Model) AppendToken(dst []byte, id uint32) ([]byte, bool) {
	if !m.holds(id) {
		return dst, false
	}
	if m.table != nil && !m.written[id] {
		return m.table.AppendText(dst, m.token(id)), true
	}
	return append(dst, m.token(id)...), true
}

// Kept is a token as the model keeps it: raw bytes in byte-level vocabularies;
// nil: no such id.
func (m *Model) Kept(id uint32) []byte {
	if !m.holds(id) {
		return nil
	}
	return m.token(id)
}

// Width is how many bytes of a piece a token took, where it is neither unknown
// nor has a prefix or suffix.
func (m *Model) Width(id uint32) int {
	token := m.Kept(id)
	if len(token) == len("<0x00>") && slices.Contains(m.fallback[:], id) {
		return 1
	}
	return len(token)
}

// Bytes is the memory that the model holds.
func (m *Model) Bytes() int64 {
	n := cap(m.bytes) + 4*(cap(m.start)+cap(m.stop)+cap(m.slots)) + cap(m.written) + 16*cap(m.pairs.slots) + 8*cap(m.stable)
	if m.cuts != nil {
		n += 2*cap(m.cuts.lengths) + 8*cap(m.cuts.seen)
	}
	return int64(n)
}
