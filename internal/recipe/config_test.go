package recipe

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

func parsed(t *testing.T, text string) *Recipe {
	t.Helper()
	r, err := Parse([]byte(text), "recipe.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRecipeBecomesConfigurations(t *testing.T) {
	r := parsed(t, `
seed: 7
label: y
keep: id
read: {paths: [a, b], columns: [c], sample: 1KiB, field: f, delimiter: tab, no_header: true, nulls: [NA], whole_files: true, batch_size: 5}
split: {into: {train: 3, test: 1}, by: u}
stages:
  - impute: {a: mean}
  - scale: {b: robust}
  - encode: {c: onehot}
    max_categories: 9
    other: true
write: {path: out/, codec: gzip, row_group: 1MiB, part_size: 2MiB, dtype: float32}
`)
	for _, c := range []struct{ got, want any }{
		{r.SplitConfig(), split.Config{Names: []string{"train", "test"}, Weights: []int{3, 1}, By: []string{"u"}, Seed: 7}},
		{r.ScaleConfig(), scale.Config{
			Impute: []scale.Rule{{Column: "a", Do: "mean"}}, Scale: []scale.Rule{{Column: "b", Do: "robust"}}, Encode: []scale.Rule{{Column: "c", Do: "onehot"}},
			Label: "y", Keep: []string{"id"}, Dtype: "float32", MaxCategories: 9, Other: true}},
		{r.Read.Options(3), format.Options{Columns: []string{"c"}, BatchRows: 5, Threads: 3, Sample: 1024, Field: "f", Delimiter: '\t', NoHeader: true, Nulls: []string{"NA"}, WholeFiles: true}},
		{r.Write.Options(3), format.WriteOptions{Codec: "gzip", RowGroup: 1 << 20, PartSize: 2 << 20, Threads: 3}},
		{Read{Sample: "all", Delimiter: ";"}.Options(0), format.Options{Sample: -1, Delimiter: ';'}},
	} {
		if !reflect.DeepEqual(c.got, c.want) {
			t.Errorf("got  %+v\nwant %+v", c.got, c.want)
		}
	}
}

func TestScaleKnowsEveryRule(t *testing.T) {
	in := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Float64}, {Name: "t", Type: arrow.BinaryTypes.String}}, nil)
	arguments := strings.NewReplacer("VALUE", "1", "LO:HI", "-1:1", "N", "8")
	for _, k := range kinds() {
		for _, word := range k.words {
			column := map[bool]string{true: "t", false: "n"}[k.name == "encode"]
			r := &Recipe{Stages: []Stage{{Name: k.name, Rules: []scale.Rule{{Column: column, Do: arguments.Replace(word)}}}}}
			if _, err := scale.Plan(in, r.ScaleConfig()); err != nil {
				t.Errorf("%s %s: %v", k.name, word, err)
			}
		}
	}
}

func TestBlameFindsThePlace(t *testing.T) {
	r := parsed(t, "read:\n  paths: data/\nstages:\n  - scale:\n      f*: standard\n")
	err := r.Blame("stages.scale.f*", errors.New("no column matches"))
	var e *Error
	if !errors.As(err, &e) || e.Line != 5 || e.Column != 11 || e.Field != "stages.scale.f*" {
		t.Errorf("got %v", err)
	}
	for _, r := range []*Recipe{r, {}} {
		err := r.Blame("write.codec", errors.New("no"))
		if err.Error() != "write.codec: no" || !errors.Is(err, format.ErrUsage) {
			t.Errorf("got %v", err)
		}
	}
}

func TestValidateHoldsRecipesOfFlags(t *testing.T) {
	good := func() *Recipe { return &Recipe{Read: Read{Paths: []string{"x"}}} }
	if err := good().Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Recipe){
		`read.paths: "paths": it is missing`:                             func(r *Recipe) { r.Read.Paths = nil },
		`read.paths: "paths": a text of it is empty`:                     func(r *Recipe) { r.Read.Paths = []string{""} },
		`read.delimiter: "delimiter": ";;" is not right`:                 func(r *Recipe) { r.Read.Delimiter = ";;" },
		`label: "label": it is not in UTF-8`:                             func(r *Recipe) { r.Label = "\xff" },
		`threads: "threads": -1 is not 1 to 65536`:                       func(r *Recipe) { r.Threads = -1 },
		`write.path: "path": it is missing`:                              func(r *Recipe) { r.Write.Npy = true },
		`write.part_size: "part_size": -5 is not a size`:                 func(r *Recipe) { r.Write.Path, r.Write.PartSize = "x", -5 },
		`split.into: "into": a has no weight`:                            func(r *Recipe) { r.Split.Names = []string{"a"} },
		`split.range.bounds: "bounds": it is missing`:                    func(r *Recipe) { r.Split.Range.Column = "a" },
		`stages: "stages": unknown stage "pca"`:                          func(r *Recipe) { r.Stages = []Stage{{Name: "pca"}} },
		`stages.scale: "scale": no column has a rule`:                    func(r *Recipe) { r.Stages = []Stage{{Name: "scale"}} },
		`stages.scale.a: "a": "big" is not known; use standard, minmax,`: func(r *Recipe) { r.Stages = []Stage{{Name: "scale", Rules: []scale.Rule{{Column: "a", Do: "big"}}}} },
		`stages.pack: "pack": its options are missing`:                   func(r *Recipe) { r.Stages = []Stage{{Name: "pack"}} },
		`stages.pack: "pack": it has no rules for columns`: func(r *Recipe) {
			r.Stages = []Stage{{Name: "pack", Pack: &Pack{Length: 1}, Rules: []scale.Rule{{Column: "a"}}}}
		},
		`stages.pack.length: "length": it is missing: tokens of a row`: func(r *Recipe) { r.Stages = []Stage{{Name: "pack", Pack: &Pack{}}} },
		`stages.dedup: "dedup": its options are missing, or another`:   func(r *Recipe) { r.Stages = []Stage{{Name: "dedup", Dedup: &Dedup{}, Pack: &Pack{Length: 1}}} },
		`stages.dedup.near: "near": NaN is not between 0 and 1`:        func(r *Recipe) { r.Stages = []Stage{{Name: "dedup", Dedup: &Dedup{Near: math.NaN()}}} },
		`stages.tokenize.mask: "mask": "all" is not known; use`: func(r *Recipe) {
			r.Stages = []Stage{{Name: "tokenize", Tokenize: &Tokenize{Tokenizer: "t", Mask: "all"}}}
		},
		`label: "label": it goes with impute, scale or encode, not with shuffle`: func(r *Recipe) { r.Label, r.Stages = "y", []Stage{{Name: "shuffle", Shuffle: &Shuffle{}}} },
		`stages.encode.max_categories: "max_categories": -1 is not`: func(r *Recipe) {
			r.Stages = []Stage{{Name: "encode", Rules: []scale.Rule{{Column: "a", Do: "onehot"}}, MaxCategories: -1}}
		},
	} {
		r := good()
		spoil(r)
		if err := r.Validate(); err == nil || !strings.HasPrefix(err.Error(), want) || !errors.Is(err, format.ErrUsage) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}
