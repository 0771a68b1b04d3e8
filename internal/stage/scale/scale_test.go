package scale

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// batch makes a batch of columns: []float64, in which NaN of nullBits is null,
// []*string, or a finished array.
func batch(t testing.TB, names []string, cols ...any) arrow.RecordBatch {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for i, c := range cols {
		var a arrow.Array
		switch v := c.(type) {
		case []float64:
			a = floats(v)
		case []*string:
			b := array.NewStringBuilder(memory.DefaultAllocator)
			for _, s := range v {
				if s == nil {
					b.AppendNull()
				} else {
					b.Append(*s)
				}
			}
			a = b.NewArray()
		case arrow.Array:
			a = v
		}
		fields = append(fields, arrow.Field{Name: names[i], Type: a.DataType(), Nullable: true})
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), arrays, int64(arrays[0].Len()))
}

// nullBits is the NaN that tests write for null.
const nullBits = 0x7ff8_0000_dead_beef

var null = math.Float64frombits(nullBits)

func floats(v []float64) arrow.Array {
	b := array.NewFloat64Builder(memory.DefaultAllocator)
	for _, x := range v {
		if math.Float64bits(x) == nullBits {
			b.AppendNull()
		} else {
			b.Append(x)
		}
	}
	return b.NewArray()
}

// plan is Plan that must succeed.
func plan(t testing.TB, s *arrow.Schema, c Config) *Design {
	t.Helper()
	d, err := Plan(s, c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// fitOne fits one batch in the memory of share.
func fitOne(t testing.TB, d *Design, rec arrow.RecordBatch, rows []int32) (*Params, error) {
	t.Helper()
	budget := mem.New(d.Floor(1) + 4<<20)
	f, err := d.NewFit(budget, 1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		f.Close()
		if n := budget.Leased(); n != 0 {
			t.Errorf("%d bytes still leased", n)
		}
	}()
	if err := f.Add(rec, 0, 0, rows); err != nil {
		return nil, err
	}
	return f.Params()
}

// apply transforms one batch and checks that the memory comes back.
func apply(t testing.TB, d *Design, p *Params, rec arrow.RecordBatch, rows []int32, check func(arrow.RecordBatch)) error {
	t.Helper()
	budget := mem.New(64 << 20)
	tr, err := d.NewTransform(p, budget, 2)
	if err != nil {
		t.Fatal(err)
	}
	block, err := budget.Map(t.Context(), tr.Size(rec, rows))
	if err != nil {
		t.Fatal(err)
	}
	out, err := tr.Apply(rec, rows, block)
	tr.Close()
	if err == nil {
		check(out)
		out.Release()
	}
	if n := budget.Leased(); n != 0 {
		t.Errorf("%d bytes still leased", n)
	}
	budget.Trim()
	return err
}

// values is a column of the output.
func values(rec arrow.RecordBatch, i int) []float64 {
	switch a := rec.Column(i).(type) {
	case *array.Float64:
		return a.Float64Values()
	case *array.Float32:
		out := make([]float64, a.Len())
		for i, x := range a.Float32Values() {
			out[i] = float64(x)
		}
		return out
	}
	return nil
}

// near says that got is want to a relative error; NaN is like NaN.
func near(got, want, tolerance float64) bool {
	if math.IsNaN(want) || math.IsNaN(got) {
		return math.IsNaN(want) && math.IsNaN(got)
	}
	return got == want || math.Abs(got-want) <= tolerance*max(math.Abs(want), math.Abs(got))
}

// golden is testdata/sklearn.json: inputs with null for NaN, and what
// scikit-learn 1.9.1 on numpy 2.4.6 makes of each column: the attributes of
// StandardScaler, MinMaxScaler, MaxAbsScaler and RobustScaler, alone and behind
// a SimpleImputer(keep_empty_features=True), what they make of the input, the
// exact mean and sum of squares (with fractions), OneHotEncoder,
// OrdinalEncoder (both with NaN for null), and FeatureHasher(8, input_type="string").
type golden struct {
	Numbers []struct {
		Name   string
		Values []*float64
		Want   map[string]json.RawMessage
	}
	Text struct {
		Values  []*string
		Names   []string
		Onehot  [][]float64
		Ordinal []*float64
		Hash    [][]float64 `json:"hash:8"`
	}
}

type goldenRule struct {
	Fill, Center, Divisor, Factor, Shift *float64
	Out                                  []*float64
}

func readGolden(t *testing.T) *golden {
	t.Helper()
	data, err := os.ReadFile("testdata/sklearn.json")
	if err != nil {
		t.Fatal(err)
	}
	g := new(golden)
	if err := json.Unmarshal(data, g); err != nil {
		t.Fatal(err)
	}
	return g
}

func orNaN(p *float64) float64 {
	if p == nil {
		return math.NaN()
	}
	return *p
}

func orNaNs(v []*float64) []float64 {
	out := make([]float64, len(v))
	for i, p := range v {
		out[i] = orNaN(p)
	}
	return out
}

func TestParametersAndValuesAreThoseOfScikitLearn(t *testing.T) {
	rules := []string{"standard", "minmax", "maxabs", "robust", "log1p", "clip:-0.5:2"}
	for _, im := range []string{"mean", "median", "most_frequent", "constant:-2.5"} {
		for _, s := range []string{"standard", "robust", "minmax"} {
			rules = append(rules, im+"+"+s)
		}
	}
	for _, col := range readGolden(t).Numbers {
		for _, rule := range rules {
			t.Run(col.Name+"/"+rule, func(t *testing.T) {
				var want *goldenRule
				if err := json.Unmarshal(col.Want[rule], &want); err != nil {
					t.Fatal(err)
				}
				if want != nil {
					checkGolden(t, orNaNs(col.Values), rule, want, col.Want)
				}
			})
		}
	}
}

func checkGolden(t *testing.T, in []float64, rule string, want *goldenRule, all map[string]json.RawMessage) {
	for i := range in {
		if math.IsNaN(in[i]) && i%2 == 0 {
			in[i] = null // null is like NaN
		}
	}
	rec := batch(t, []string{"x"}, in)
	var c Config
	if im, s, ok := bytes.Cut([]byte(rule), []byte("+")); ok {
		c.Impute, rule = []Rule{{"x", string(im)}}, string(s)
	}
	c.Scale = []Rule{{"x", rule}}
	d := plan(t, rec.Schema(), c)
	p, err := fitOne(t, d, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	p = roundTrip(t, p)
	got := &p.Columns[0]
	for _, x := range []struct {
		name      string
		got, want *float64
	}{{"fill", got.Fill, want.Fill}, {"center", got.Center, want.Center}, {"divisor", got.Divisor, want.Divisor},
		{"factor", got.Factor, want.Factor}, {"shift", got.Shift, want.Shift}} {
		if !near(orNaN(x.got), orNaN(x.want), 1e-9) {
			t.Errorf("%s %v, want %v", x.name, orNaN(x.got), orNaN(x.want))
		}
	}
	for name, x := range map[string]*float64{"mean": got.Mean, "m2": got.M2} {
		var exact *float64
		if all[name] != nil && json.Unmarshal(all[name], &exact) == nil && !near(orNaN(x), *exact, 1e-12) && *exact > 1e-300 {
			t.Errorf("%s %v, exactly %v", name, orNaN(x), *exact)
		}
	}
	// With scikit-learn's own numbers: an offset of 1e12 makes the last digit
	// of a mean the fourth of a value.
	got.Fill, got.Center, got.Divisor, got.Factor, got.Shift = want.Fill, want.Center, want.Divisor, want.Factor, want.Shift
	for _, dtype := range []string{"float64", "float32"} {
		c.Dtype = dtype
		err := apply(t, plan(t, rec.Schema(), c), p, rec, nil, func(out arrow.RecordBatch) {
			for i, y := range values(out, 0) {
				w, tolerance := orNaN(want.Out[i]), 1e-12
				if dtype == "float32" {
					w, tolerance = float64(float32(w)), 1e-6
				}
				if !near(y, w, tolerance) {
					t.Errorf("%s: row %d: %v, want %v", dtype, i, y, w)
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestEncodersAreThoseOfScikitLearn(t *testing.T) {
	g := readGolden(t).Text
	rec := batch(t, []string{"c"}, g.Values)
	for rule, want := range map[string]func(row int) []float64{
		"onehot":  func(i int) []float64 { return g.Onehot[i] },
		"ordinal": func(i int) []float64 { return []float64{orNaN(g.Ordinal[i])} },
		"hash:8":  func(i int) []float64 { return g.Hash[i] },
	} {
		d := plan(t, rec.Schema(), Config{Encode: []Rule{{"c", rule}}, Dtype: "float32"})
		p, err := fitOne(t, d, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = apply(t, d, p, rec, nil, func(out arrow.RecordBatch) {
			for k, f := range out.Schema().Fields() {
				if rule == "onehot" && f.Name != g.Names[k] {
					t.Errorf("column %q, want %q", f.Name, g.Names[k])
				}
				for i, y := range values(out, k) {
					if w := want(i); len(w) != int(out.NumCols()) || !near(y, w[k], 0) {
						t.Fatalf("%s: row %d, output %d: %v, want %v", rule, i, k, y, w)
					}
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestInfinityNamesColumnAndRow(t *testing.T) {
	v := make([]float64, 10000)
	v[7000] = math.Inf(-1)
	rec := batch(t, []string{"x"}, v)
	d := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "standard"}}})
	_, err := fitOne(t, d, rec, nil)
	if want := `column "x": row 7000: -Inf cannot be scaled; use clip, or leave the row out`; err == nil || err.Error() != want || !errors.Is(err, format.ErrData) {
		t.Errorf("%v, want %s", err, want)
	}
	p, err := fitOne(t, d, rec, []int32{1, 2, 6999})
	if err != nil {
		t.Fatal(err)
	}
	err = apply(t, d, p, rec, nil, func(arrow.RecordBatch) {})
	if want := `column "x": row 7000 of its batch: -Inf cannot be scaled; use clip, or leave the row out`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	clipped := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "clip:-1:"}}})
	if p, err = fitOne(t, clipped, rec, nil); err != nil || p.Columns[0].Infs != 1 {
		t.Errorf("clip: %v", err)
	}
}

func TestNoRowsAndHugeValuesAreErrors(t *testing.T) {
	rec := batch(t, []string{"x"}, []float64{1, 2})
	d := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "standard"}}})
	if _, err := fitOne(t, d, rec, []int32{}); err == nil || !errors.Is(err, format.ErrData) {
		t.Errorf("no rows: %v", err)
	}
	rec = batch(t, []string{"x"}, []float64{-1.7e308, 1.7e308, 0, 1e308})
	for _, rule := range []string{"standard", "minmax"} {
		d := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", rule}}})
		if _, err := fitOne(t, d, rec, nil); err == nil || !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	d = plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "maxabs"}}})
	if p, err := fitOne(t, d, rec, nil); err != nil || *p.Columns[0].Divisor != 1.7e308 {
		t.Errorf("maxabs: %v", err)
	}
}

// ExampleConfig shows what becomes of columns.
func ExampleConfig() {
	s := arrow.NewSchema([]arrow.Field{{Name: "f0", Type: arrow.PrimitiveTypes.Float64}, {Name: "color", Type: arrow.BinaryTypes.String}}, nil)
	d, _ := Plan(s, Config{Scale: []Rule{{"f*", "standard"}}, Encode: []Rule{{"color", "hash:2"}}, Dtype: "float32"})
	out, _ := d.Out(&Params{Columns: []Column{{Name: "f0", Scale: "standard"}, {Name: "color", Encode: "hash:2"}}})
	for _, f := range out.Fields() {
		fmt.Println(f.Name, f.Type)
	}
	// Output:
	// f0 float32
	// color_0 float32
	// color_1 float32
}
