package unigram

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// golden is a model and the ids that the reference gives texts.
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

func parse(t testing.TB, spec string) *Model {
	t.Helper()
	m, err := Parse(document.Value(spec))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestIdsAreThoseOfTheReference(t *testing.T) {
	for i, g := range readGolden(t) {
		e := parse(t, string(g.Model)).NewEncoder()
		for _, text := range g.Texts {
			if got := e.Encode([]byte(text.Text), nil); !slices.Equal(got, text.IDs) {
				t.Errorf("model %d: %+q became %v, want %v", i, text.Text, got, text.IDs)
			}
		}
	}
}

func TestScoresAreReadAsTheReferenceReadsThem(t *testing.T) {
	for text, want := range map[string]float64{
		"-3": -3, "0": 0, "-1E3": -1000, "-13.37e1": -133.7, "1e22": 1e22, "1.5e-320": 1.5e-320, "-1e-400": 0, "0e999999999999": 0,
		"-0.1234567890123456789012e-5": -1.2345678901234565e-06, // the nearest float ends in 68
		"-12345678901234567890123.25":  -1.2345678901234568e+22,
	} {
		if got, ok := score([]byte(text)); !ok || got != want {
			t.Errorf("%s is %v, %v, want %v", text, got, ok, want)
		}
	}
	for _, text := range []string{"1e309", "-1e999999999999", "1" + strings.Repeat("0", 400)} {
		if got, ok := score([]byte(text)); ok {
			t.Errorf("%s is %v", text, got)
		}
	}
}

func TestTextBeyondAWindowIsCutAsAWhole(t *testing.T) {
	m := parse(t, `{"vocab":[["<unk>",0],["a",-1],["aa",-1.5],["b",-2],["ab",-2.5]],"unk_id":0}`)
	e := m.NewEncoder()
	text := strings.Repeat("aab", window) + strings.Repeat("x", window+5) + strings.Repeat("b", 3)
	got := e.Encode([]byte(text), nil)
	want := slices.Repeat([]uint32{1, 4}, window)
	want = append(want, 0, 3, 3, 3)
	if !slices.Equal(got, want) {
		t.Fatalf("%d ids, want %d; the last are %v", len(got), len(want), got[len(got)-8:])
	}
	if e.Bytes() > 21*window {
		t.Errorf("the encoder holds %d bytes", e.Bytes())
	}
}

func TestModelsThatMakeNoSenseAreRefused(t *testing.T) {
	for spec, kind := range map[string]error{
		`{"vocab":[["a",0]]}`:                                format.ErrUsage,
		`{"vocab":[["a",0]],"unk_id":1}`:                     format.ErrData,
		`{"vocab":[],"unk_id":0}`:                            format.ErrData,
		`{"unk_id":0}`:                                       format.ErrData,
		`{"vocab":[["a"]],"unk_id":0}`:                       format.ErrData,
		`{"vocab":[["a","b"]],"unk_id":0}`:                   format.ErrData,
		`{"vocab":[["a",1e999]],"unk_id":0}`:                 format.ErrData,
		`{"vocab":[["a",0]],"unk_id":0,"byte_fallback":"x"}`: format.ErrData,
	} {
		if _, err := Parse(document.Value(spec)); !errors.Is(err, kind) {
			t.Errorf("%s: %v", spec, err)
		}
	}
}

// FuzzEncode compares the ids with those of a plain search over a map.
func FuzzEncode(f *testing.F) {
	var models []*Model
	for _, g := range readGolden(f) {
		models = append(models, parse(f, string(g.Model)))
	}
	f.Add([]byte("abac é中 \xff\xc3"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for i, m := range models {
			got, want := m.NewEncoder().Encode(text, nil), plain(m, text)
			if !slices.Equal(got, want) {
				t.Fatalf("model %d: %q became %v, want %v", i, text, got, want)
			}
		}
	})
}

func plain(m *Model, text []byte) []uint32 {
	vocabulary := map[string]uint32{}
	for id := range m.Size() {
		vocabulary[string(m.text(id))] = uint32(id)
	}
	best, from, last := make([]float64, len(text)+1), make([]int, len(text)+1), make([]uint32, len(text)+1)
	for i := range best {
		best[i] = math.Inf(-1)
	}
	best[0] = 0
	try := func(begin, end int, id uint32, score float64) {
		if s := best[begin] + score; s > best[end] {
			best[end], from[end], last[end] = s, begin, id
		}
	}
	for at := 0; at < len(text); {
		_, size := utf8.DecodeRune(text[at:])
		for end := at + 1; end <= len(text); end++ {
			if id, ok := vocabulary[string(text[at:end])]; ok {
				try(at, end, id, m.scores[id])
			}
		}
		if _, ok := vocabulary[string(text[at:at+size])]; !ok {
			try(at, at+size, m.unknown, m.penalty)
		}
		at += size
	}
	e := &Encoder{model: m}
	var parts [][]uint32
	for end := len(text); end > 0; {
		begin, id := from[end], last[end]
		if id != m.unknown {
			parts = append(parts, []uint32{id})
			end = begin
			continue
		}
		for begin > 0 && last[begin] == m.unknown {
			begin = from[begin]
		}
		parts = append(parts, e.writeUnknown(text[begin:end], nil))
		end = begin
	}
	slices.Reverse(parts)
	return slices.Concat(parts...)
}
