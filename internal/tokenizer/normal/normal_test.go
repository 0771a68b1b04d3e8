package normal

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
)

// golden is what the reference makes of texts: for every normalizer, a list of texts and results.
type golden struct {
	Spec  json.RawMessage
	Texts [][2]string
}

func readGolden(t testing.TB) []golden {
	t.Helper()
	data, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []golden
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	return all
}

func TestTextsBecomeWhatTheReferenceMakesOfThem(t *testing.T) {
	for _, g := range readGolden(t) {
		n, err := Parse(g.Spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range g.Texts {
			got := n.Normalize([]byte("kept"), []byte(text[0]))
			if string(got) != "kept"+text[1] {
				t.Errorf("%.60s: %+q became %+q, want %+q", g.Spec, text[0], got[4:], text[1])
			}
			if n.Unchanged([]byte(text[0])) && text[0] != text[1] {
				t.Errorf("%.60s: %+q is said to be unchanged, and becomes %+q", g.Spec, text[0], text[1])
			}
		}
	}
}

func TestLongRunsOfMarksAreOrderedWhole(t *testing.T) {
	n := newForm(load(), false, true)
	got := n.Normalize(nil, []byte("a"+strings.Repeat("\u0301\u0316", 500)))
	want := "a" + strings.Repeat("\u0316", 500) + strings.Repeat("\u0301", 500)
	if want = strings.Replace(want, "a", "", 1); string(got) != "á"+strings.Replace(want, "\u0301", "", 1) {
		t.Errorf("%d bytes, beginning with %+q", len(got), got[:20])
	}
}

func TestNullIsNoNormalizer(t *testing.T) {
	if n, err := Parse(json.RawMessage("null")); n != nil || err != nil {
		t.Error(n, err)
	}
}

func TestWhatCannotBeDoneIsRefusedByName(t *testing.T) {
	for spec, want := range map[string]string{
		`{"type":"Unknown"}`: `normalizer: Unknown: a normalizer of this type is not known here`,
		`{"type":"Replace","pattern":{"String":""},"content":"x"}`:                                                          `normalizer: Replace: the pattern is empty`,
		`{"type":"Sequence","normalizers":[{"type":"Prepend","prepend":""},{"type":"NFC"}]}`:                                `normalizer: Sequence: Prepend of nothing with another normalizer behind it: the reference fails on such text`,
		`{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"Regex":"^"},"content":"x"},{"type":"Lowercase"}]}`: `normalizer: Sequence: Replace of nothing by the pattern "^" with another normalizer behind it: the reference fails on such text`,
	} {
		if _, err := Parse(json.RawMessage(spec)); err == nil || err.Error() != want || !errors.Is(err, format.ErrUsage) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestDamagedNormalizersAreDataErrors(t *testing.T) {
	for _, spec := range []string{`{"type":"Strip"}`, `{"type":"Prepend"}`, `[]`, `{"type":"Sequence"}`, `{"type":"Replace"}`,
		`{"type":"BertNormalizer"}`, `{"type":"Precompiled"}`, `{"type":"Precompiled","precompiled_charsmap":"AAAA"}`,
		`{"type":"Precompiled","precompiled_charsmap":"/////w=="}`, `{"type":"Sequence","normalizers":[null]}`,
		`{"type":"Precompiled","precompiled_charsmap":"BAAAAP////8="}`} {
		if _, err := Parse(json.RawMessage(spec)); !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// FuzzNormalize holds that any bytes become something, that valid text stays valid, that Unchanged tells the truth, and
// that the beginning of a text is part of it.
func FuzzNormalize(f *testing.F) {
	var all []Normalizer
	for _, g := range readGolden(f) {
		n, err := Parse(g.Spec)
		if err != nil {
			f.Fatal(err)
		}
		all = append(all, n)
		f.Add([]byte(g.Texts[0][0]))
	}
	f.Add([]byte("\xff\xc3a\u0301\xe1\x84"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for i, n := range all {
			got := n.Normalize(nil, text)
			if utf8.Valid(text) && !utf8.Valid(got) {
				t.Fatalf("normalizer %d: %+q became %+q", i, text, got)
			}
			if n.Unchanged(text) && string(got) != string(text) {
				t.Fatalf("normalizer %d: %+q is said to be unchanged, and becomes %+q", i, text, got)
			}
			if lead := Lead(n, text); utf8.Valid(text) && len(text) < leadWindow && (lead < 0 || lead > len(got)) {
				t.Fatalf("normalizer %d: %+q becomes %d bytes, of which %d are its beginning", i, text, len(got), lead)
			}
		}
	})
}

// FuzzCharsmap holds that a damaged table is refused or does no harm.
func FuzzCharsmap(f *testing.F) {
	f.Add([]byte("\x04\x00\x00\x00\x00\x00\x00\x00"), []byte("text"))
	f.Fuzz(func(t *testing.T, blob, text []byte) {
		spec, err := json.Marshal(map[string]any{"type": "Precompiled", "precompiled_charsmap": blob})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := Parse(spec); err == nil {
			n.Normalize(nil, text)
		}
	})
}
