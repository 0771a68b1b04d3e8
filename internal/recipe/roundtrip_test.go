package recipe

import (
	"errors"
	"math"
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

// draw picks what recipes hold.
type draw struct{ *rand.Rand }

func (d draw) word() string             { return words[d.IntN(len(words))] }
func (d draw) pick(of ...string) string { return of[d.IntN(len(of))] }
func (d draw) coin() bool               { return d.IntN(2) == 0 }
func (d draw) some() (out []string) {
	for range d.IntN(4) {
		out = append(out, d.word())
	}
	return out
}

// common is what recipes of tables and of a corpus have in common.
func (d draw) common() *Recipe {
	return &Recipe{
		Memory: d.pick("", "512MiB", "50%", "1.5 GB", "7"), Threads: d.IntN(3), Seed: d.Uint64() >> d.IntN(64),
		Read: Read{
			Paths: append(d.some(), d.word()), Format: d.pick("", d.word()), Columns: d.some(), Schema: d.pick("", d.word()), Sample: d.pick("", "all", "4MiB"),
			Field: d.pick("", d.word()), Delimiter: d.pick("", "tab", ";", "#", " ", "'", "0", "\t"), NoHeader: d.coin(), Nulls: append(d.some(), d.pick("", "x"))[:d.IntN(2)],
			WholeFiles: d.coin(), BatchSize: d.IntN(5), OnError: d.pick("", "skip"),
		},
		Write: Write{Path: d.word(), Codec: d.pick("", "none", "zstd:3"), RowGroup: Size(d.Int64N(1 << 40)), PartSize: Size(d.Int64N(3) << 20)},
	}
}

func (d draw) table() *Recipe {
	r := d.common()
	r.Label, r.Keep, r.FitFrom = d.pick("", d.word()), d.some(), d.pick("", d.word())
	r.Write.Npy, r.Write.Dtype = d.coin(), d.pick("", "float32")
	switch d.IntN(6) {
	case 0:
		r.Split.By = []string{"a", d.word() + "2"}
	case 1:
		r.Split.Range.Column, r.Split.Range.Bounds = d.word(), []string{d.word(), "2024-01-01"}
	case 2:
		r.Split.Names, r.Split.Column = []string{"0", "true", "null", "1e3"}, d.word()
	case 3:
		r.Split.FromDirs = true
	case 4:
		r.Split.Stratify, r.Split.Names, r.Split.Weights = d.word(), []string{"x", "1.5"}, []int{d.IntN(1e9) + 1, 7}
	}
	for _, k := range kinds()[:3] {
		if d.coin() {
			continue
		}
		s := Stage{Name: k.name}
		for _, i := range d.Perm(len(words))[:d.IntN(3)+1] {
			do := k.words[d.IntN(len(k.words))]
			if name, _, ok := strings.Cut(do, ":"); ok {
				do = name + ":" + d.word()
			}
			s.Rules = append(s.Rules, scale.Rule{Column: words[i], Do: do})
		}
		if k.name == "encode" {
			s.MaxCategories, s.Other = d.IntN(3), d.coin()
		}
		r.Stages = append(r.Stages, s)
	}
	return r
}

func (d draw) corpus() *Recipe {
	r := d.common()
	r.ScratchCodec = d.pick("", "none", "zstd")
	r.Scratch, r.Write.Format = d.pick("", d.word()), d.pick("", "arrow", "mds")
	dedup := &Dedup{By: d.some(), Normalize: d.coin(), Against: d.some(), SaveHashes: d.pick("", d.word())}
	if d.coin() {
		dedup = &Dedup{By: dedup.By}
		dedup.Near, dedup.Ngram, dedup.Unit, dedup.Check = math.Nextafter(d.Float64()*math.Pow(10, -float64(d.IntN(300))), 1), d.IntN(9), d.pick("", "byte"), d.coin()
		dedup.Exact = !dedup.Check && d.coin()
	}
	tokens := &Tokenize{Tokenizer: d.word(), Mask: d.pick("", "none"), AddEOS: d.coin(), AddSpecial: d.coin(), MaxLength: d.IntN(9), Keep: d.some()}
	switch d.IntN(4) {
	case 0:
		tokens.Text = d.word()
	case 1:
		tokens.Alpaca, tokens.Mask = true, d.pick("", "assistant", "none")
	case 2:
		tokens.Chat, tokens.Tools, tokens.Mask = d.word(), d.pick("", d.word()), d.pick("", "assistant", "none")
		tokens.Template, tokens.TemplateName = d.pick("", d.word()), d.pick("", d.word())
	}
	all := []Stage{
		{Name: "dedup", Dedup: dedup},
		{Name: "tokenize", Tokenize: tokens},
		{Name: "pack", Pack: &Pack{Length: d.IntN(1<<24) + 1, Method: d.pick("", "first-fit", "concat"), Long: d.pick("", "truncate", "drop"), Pad: d.IntN(1 << 31)}},
		{Name: "shuffle", Shuffle: &Shuffle{}},
	}
	must := d.IntN(len(all))
	for i, s := range all {
		if i == must || d.coin() {
			r.Stages = append(r.Stages, s)
		}
	}
	return r
}

func random(rnd *rand.Rand) *Recipe {
	d := draw{rnd}
	if d.coin() {
		return d.corpus()
	}
	return d.table()
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
