package recipe

import (
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/scale"
)

// same says whether two recipes say the same, wherever they came from.
func same(a, b *Recipe) bool {
	x, y := *a, *b
	x.source, y.source = nil, nil
	return reflect.DeepEqual(x, y)
}

// words are texts that YAML might take for something else.
var words = []string{"a", "f*", "*", "*x", "&x", "!x", "@x", "`x", "%x", "- x", "-", "--- ", "---", "...", "x: y", "x:", ":x", "x #y", "#x", "[x", "{x}", "a,b", "null", "~",
	"Null", "true", "No", "y", "1", "1.5", "0x1F", "0o7", ".5", "-1", "+1", "1e3", ".inf", ".NaN", "1_000", "2024-01-01", "12:30:45", "<<", "=", "?", "? x", "|", ">", "'", "\"",
	"it's", `back\slash`, "tab\t", "line\nline", "\n", "cr\r", " lead", "trail ", "é", "größe", "日本", "\u2028", "\u0085", "\u00a0", "\ufeff", "😀", "\x7f", "\x01", "\x00", strings.Repeat("long ", 60)}

func random(rnd *rand.Rand) *Recipe {
	word := func() string { return words[rnd.IntN(len(words))] }
	some := func() (out []string) {
		for range rnd.IntN(4) {
			out = append(out, word())
		}
		return out
	}
	pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
	r := &Recipe{
		Memory: pick("", "512MiB", "50%", "1.5 GB", "7"), Threads: rnd.IntN(3), Seed: rnd.Uint64() >> rnd.IntN(64), Label: pick("", word()), Keep: some(), FitFrom: pick("", word()),
		Read: Read{
			Paths: append(some(), word()), Format: pick("", word()), Columns: some(), Schema: pick("", word()), Sample: pick("", "all", "4MiB"),
			Field: pick("", word()), Delimiter: pick("", "tab", ";", "#", " ", "'", "0", "\t"), NoHeader: rnd.IntN(2) == 0, Nulls: append(some(), pick("", "x"))[:rnd.IntN(2)],
			WholeFiles: rnd.IntN(2) == 0, BatchSize: rnd.IntN(5), OnError: pick("", "skip"),
		},
		Write: Write{Path: word(), Codec: pick("", "none", "zstd:3"), RowGroup: Size(rnd.Int64N(1 << 40)), PartSize: Size(rnd.Int64N(3) << 20), Npy: rnd.IntN(2) == 0, Dtype: pick("", "float32")},
	}
	switch rnd.IntN(6) {
	case 0:
		r.Split.By = []string{"a", word() + "2"}
	case 1:
		r.Split.Range.Column, r.Split.Range.Bounds = word(), []string{word(), "2024-01-01"}
	case 2:
		r.Split.Names, r.Split.Column = []string{"0", "true", "null", "1e3"}, word()
	case 3:
		r.Split.FromDirs = true
	case 4:
		r.Split.Stratify, r.Split.Names, r.Split.Weights = word(), []string{"x", "1.5"}, []int{rnd.IntN(1e9) + 1, 7}
	}
	for _, k := range kinds() {
		if rnd.IntN(2) == 0 {
			continue
		}
		s := Stage{Name: k.name}
		for _, i := range rnd.Perm(len(words))[:rnd.IntN(3)+1] {
			do := k.words[rnd.IntN(len(k.words))]
			if name, _, ok := strings.Cut(do, ":"); ok {
				do = name + ":" + word()
			}
			s.Rules = append(s.Rules, scale.Rule{Column: words[i], Do: do})
		}
		if k.name == "encode" {
			s.MaxCategories, s.Other = rnd.IntN(3), rnd.IntN(2) == 0
		}
		r.Stages = append(r.Stages, s)
	}
	return r
}

func TestPrintedRecipesParseToTheSame(t *testing.T) {
	for seed := range uint64(3000) {
		r := random(rand.New(rand.NewPCG(seed, 1)))
		if err := r.Validate(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		text := Print(r)
		back, err := Parse(text, "printed")
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, text)
		}
		if !same(r, back) {
			t.Fatalf("seed %d:\n%s\nbecame\n%s\n%+v\n%+v", seed, text, Print(back), r, back)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("read: {paths: data/}\n"))
	f.Add([]byte("memory: 1GiB\nread:\n  paths: [a, 'b', \"c\"]\nsplit:\n  into: {train: 0.5, test: .5}\nstages:\n  - scale: {\"*\": standard}\nwrite:\n  path: x\n"))
	f.Add([]byte("read: &x\n  <<: *x\n  paths: |\n    a\n"))
	for _, file := range []string{"testdata/errors.txt", "testdata/print.txt"} {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		for one := range strings.SplitSeq(string(data), "\n\n\n") {
			text, _, _ := strings.Cut(one, "----")
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data, "r.yaml")
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || !errors.Is(err, format.ErrUsage) || e.Line < 1 || e.Column < 1 || e.Excerpt == "" {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		text := Print(r)
		back, err := Parse(text, "printed")
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if !same(r, back) {
			t.Fatalf("%s\nbecame\n%s\n%+v\n%+v", text, Print(back), r, back)
		}
	})
}
