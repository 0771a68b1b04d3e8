package wordpiece

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// golden is a model and the ids that the reference gives words.
type golden struct {
	Model json.RawMessage
	Texts []struct {
		Text string
		IDs  []uint32
	}
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

func TestIdsAreThoseOfTheReference(t *testing.T) {
	for i, g := range readGolden(t) {
		m, err := Parse(document.Value(g.Model))
		if err != nil {
			t.Fatal(err)
		}
		e := m.NewEncoder()
		for _, text := range g.Texts {
			if got := e.Encode([]byte(text.Text), nil); !slices.Equal(got, text.IDs) {
				t.Errorf("model %d: %+q became %v, want %v", i, text.Text, got, text.IDs)
			}
		}
	}
}

func TestModelsThatMakeNoSenseAreRefused(t *testing.T) {
	for spec, kind := range map[string]error{
		`{"type":"WordLevel","vocab":{"a":0},"unk_token":"b"}`:                                                              format.ErrUsage,
		`{"type":"WordLevel","vocab":{"a":-1},"unk_token":"a"}`:                                                             format.ErrData,
		`{"type":"WordLevel","vocab":[],"unk_token":"a"}`:                                                                   format.ErrData,
		`{"type":"WordLevel","vocab":{"a":0}}`:                                                                              format.ErrData,
		`{"type":"WordPiece","vocab":{"a":0},"unk_token":"a","max_input_chars_per_word":1}`:                                 format.ErrData,
		`{"type":"WordPiece","vocab":{"a":0},"unk_token":"a","continuing_subword_prefix":"","max_input_chars_per_word":-1}`: format.ErrData,
	} {
		if _, err := Parse(document.Value(spec)); !errors.Is(err, kind) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

func TestOfATokenThatIsThereTwiceTheLastCounts(t *testing.T) {
	m, err := Parse(document.Value(`{"type":"WordLevel","vocab":{"a":1,"b":2,"a":3},"unk_token":"a"}`))
	if err != nil {
		t.Fatal(err)
	}
	id, _ := m.ID("a")
	text, ok := m.AppendToken(nil, 3)
	if _, there := m.AppendToken(nil, 1); id != 3 || !ok || string(text) != "a" || there || m.Size() != 2 {
		t.Error(id, ok, string(text), there, m.Size())
	}
}

// FuzzEncode compares the ids with those of a plain search over a map.
func FuzzEncode(f *testing.F) {
	var models []*Model
	var specs []map[string]any
	for _, g := range readGolden(f)[:3] {
		m, err := Parse(document.Value(g.Model))
		if err != nil {
			f.Fatal(err)
		}
		var spec map[string]any
		if err := json.Unmarshal(g.Model, &spec); err != nil {
			f.Fatal(err)
		}
		models, specs = append(models, m), append(specs, spec)
	}
	f.Add("abac é中")
	f.Fuzz(func(t *testing.T, text string) {
		for i, m := range models {
			got := m.NewEncoder().Encode([]byte(text), nil)
			if want := plain(specs[i], text); utf8.ValidString(text) && !slices.Equal(got, want) {
				t.Fatalf("model %d: %q became %v, want %v", i, text, got, want)
			}
		}
	})
}

func plain(spec map[string]any, text string) []uint32 {
	vocabulary := spec["vocab"].(map[string]any)
	unknown := []uint32{uint32(vocabulary[spec["unk_token"].(string)].(float64))}
	if float64(utf8.RuneCountInString(text)) > spec["max_input_chars_per_word"].(float64) {
		return unknown
	}
	var ids []uint32
	for prefix := ""; text != ""; prefix = spec["continuing_subword_prefix"].(string) {
		end := len(text)
		for ; end > 0; end-- {
			if id, ok := vocabulary[prefix+text[:end]]; ok {
				ids = append(ids, uint32(id.(float64)))
				break
			}
		}
		if end == 0 {
			return unknown
		}
		text = text[end:]
	}
	return ids
}
