package tokenizer

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"unicode/utf8"
)

// golden is a tokenizer and what the library does with it.
type golden struct {
	Tokenizer json.RawMessage `json:"tokenizer"`
	Size      int             `json:"size"`
	Cases     []struct {
		Text    string   `json:"text"`
		IDs     []uint32 `json:"ids"`
		Framed  []uint32 `json:"framed"`
		Starts  []int    `json:"starts"`
		Decoded string   `json:"decoded"`
		Skipped string   `json:"skipped"`
	} `json:"cases"`
}

func readGolden(t testing.TB, path string) (golden, *Tokenizer) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var g golden
	if err := json.Unmarshal(data, &g); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(g.Tokenizer)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return g, loaded
}

func goldens(t testing.TB) []string {
	paths, err := filepath.Glob("testdata/*.json")
	if err != nil || len(paths) == 0 {
		t.Fatal("no golden files")
	}
	return paths
}

func TestIDsAreThoseOfTheLibrary(t *testing.T) {
	for _, path := range goldens(t) {
		g, loaded := readGolden(t, path)
		if loaded.Size() != g.Size {
			t.Errorf("%s: %d tokens, want %d", path, loaded.Size(), g.Size)
		}
		for _, cache := range []int{0, 64, 1 << 16} {
			e := loaded.NewEncoder(cache)
			for _, c := range slices.Concat(g.Cases, g.Cases) {
				if got := e.Encode(nil, []byte(c.Text), EncodeOptions{}); !slices.Equal(got, c.IDs) {
					t.Fatalf("%s: cache of %d: %q: %v, want %v", path, cache, c.Text, got, c.IDs)
				}
				got := e.Encode([]uint32{7}, []byte(c.Text), EncodeOptions{AddSpecial: true})
				if !slices.Equal(got[1:], c.Framed) || got[0] != 7 {
					t.Fatalf("%s: %q with special tokens: %v, want %v", path, c.Text, got[1:], c.Framed)
				}
			}
		}
	}
}

func TestDecodedTextIsThatOfTheLibrary(t *testing.T) {
	for _, path := range goldens(t) {
		g, loaded := readGolden(t, path)
		for _, c := range g.Cases {
			if got := string(loaded.Decode(c.Framed, false)); got != c.Decoded {
				t.Errorf("%s: %v: %q, want %q", path, c.Framed, got, c.Decoded)
			}
			if got := string(loaded.Decode(c.Framed, true)); got != c.Skipped {
				t.Errorf("%s: %v without special tokens: %q, want %q", path, c.Framed, got, c.Skipped)
			}
		}
	}
}

// TestTokensBeginWhereTheLibrarySaysTheyDo leaves out what EncodeSpans leaves
// open: inserted and unknown text, composed characters, and tokens that begin
// inside a character, of which the library tells the character.
func TestTokensBeginWhereTheLibrarySaysTheyDo(t *testing.T) {
	for _, name := range []string{"byte_level", "fallback"} {
		g, loaded := readGolden(t, "testdata/"+name+".json")
		e := loaded.NewEncoder(1 << 16)
		for _, c := range g.Cases {
			ids, starts := e.EncodeSpans(nil, nil, []byte(c.Text), EncodeOptions{})
			if !slices.Equal(ids, c.IDs) || len(starts) != len(ids) {
				t.Fatalf("%s: %q: %v at %v, want %v", name, c.Text, ids, starts, c.IDs)
			}
			for i, at := range starts {
				if at != c.Starts[i] && !inside(c.Text, c.Starts[i], at) {
					t.Errorf("%s: %q: token %d of %v begins at %d, want %d", name, c.Text, i, ids, at, c.Starts[i])
				}
			}
		}
	}
}

// inside says that at lies in the character of text that begins at start.
func inside(text string, start, at int) bool {
	_, n := utf8.DecodeRuneInString(text[start:])
	return at > start && at < start+n
}
