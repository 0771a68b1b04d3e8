package tokenizer

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/mend"
	"github.com/weir-data/weir/internal/tokenizer/alphabet"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// decoder turns the tokens of a text, as the vocabulary writes them, into parts
// of the text. It may change the tokens it is given.
type decoder func(tokens [][]byte) [][]byte

// decoderSpec is what a decoder may say.
type decoderSpec struct {
	Type               string            `json:"type"`
	Decoders           []json.RawMessage `json:"decoders"`
	Pattern            map[string]string `json:"pattern"`
	Content            string            `json:"content"`
	Start              int               `json:"start"`
	Stop               int               `json:"stop"`
	Prefix             string            `json:"prefix"`
	Suffix             string            `json:"suffix"`
	Cleanup            bool              `json:"cleanup"`
	Replacement        string            `json:"replacement"`
	PrependScheme      string            `json:"prepend_scheme"`
	AddPrefixSpace     *bool             `json:"add_prefix_space"`
	PadToken           string            `json:"pad_token"`
	WordDelimiterToken string            `json:"word_delimiter_token"`
}

// parseDecoder reads "decoder". No decoder puts spaces between the tokens.
func parseDecoder(spec document.Value) (decoder, error) {
	if spec.Null() {
		return func(tokens [][]byte) [][]byte { return [][]byte{bytes.Join(tokens, []byte(" "))} }, nil
	}
	var s decoderSpec
	if err := json.Unmarshal(spec, &s); err != nil {
		return nil, format.Error(format.ErrData, "decoder: %w", err)
	}
	switch s.Type {
	case "Sequence":
		return s.sequence()
	case "ByteLevel":
		return byteLevel(alphabet.New()), nil
	case "Fuse":
		return fuse, nil
	case "ByteFallback":
		return byteFallback, nil
	case "Replace":
		from, ok := s.Pattern["String"]
		if !ok || from == "" {
			return nil, format.Error(format.ErrUsage, "decoder: Replace of a regular expression is not supported")
		}
		return mapped(func(_ int, token []byte) []byte { return bytes.ReplaceAll(token, []byte(from), []byte(s.Content)) }), nil
	case "Strip":
		return mapped(s.strip), nil
	case "Metaspace":
		return mapped(s.metaspace), nil
	case "WordPiece":
		return mapped(s.wordPiece), nil
	case "BPEDecoder":
		return s.words, nil
	case "CTC":
		return s.ctc, nil
	}
	return nil, format.Error(format.ErrUsage, "decoder of type %q is not one that weir knows", s.Type)
}

// isByteLevel says that a decoder is ByteLevel and nothing else.
func isByteLevel(spec document.Value) bool {
	var name string
	return json.Unmarshal(spec.Member("type"), &name) == nil && name == "ByteLevel"
}

func (s *decoderSpec) sequence() (decoder, error) {
	var all []decoder
	for _, inner := range s.Decoders {
		d, err := parseDecoder(document.Value(inner))
		if err != nil {
			return nil, err
		}
		all = append(all, d)
	}
	return func(tokens [][]byte) [][]byte {
		for _, d := range all {
			tokens = d(tokens)
		}
		return tokens
	}, nil
}

// mapped is a decoder of every token alone.
func mapped(f func(i int, token []byte) []byte) decoder {
	return func(tokens [][]byte) [][]byte {
		for i, t := range tokens {
			tokens[i] = f(i, t)
		}
		return tokens
	}
}

func fuse(tokens [][]byte) [][]byte { return [][]byte{bytes.Join(tokens, nil)} }

func byteLevel(table *alphabet.Table) decoder {
	return func(tokens [][]byte) [][]byte {
		var raw []byte
		for _, t := range tokens {
			var ok bool
			if raw, ok = table.AppendBytes(raw, t); !ok {
				raw = append(raw, t...)
			}
		}
		return [][]byte{mend.UTF8(nil, raw)}
	}
}

// byteFallback makes text of runs of <0xNN>, or a U+FFFD of every byte of a run
// that is not UTF-8.
func byteFallback(tokens [][]byte) [][]byte {
	var out [][]byte
	var run []byte
	flush := func() {
		switch {
		case len(run) == 0:
		case utf8.Valid(run):
			out = append(out, run)
		default:
			for range run {
				out = append(out, []byte("\uFFFD"))
			}
		}
		run = nil
	}
	for _, t := range tokens {
		if b, ok := fallbackByte(t); ok {
			run = append(run, b)
			continue
		}
		flush()
		out = append(out, t)
	}
	flush()
	return out
}

// fallbackByte is the byte of <0xNN>. As in the reference's parser of numbers,
// the first digit may be a plus.
func fallbackByte(t []byte) (byte, bool) {
	if len(t) != 6 || string(t[:3]) != "<0x" || t[5] != '>' {
		return 0, false
	}
	high, first := hexDigit(t[3])
	low, second := hexDigit(t[4])
	return high<<4 | low, (first || t[3] == '+') && second
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// strip takes up to Start characters Content from a token's front and up to
// Stop from its end.
func (s *decoderSpec) strip(_ int, token []byte) []byte {
	for range s.Start {
		cut, ok := bytes.CutPrefix(token, []byte(s.Content))
		if !ok {
			break
		}
		token = cut
	}
	for range s.Stop {
		cut, ok := bytes.CutSuffix(token, []byte(s.Content))
		if !ok {
			break
		}
		token = cut
	}
	return token
}

func (s *decoderSpec) metaspace(i int, token []byte) []byte {
	by := []byte(" ")
	never := s.PrependScheme == "never" || s.AddPrefixSpace != nil && !*s.AddPrefixSpace
	if i == 0 && !never {
		by = nil
	}
	return bytes.ReplaceAll(token, []byte(s.Replacement), by)
}

func (s *decoderSpec) wordPiece(i int, token []byte) []byte {
	if i > 0 {
		if rest, ok := bytes.CutPrefix(token, []byte(s.Prefix)); ok {
			token = rest
		} else {
			token = append([]byte(" "), token...)
		}
	}
	if s.Cleanup {
		token = cleanUp(token)
	}
	return token
}

// cleanUp takes out spaces before punctuation and in English contractions.
func cleanUp(text []byte) []byte {
	for _, r := range [...][2]string{{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"}} {
		text = bytes.ReplaceAll(text, []byte(r[0]), []byte(r[1]))
	}
	return text
}

// words turns the suffix of every token into a space, that of the last into
// nothing.
func (s *decoderSpec) words(tokens [][]byte) [][]byte {
	for i, t := range tokens {
		by := []byte(" ")
		if i == len(tokens)-1 {
			by = nil
		}
		tokens[i] = bytes.ReplaceAll(t, []byte(s.Suffix), by)
	}
	return tokens
}

func (s *decoderSpec) ctc(tokens [][]byte) [][]byte {
	var out [][]byte
	for i, t := range tokens {
		if i > 0 && bytes.Equal(t, tokens[i-1]) {
			continue
		}
		t = bytes.ReplaceAll(t, []byte(s.PadToken), nil)
		if s.Cleanup {
			t = bytes.ReplaceAll(cleanUp(t), []byte(s.WordDelimiterToken), []byte(" "))
		}
		if len(t) > 0 {
			out = append(out, t)
		}
	}
	return out
}
