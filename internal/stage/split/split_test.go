package split_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/stage/split"
)

// table is rows written as JSON objects.
func table(t testing.TB, schema *arrow.Schema, rows ...string) arrow.RecordBatch {
	t.Helper()
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader("["+strings.Join(rows, ",")+"]"))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func columns(pairs ...any) *arrow.Schema {
	var fields []arrow.Field
	for i := 0; i < len(pairs); i += 2 {
		fields = append(fields, arrow.Field{Name: pairs[i].(string), Type: pairs[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

func source(objects ...string) split.Source {
	return split.Source{Paths: []string{"data/"}, Objects: objects}
}

func assigner(t testing.TB, c split.Config, schema *arrow.Schema, src split.Source) *split.Assigner {
	t.Helper()
	a, err := split.New(c, schema, src)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// assign is the splits of a whole object.
func assign(t testing.TB, a *split.Assigner, rec arrow.RecordBatch, object int) []uint8 {
	t.Helper()
	dst := make([]uint8, rec.NumRows())
	if err := a.Assign(dst, rec, object, 0); err != nil {
		t.Fatal(err)
	}
	return dst
}

// empty is a batch of rows without columns, which positions suffice for.
func empty(rows int) arrow.RecordBatch {
	return array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, int64(rows))
}

// people are rows of users with a label that few have.
func people(t testing.TB, rows int) arrow.RecordBatch {
	t.Helper()
	rnd := rand.New(rand.NewPCG(7, 7))
	var text []string
	for range rows {
		text = append(text, fmt.Sprintf(`{"user":%d,"city":"c%d","label":%d,"x":%d}`,
			rnd.IntN(rows/8), rnd.IntN(40), min(3, int(rnd.ExpFloat64())), rnd.IntN(100)))
	}
	schema := columns("user", arrow.PrimitiveTypes.Int64, "city", arrow.BinaryTypes.String,
		"label", arrow.PrimitiveTypes.Int32, "x", arrow.PrimitiveTypes.Float64)
	return table(t, schema, text...)
}

// rules are configurations that decide in every way that needs no special data.
func rules() map[string]split.Config {
	return map[string]split.Config{
		"position": {Seed: 3},
		"two":      {Names: []string{"a", "b"}, Weights: []int{2, 1}},
		"four":     {Names: []string{"a", "b", "c", "d"}, Weights: []int{5, 1, 1, 9}},
		"user":     {By: []string{"user"}, Seed: 1},
		"both":     {By: []string{"city", "user"}},
		"range":    {Range: split.Range{Column: "x", Bounds: []string{"30", "65.5"}}},
		"stratify": {Stratify: "label"},
	}
}

func TestAssignmentsAreWhatTheyWere(t *testing.T) {
	// If this test fails, datasets that exist would be divided differently.
	rec := people(t, 64)
	for name, want := range map[string]string{
		"position": "0001000000020200000000000002200202000200000000100001001000000000",
		"two":      "0000101010000001000110000000100000000000111000011010011000001000",
		"four":     "0300333033030003000333133030330300323003333031033030333220023313",
		"user":     "1000000000000000100000100000100000001000010000000000000010000000",
		"both":     "0002000000000001020100020000000000100010010202200000202000000001",
		"range":    "0011200212202220210100022010010102201201111100100122101200112220",
		"stratify": "0000020001000020102000000000010000001002000010000002200001000000",
	} {
		got := digits(assign(t, assigner(t, rules()[name], rec.Schema(), source("data/part-7.csv")), rec, 0))
		if got != want {
			t.Errorf("%s: got %s, want %s", name, got, want)
		}
	}
}

func digits(splits []uint8) string {
	var b strings.Builder
	for _, s := range splits {
		fmt.Fprint(&b, s)
	}
	return b.String()
}

func TestAssignmentDoesNotKnowBatches(t *testing.T) {
	rec := people(t, 3000)
	for name, c := range rules() {
		want := assign(t, assigner(t, c, rec.Schema(), source("data/a")), rec, 0)
		for seed := range uint64(10) {
			rnd := rand.New(rand.NewPCG(seed, 5))
			a := assigner(t, c, rec.Schema(), source("data/a"))
			got := make([]uint8, rec.NumRows())
			for at := int64(0); at < rec.NumRows(); {
				n := min(rec.NumRows()-at, rnd.Int64N(1<<rnd.IntN(12)+1))
				if err := a.Assign(got[at:at+n], rec.NewSlice(at, at+n), 0, at); err != nil {
					t.Fatal(err)
				}
				at += n
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%s: cut by seed %d: another assignment", name, seed)
			}
		}
	}
}

func TestAppendedRowsMoveNothing(t *testing.T) {
	rec := people(t, 2000)
	for name, c := range rules() {
		src := source("data/m", "data/n")
		before := assigner(t, c, rec.Schema(), src)
		m, n := assign(t, before, rec.NewSlice(0, 700), 0), assign(t, before, rec.NewSlice(700, 1200), 1)

		// Rows behind the last object, and an object after it.
		after := assigner(t, c, rec.Schema(), source("data/m", "data/n", "data/o"))
		if !slices.Equal(assign(t, after, rec.NewSlice(0, 700), 0), m) ||
			!slices.Equal(assign(t, after, rec.NewSlice(700, 1900), 1)[:500], n) {
			t.Errorf("%s: rows moved when others were appended", name)
		}
		if c.Stratify != "" {
			continue // what is appended must come last
		}
		first := assigner(t, c, rec.Schema(), source("data/a", "data/m", "data/n"))
		if !slices.Equal(assign(t, first, rec.NewSlice(700, 1200), 2), n) {
			t.Errorf("%s: rows moved when an object came before them", name)
		}
	}
}

func TestDatasetKeepsItsSplitsElsewhere(t *testing.T) {
	rec := empty(200)
	want := assign(t, assigner(t, split.Config{}, rec.Schema(), source("data/y=1/p.csv")), rec, 0)
	for _, src := range []split.Source{
		{Paths: []string{"/mnt/x/data"}, Objects: []string{"/mnt/x/data/y=1/p.csv"}},
		{Paths: []string{"other/", "s3://b/raw/"}, Objects: []string{"s3://b/raw/y=1/p.csv"}},
		{Paths: []string{"."}, Objects: []string{"./y=1/p.csv"}},
		{Paths: []string{"raw/*/p.csv"}, Objects: []string{"raw/y=1/p.csv"}},
		{Paths: []string{"raw/{y=1,y=2}/*"}, Objects: []string{"raw/y=1/p.csv"}},
		{Paths: []string{"raw[1]/"}, Objects: []string{"raw[1]/y=1/p.csv"}},
		{Paths: []string{`raw\[1]/*/p.csv`}, Objects: []string{"raw[1]/y=1/p.csv"}},
	} {
		if !slices.Equal(assign(t, assigner(t, split.Config{}, rec.Schema(), src), rec, 0), want) {
			t.Errorf("%v: another assignment", src)
		}
	}
	file := split.Source{Paths: []string{"data/y=1/p.csv"}, Objects: []string{"data/y=1/p.csv"}}
	base := split.Source{Paths: []string{"data/y=1/"}, Objects: []string{"data/y=1/p.csv"}}
	if !slices.Equal(assign(t, assigner(t, split.Config{}, rec.Schema(), file), rec, 0),
		assign(t, assigner(t, split.Config{}, rec.Schema(), base), rec, 0)) {
		t.Error("a file that is named is not the one that its directory lists")
	}
	other := assign(t, assigner(t, split.Config{}, rec.Schema(), source("data/y=2/p.csv")), rec, 0)
	if slices.Equal(other, want) {
		t.Error("two objects are divided alike")
	}
}

// within says whether k of n is what chance p gives, to 5 deviations.
func within(k, n int, p float64) bool {
	return math.Abs(float64(k)-float64(n)*p) <= 5*math.Sqrt(float64(n)*p*(1-p))
}

func counts(splits []uint8, names int) []int {
	out := make([]int, names)
	for _, s := range splits {
		out[s]++
	}
	return out
}

func TestProportionsAreTheWeights(t *testing.T) {
	const rows = 300_000
	ids := array.NewInt64Builder(memory.DefaultAllocator)
	for i := range int64(rows) {
		ids.Append(i)
	}
	schema := columns("id", arrow.PrimitiveTypes.Int64)
	rec := array.NewRecordBatch(schema, []arrow.Array{ids.NewArray()}, rows)
	for _, weights := range [][]int{{80, 10, 10}, {1, 1}, {1, 999}, {3, 5, 7, 11, 13}, {1_000_000_000, 1}} {
		var names []string
		total := 0
		for i, w := range weights {
			names, total = append(names, fmt.Sprint("s", i)), total+w
		}
		for _, by := range [][]string{nil, {"id"}} {
			for seed := range uint64(3) {
				c := split.Config{Names: names, Weights: weights, By: by, Seed: seed}
				got := counts(assign(t, assigner(t, c, schema, source("data/a")), rec, 0), len(names))
				for i, w := range weights {
					if !within(got[i], rows, float64(w)/float64(total)) {
						t.Errorf("weights %v by %v seed %d: %v", weights, by, seed, got)
					}
				}
			}
		}
	}
}

func TestSeedsDivideIndependently(t *testing.T) {
	const rows = 200_000
	a := assign(t, assigner(t, split.Config{Seed: 1}, empty(0).Schema(), source("data/a")), empty(rows), 0)
	for name, b := range map[string][]uint8{
		"seed":   assign(t, assigner(t, split.Config{Seed: 2}, empty(0).Schema(), source("data/a")), empty(rows), 0),
		"object": assign(t, assigner(t, split.Config{Seed: 1}, empty(0).Schema(), source("data/b")), empty(rows), 0),
		"row":    append(a[1:], 0),
	} {
		both := 0
		for i := range a {
			if a[i] == 2 && b[i] == 2 {
				both++
			}
		}
		if !within(both, rows, 0.01) {
			t.Errorf("another %s: %d of %d rows are in test twice, want about one in a hundred", name, both, rows)
		}
	}
}

func TestProportionsAloneCount(t *testing.T) {
	rec := empty(1000)
	a := assigner(t, split.Config{Names: []string{"a", "b"}, Weights: []int{80, 20}}, rec.Schema(), source("data/a"))
	b := assigner(t, split.Config{Names: []string{"c", "d"}, Weights: []int{4, 1}}, rec.Schema(), source("data/a"))
	if !slices.Equal(assign(t, a, rec, 0), assign(t, b, rec, 0)) {
		t.Error("80/20 is not 4/1")
	}
}

func TestSplitsCanBeMadeConcurrently(t *testing.T) {
	rec := people(t, 2000)
	for _, name := range []string{"position", "user", "range"} {
		a := assigner(t, rules()[name], rec.Schema(), source("data/a"))
		want := assign(t, a, rec, 0)
		t.Run(name, func(t *testing.T) {
			for i := range 4 {
				t.Run(fmt.Sprint(i), func(t *testing.T) {
					t.Parallel()
					if !slices.Equal(assign(t, a, rec, 0), want) {
						t.Error("another assignment")
					}
				})
			}
		})
	}
}
