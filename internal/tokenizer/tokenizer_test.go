package tokenizer

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/mend"
)

func TestWhatCannotBeDoneIsRefusedByName(t *testing.T) {
	model := `"model":{"type":"BPE","vocab":{"a":0,"b":1},"merges":[]}`
	for text, name := range map[string]string{
		`{` + model + `,"padding":{"strategy":{"Fixed":8}}}`:                                 "padding",
		`{` + model + `,"version":"2.0"}`:                                                    "version",
		`{` + model + `,"decoder":{"type":"Novel"}}`:                                         "Novel",
		`{` + model + `,"post_processor":{"type":"Novel"}}`:                                  "Novel",
		`{` + model + `,"normalizer":{"type":"Novel"}}`:                                      "Novel",
		`{` + model + `,"pre_tokenizer":{"type":"Novel"}}`:                                   "Novel",
		`{` + model + `,"truncation":{"max_length":8,"strategy":"OnlySecond"}}`:              "OnlySecond",
		`{` + model + `,"truncation":{"max_length":8,"stride":8}}`:                           "stride",
		`{"model":{"type":"Novel"}}`:                                                         "Novel",
		`{"model":{"type":"BPE","dropout":0.5,"vocab":{},"merges":[]}}`:                      "dropout",
		`{` + model + `,"post_processor":{"type":"TemplateProcessing","single":[]}}`:         "TemplateProcessing",
		`{` + model + `,"decoder":{"type":"Replace","pattern":{"Regex":"a+"},"content":""}}`: "Replace",
		`{` + model + `,"added_tokens":[{"content":"A","normalized":true},{"content":"a","normalized":true}],"normalizer":{"type":"Lowercase"}}`: "added_tokens",
	} {
		_, err := Load([]byte(text))
		if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "{", `{"model":{"type":3}}`, `{` + model + `,"added_tokens":[3]}`} {
		if _, err := Load([]byte(text)); !errors.Is(err, format.ErrData) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestLoadedTokenizerStaysInsideItsCost(t *testing.T) {
	for _, path := range goldens(t) {
		g, loaded := readGolden(t, path)
		if held, told := loaded.Bytes(), Cost(len(g.Tokenizer)); held > told {
			t.Errorf("%s: %d bytes are held, %d were told", path, held, told)
		}
	}
}

func TestTrieFindsTheLongestOfTheFirst(t *testing.T) {
	in := newTrie()
	for i, text := range []string{"<a>", "<a>b", "bc", "<"} {
		if !in.add([]byte(text), int32(i)) {
			t.Fatalf("%q was there", text)
		}
	}
	if in.add([]byte("bc"), 9) {
		t.Error("bc was entered twice")
	}
	text := []byte("x<a>bc<bbc")
	var got []int32
	for at := 0; ; {
		_, end, value := in.find(text, at)
		if value < 0 {
			break
		}
		got, at = append(got, value), end
	}
	if want := []int32{1, 3, 2}; !slices.Equal(got, want) {
		t.Errorf("found %v, want %v", got, want)
	}
}

func FuzzEncode(f *testing.F) {
	var all []*Tokenizer
	for _, path := range goldens(f) {
		g, loaded := readGolden(f, path)
		all = append(all, loaded)
		for _, c := range g.Cases[:20] {
			f.Add([]byte(c.Text))
		}
	}
	_, plain := readGolden(f, "testdata/byte_level.json")
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, loaded := range all {
			e := loaded.NewEncoder(1 << 10)
			ids := e.Encode(nil, text, EncodeOptions{AddSpecial: true})
			again, starts := e.EncodeSpans(nil, nil, text, EncodeOptions{AddSpecial: true})
			if !slices.Equal(ids, again) || len(starts) != len(ids) {
				t.Fatalf("%q: %v and %v at %v", text, ids, again, starts)
			}
			loaded.Decode(ids, true)
		}
		// Tokens that take spaces with them do not give them back.
		if bytes.Contains(text, []byte("<mask>")) || bytes.Contains(text, []byte("<sep>")) {
			return
		}
		ids := plain.NewEncoder(0).Encode(nil, text, EncodeOptions{})
		want := text
		if !utf8.Valid(text) {
			want = mend.UTF8(nil, text)
		}
		if got := plain.Decode(ids, false); !bytes.Equal(got, want) {
			t.Fatalf("%q came back as %q", want, got)
		}
	})
}
