package tokenizer

import (
	"encoding/json"
	"unicode"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
	"github.com/weir-data/weir/internal/tokenizer/normal"
	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// addedToken is a token that is looked for in the text before the model sees it.
type addedToken struct {
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`

	id   uint32
	text string // what it is decoded to: normalized, if it is
}

// added is all of them: those that are looked for in the text as it came, and
// those that are looked for in the normalized text.
type added struct {
	tokens     []addedToken
	byID       map[uint32]int32
	byText     map[string]uint32
	special    map[string]bool
	raw        *trie
	normalized *trie
}

// parseAdded reads "added_tokens". Ids are given as the reference gives them:
// that of the model if it has the token, else the next one behind the model's;
// what the file says of ids counts for nothing.
func parseAdded(spec document.Value, m model, n normal.Normalizer) (*added, error) {
	a := &added{byID: map[uint32]int32{}, byText: map[string]uint32{}, special: map[string]bool{}, raw: newTrie(), normalized: newTrie()}
	next := uint32(m.Size())
	err := spec.Elements(func(value document.Value) error {
		var t addedToken
		if err := json.Unmarshal(value, &t); err != nil {
			return format.Error(format.ErrData, "added_tokens: %w", err)
		}
		if t.Content == "" {
			return nil
		}
		var ok bool
		if t.id, ok = a.byText[t.Content]; !ok {
			if t.id, ok = m.ID(t.Content); !ok {
				t.id = next
				next++
			}
		}
		t.text = t.Content
		if t.Normalized && n != nil {
			t.text = string(n.Normalize(nil, []byte(t.Content)))
		}
		a.put(t)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return a, a.index()
}

// put enters a token; one of the same id makes way.
func (a *added) put(t addedToken) {
	a.byText[t.Content] = t.id
	if t.Special {
		a.special[t.Content] = true
	}
	if at, ok := a.byID[t.id]; ok {
		a.tokens[at] = t
		return
	}
	a.byID[t.id] = int32(len(a.tokens))
	a.tokens = append(a.tokens, t)
}

func (a *added) index() error {
	for i, t := range a.tokens {
		in := a.raw
		if t.Normalized {
			in = a.normalized
		}
		if t.text == "" || !in.add([]byte(t.text), int32(i)) {
			return format.Error(format.ErrUsage, "added_tokens: %q is normalized to %q, which is nothing or another token", t.Content, t.text)
		}
	}
	return nil
}

// each calls part for the text between added tokens and token for every one of
// them, in order; both get where they begin.
func (a *added) each(in *trie, text []byte, part func(text []byte, at int), token func(id uint32, at int)) {
	done := 0
	for at := 0; ; {
		begin, end, value := in.find(text, at)
		if value < 0 {
			break
		}
		at = end
		t := &a.tokens[value]
		if t.SingleWord && (endsWithWord(text[:begin]) || startsWithWord(text[end:])) {
			continue
		}
		if t.LStrip {
			begin = max(done, begin-spacesAtEnd(text[:begin]))
		}
		if t.RStrip {
			end += spacesAtStart(text[end:])
		}
		if done < begin {
			part(text[done:begin], done)
		}
		if begin < end { // else the one before it has taken all of it for white space
			token(t.id, begin)
		}
		done = end
	}
	if done < len(text) {
		part(text[done:], done)
	}
}

func endsWithWord(text []byte) bool {
	r, n := utf8.DecodeLastRune(text)
	return n > 0 && isWord(r)
}

func startsWithWord(text []byte) bool {
	r, n := utf8.DecodeRune(text)
	return n > 0 && isWord(r)
}

// isWord is \w of the reference's regular expressions.
func isWord(r rune) bool { return charset.WordLetters().Has(r) }

func spacesAtEnd(text []byte) int {
	n := len(text)
	for n > 0 {
		r, size := utf8.DecodeLastRune(text[:n])
		if !unicode.Is(unicode.White_Space, r) {
			break
		}
		n -= size
	}
	return len(text) - n
}

func spacesAtStart(text []byte) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRune(text[n:])
		if !unicode.Is(unicode.White_Space, r) {
			break
		}
		n += size
	}
	return n
}
