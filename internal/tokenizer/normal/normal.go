// Package normal is the normalizers of a tokenizer.json: text to text, byte for byte as the reference library
// (`tokenizers`) gives it.
package normal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
)

// Normalizer makes one text from another.
type Normalizer interface {
	// Normalize appends the normalized src to dst, which must not overlap it. It is a pure function and safe for
	// concurrent use. Bytes that are not UTF-8 pass, or are dropped with what surrounds them; they never do harm.
	Normalize(dst, src []byte) []byte
	// Unchanged reports that Normalize would append src as it is, at the price of a look at every byte at most.
	// False promises nothing.
	Unchanged(src []byte) bool
}

// Parse reads the "normalizer" value of a tokenizer.json; null gives nil. What cannot be done as the reference does it is
// refused by name.
func Parse(spec json.RawMessage) (Normalizer, error) {
	n, err := (&parser{}).parse(spec)
	if err != nil {
		return nil, fmt.Errorf("normalizer: %w", err)
	}
	return n, nil
}

// parser shares the Unicode tables among the normalizers of one file.
type parser struct{ loaded *tables }

func (p *parser) tables() *tables {
	if p.loaded == nil {
		p.loaded = load()
	}
	return p.loaded
}

// settings are the options of all normalizers; those that one must have are pointers.
type settings struct {
	Type               string            `json:"type"`
	Normalizers        []json.RawMessage `json:"normalizers"`
	StripLeft          *bool             `json:"strip_left"`
	StripRight         *bool             `json:"strip_right"`
	Prepend            *string           `json:"prepend"`
	Pattern            json.RawMessage   `json:"pattern"`
	Content            *string           `json:"content"`
	Charsmap           *string           `json:"precompiled_charsmap"`
	CleanText          *bool             `json:"clean_text"`
	HandleChineseChars *bool             `json:"handle_chinese_chars"`
	StripAccents       *bool             `json:"strip_accents"`
	Lowercase          *bool             `json:"lowercase"`
}

func (p *parser) parse(spec json.RawMessage) (Normalizer, error) {
	if spec = bytes.TrimSpace(spec); len(spec) == 0 || string(spec) == "null" {
		return nil, nil
	}
	var s settings
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, dataError("%v", err)
	}
	n, err := p.build(&s)
	if err != nil && s.Type != "Sequence" {
		return nil, fmt.Errorf("%s: %w", s.Type, err)
	}
	return n, err
}

func (p *parser) build(s *settings) (Normalizer, error) {
	switch s.Type {
	case "NFC":
		return newForm(p.tables(), false, true), nil
	case "NFD":
		return newForm(p.tables(), false, false), nil
	case "NFKC":
		return newForm(p.tables(), true, true), nil
	case "NFKD":
		return newForm(p.tables(), true, false), nil
	case "Lowercase":
		return lowercase{p.tables()}, nil
	case "StripAccents":
		return stripAccents{p.tables()}, nil
	case "Nmt":
		return nmt{}, nil
	case "ByteLevel":
		return byteLevel{alphabet.New()}, nil
	case "Strip":
		if s.StripLeft == nil || s.StripRight == nil {
			return nil, dataError("strip_left or strip_right is missing")
		}
		return strip{*s.StripLeft, *s.StripRight}, nil
	case "Prepend":
		if s.Prepend == nil {
			return nil, dataError("prepend is missing")
		}
		return prepend{[]byte(*s.Prepend)}, nil
	case "Replace":
		return newReplace(s)
	case "Precompiled":
		return newPrecompiled(s, p.tables())
	case "Bert", "BertNormalizer":
		return newBert(s, p.tables())
	case "Sequence":
		return p.sequence(s)
	}
	return nil, refusal("a normalizer of this type is not known here")
}

// sequence flattens nested sequences.
func (p *parser) sequence(s *settings) (Normalizer, error) {
	if s.Normalizers == nil {
		return nil, dataError("Sequence: normalizers is missing")
	}
	all := sequence{}
	for _, spec := range s.Normalizers {
		n, err := p.parse(spec)
		if err != nil {
			return nil, err
		}
		switch n := n.(type) {
		case nil:
			return nil, dataError("Sequence: a normalizer is null")
		case sequence:
			all = append(all, n...)
		default:
			all = append(all, n)
		}
	}
	for i, n := range all[:max(len(all)-1, 0)] {
		if z, ok := n.(interface{ detached() string }); ok && z.detached() != "" && !all[i+1:].keepsOffsets() {
			return nil, refusal("Sequence: %s with another normalizer behind it: the reference fails on such text", z.detached())
		}
	}
	return all, nil
}

// keepsOffsets reports that no normalizer looks at how its input lies in the original text; the others break, in the
// reference, where the text begins with something that comes from nowhere in the original.
func (s sequence) keepsOffsets() bool {
	for _, n := range s {
		switch n.(type) {
		case replace, replaceRegex, prepend:
		default:
			return false
		}
	}
	return true
}

// sequence runs normalizers one after the other.
type sequence []Normalizer

func (s sequence) Unchanged(src []byte) bool {
	for _, n := range s {
		if !n.Unchanged(src) {
			return false
		}
	}
	return true
}

// Normalize lets every step append behind the result of the one before, and moves the last result to its place.
func (s sequence) Normalize(dst, src []byte) []byte {
	base := len(dst)
	cur := src
	for _, n := range s {
		if n.Unchanged(cur) {
			continue
		}
		from := len(dst)
		dst = n.Normalize(dst, cur)
		cur = dst[from:]
	}
	n := copy(dst[base:cap(dst)], cur)
	if n < len(cur) {
		return append(dst[:base], cur...)
	}
	return dst[:base+n]
}

// dataError is a tokenizer.json that is damaged.
func dataError(text string, args ...any) error { return format.Error(format.ErrData, text, args...) }

// refusal is a tokenizer.json that asks for what is not done here.
func refusal(text string, args ...any) error { return format.Error(format.ErrUsage, text, args...) }

// quote shortens a text that an error shows.
func quote(s string) string {
	if len(s) > 40 {
		s = s[:40] + "…"
	}
	return fmt.Sprintf("%q", strings.ToValidUTF8(s, "\uFFFD"))
}
