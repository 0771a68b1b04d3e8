package scale

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

var people = arrow.NewSchema([]arrow.Field{
	{Name: "price", Type: arrow.PrimitiveTypes.Float64}, {Name: "age", Type: arrow.PrimitiveTypes.Int32},
	{Name: "city", Type: arrow.BinaryTypes.String}, {Name: "when", Type: arrow.FixedWidthTypes.Timestamp_us},
}, nil)

func TestMistakesNameColumnRuleAndWayOut(t *testing.T) {
	for _, x := range []struct {
		c    Config
		want string
	}{
		{Config{Scale: []Rule{{"price", "standart"}}}, `column "price": scale "standart" is not known; did you mean "standard"?`},
		{Config{Scale: []Rule{{"price", "zzz"}}}, `column "price": scale "zzz" is not known; there are none, standard, minmax, maxabs, robust, log1p, clip`},
		{Config{Scale: []Rule{{"prise", "robust"}}}, `no column matches "prise"; did you mean "price"?`},
		{Config{Scale: []Rule{{"city", "robust"}}}, `column "city": robust does not work on utf8`},
		{Config{Scale: []Rule{{"w*", "robust"}}}, `no column that "w*" matches can have robust`},
		{Config{Scale: []Rule{{"price", "clip:3"}}}, `column "price": scale "clip:3": write clip:LO:HI with numbers, LO not above HI`},
		{Config{Scale: []Rule{{"price", "clip:3:1"}}}, `column "price": scale "clip:3:1": write clip:LO:HI with numbers, LO not above HI`},
		{Config{Scale: []Rule{{"price", "minmax:3"}}}, `column "price": scale "minmax:3": write minmax alone`},
		{Config{Encode: []Rule{{"city", "hash"}}}, `column "city": encode "hash": write hash:N`},
		{Config{Encode: []Rule{{"city", "hash:0"}}}, `column "city": encode "hash:0": write hash:N with N from 1 to 65536`},
		{Config{Encode: []Rule{{"age", "onehot"}}, Scale: []Rule{{"age", "robust"}}}, `column "age": either robust or onehot, not both`},
		{Config{Impute: []Rule{{"city", "mean"}}}, `column "city": mean does not work on utf8`},
		{Config{Impute: []Rule{{"age", "constant:x"}}}, `column "age": impute "constant:x" is not a number, the column is int32`},
		{Config{Scale: []Rule{{"age", "robust"}}, Label: "age"}, `column "age": robust, but it is passed through as it is`},
		{Config{Label: "agee"}, `no column matches "agee"; did you mean "age"?`},
		{Config{Dtype: "float16"}, `dtype "float16" is not known; there are float32, float64`},
	} {
		_, err := Plan(people, x.c)
		if err == nil || err.Error() != x.want || !errors.Is(err, format.ErrUsage) {
			t.Errorf("%+v:\n%v\nwant\n%s", x.c, err, x.want)
		}
	}
}

func TestGlobsPassOverWhatTheyDoNotSuit(t *testing.T) {
	d := plan(t, people, Config{Scale: []Rule{{"*", "standard"}}, Encode: []Rule{{"city", "ordinal"}}, Label: "age"})
	var got []string
	for i := range d.cols {
		got = append(got, strings.Join(d.cols[i].rules[:], "/"))
	}
	if want := []string{"standard//", "//", "//ordinal", "//"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	rules, err := ParseRules("f*=standard, x=clip:0:1")
	if want := []Rule{{"f*", "standard"}, {"x", "clip:0:1"}}; err != nil || !reflect.DeepEqual(rules, want) {
		t.Errorf("%v, %v", rules, err)
	}
	if _, err := ParseRules("f*"); !errors.Is(err, format.ErrUsage) {
		t.Errorf("%v", err)
	}
}

// words makes a column of text; "-" is null.
func words(s string) []*string {
	var out []*string
	for _, w := range strings.Fields(s) {
		if w == "-" {
			out = append(out, nil)
		} else {
			out = append(out, &w)
		}
	}
	return out
}

func TestCategoriesAreBounded(t *testing.T) {
	rec := batch(t, []string{"c"}, words("a b a c a b d - e"))
	d := plan(t, rec.Schema(), Config{Encode: []Rule{{"c", "onehot"}}, MaxCategories: 4})
	_, err := fitOne(t, d, rec, nil)
	if want := `column "c": 5 categories in the first 9 rows, at most 4 are allowed; raise the bound, let the rest be other, or use hash:N`; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	d = plan(t, rec.Schema(), Config{Encode: []Rule{{"c", "onehot"}}, MaxCategories: 3, Other: true})
	p, err := fitOne(t, d, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	if want := []Category{{"a", 3}, {"b", 2}, {"c", 1}}; !reflect.DeepEqual(p.Columns[0].Categories, want) || p.Columns[0].Other != 2 {
		t.Errorf("%+v", p.Columns[0])
	}
	seen := batch(t, []string{"c"}, words("c - never e"))
	err = apply(t, d, p, seen, nil, func(out arrow.RecordBatch) {
		want := [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 1}}
		for i, name := range []string{"c_a", "c_b", "c_c", "c_nan", "c_other"} {
			if got := out.Schema().Field(i).Name; got != name || !reflect.DeepEqual(values(out, i), want[i]) {
				t.Errorf("%s: %v, want %s: %v", got, values(out, i), name, want[i])
			}
		}
	})
	if err != nil {
		t.Error(err)
	}
}

func TestUnseenCategoriesAreNoneOfThem(t *testing.T) {
	seen, unseen := words("b a b"), words("c a -")
	for rule, want := range map[string][][]float64{"onehot": {{0, 1, 0}, {0, 0, 0}}, "ordinal": {{-1, 0, math.NaN()}}} {
		rec := batch(t, []string{"c"}, seen)
		d := plan(t, rec.Schema(), Config{Encode: []Rule{{"c", rule}}})
		p, err := fitOne(t, d, rec, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = apply(t, d, p, batch(t, []string{"c"}, unseen), nil, func(out arrow.RecordBatch) {
			for k := range want {
				for i, y := range values(out, k) {
					if !near(y, want[k][i], 0) {
						t.Errorf("%s: output %d: %v, want %v", rule, k, values(out, k), want[k])
					}
				}
			}
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func TestCategoriesOfNumbersAreInTheirOrder(t *testing.T) {
	b := array.NewInt64Builder(memory.DefaultAllocator)
	b.AppendValues([]int64{10, 9, -3, 100, -20, 9007199254740993, 9007199254740992}, nil)
	rec := batch(t, []string{"i", "f"}, b.NewArray(), []float64{10, 9, -3, 100, 1e-7, math.Copysign(0, -1), math.NaN()})
	d := plan(t, rec.Schema(), Config{Encode: []Rule{{"*", "ordinal"}}, Impute: []Rule{{"f", "constant:9.50"}}})
	p, err := fitOne(t, d, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"-20 -3 9 10 100 9007199254740992 9007199254740993", "-3 0 1e-07 9 9.5 10 100"} {
		var got []string
		for _, c := range p.Columns[i].Categories {
			got = append(got, c.Value)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%v, want %s", got, want)
		}
	}
}

func TestTextIsImputedWithoutEncoding(t *testing.T) {
	rec := batch(t, []string{"c"}, words("x - b b x - z"))
	d := plan(t, rec.Schema(), Config{Impute: []Rule{{"c", "most_frequent"}}})
	p, err := fitOne(t, d, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = apply(t, d, p, rec, []int32{0, 1, 2, 5, 6}, func(out arrow.RecordBatch) {
		if got := out.Column(0).String(); got != `["x" "b" "b" "b" "z"]` || out.Column(0).NullN() != 0 {
			t.Error(got)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// roundTrip is p after it was written and read.
func roundTrip(t *testing.T, p *Params) *Params {
	t.Helper()
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q, err := Decode(data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	if again, _ := q.Encode(); !bytes.Equal(again, data) {
		t.Errorf("%s\nbecame\n%s", data, again)
	}
	return q
}

func TestPriorParametersContinue(t *testing.T) {
	c := Config{Scale: []Rule{{"x", "standard"}, {"y", "minmax"}}, Impute: []Rule{{"x", "mean"}}, Encode: []Rule{{"c", "ordinal"}}}
	names := []string{"x", "y", "c"}
	one := batch(t, names, []float64{1, 2, null, 1e6}, []float64{5, 6, 7, 8}, words("b d b -"))
	two := batch(t, names, []float64{4, math.NaN(), 6}, []float64{-1, 6, 7}, words("c b a"))
	both := batch(t, names, []float64{1, 2, null, 1e6, 4, math.NaN(), 6}, []float64{5, 6, 7, 8, -1, 6, 7}, words("b d b - c b a"))
	d := plan(t, one.Schema(), c)
	first, err := fitOne(t, d, one, nil)
	if err != nil {
		t.Fatal(err)
	}
	budget := mem.New(d.Floor(2))
	f, err := d.NewFit(budget, 2, roundTrip(t, first))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Add(two, 0, 0, nil); err != nil {
		t.Fatal(err)
	}
	got, err := f.Params()
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	want, err := fitOne(t, d, both, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Columns {
		g, w := &got.Columns[i], &want.Columns[i]
		for k, pair := range [][2]*float64{{g.Mean, w.Mean}, {g.M2, w.M2}, {g.Min, w.Min}, {g.Max, w.Max}, {g.Center, w.Center}, {g.Divisor, w.Divisor}, {g.Shift, w.Shift}, {g.Fill, w.Fill}} {
			if !near(orNaN(pair[0]), orNaN(pair[1]), 1e-12) {
				t.Errorf("column %s, number %d: %v, want %v", g.Name, k, orNaN(pair[0]), orNaN(pair[1]))
			}
		}
		if g.Count != w.Count || g.Nulls != w.Nulls || g.NaNs != w.NaNs {
			t.Errorf("%+v, want %+v", g, w)
		}
	}
	// Known categories keep their codes.
	if want := []Category{{"b", 3}, {"d", 1}, {"a", 1}, {"c", 1}}; !reflect.DeepEqual(got.Columns[2].Categories, want) {
		t.Errorf("%v, want %v", got.Columns[2].Categories, want)
	}
	roundTrip(t, got)
	c.Scale[0].Do = "robust"
	if _, err := plan(t, one.Schema(), c).NewFit(budget, 1, first); !errors.Is(err, format.ErrUsage) {
		t.Errorf("robust was continued: %v", err)
	}
}

func TestParametersDescribeTheirOwnDesign(t *testing.T) {
	rec := batch(t, []string{"x", "c", "y"}, []float64{1, 2, null}, words("b a -"), []float64{0, 1, 1})
	d := plan(t, rec.Schema(), Config{Scale: []Rule{{"x", "robust"}}, Encode: []Rule{{"c", "onehot"}}, Label: "y", Dtype: "float32"})
	p, err := fitOne(t, d, rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	p = roundTrip(t, p)
	serving := batch(t, []string{"c", "x"}, words("a"), []float64{7}) // without the label, in another order
	again, err := p.Design(serving.Schema())
	if err != nil {
		t.Fatal(err)
	}
	err = apply(t, again, p, serving, nil, func(out arrow.RecordBatch) {
		if got := out.Schema().String(); !strings.Contains(got, "x: type=float32") || values(out, 0)[0] != 1 || values(out, 3)[0] != 11 {
			t.Errorf("%v\n%v", got, out)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := p.Design(batch(t, []string{"x"}, []float64{1}).Schema()); !errors.Is(err, format.ErrUsage) {
		t.Errorf("a column is missing: %v", err)
	}
}

func TestTooLittleMemoryIsRefused(t *testing.T) {
	d := plan(t, people, Config{Scale: []Rule{{"price", "robust"}}, Encode: []Rule{{"city", "onehot"}}})
	budget := mem.New(d.Floor(2) - 1)
	if _, err := d.NewFit(budget, 2, nil); !errors.Is(err, mem.ErrTooSmall) || budget.Leased() != 0 {
		t.Errorf("%v, %d bytes leased", err, budget.Leased())
	}
	f, err := d.NewFit(mem.New(d.Floor(2)), 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
}

func FuzzParamsLoading(f *testing.F) {
	rec := batch(f, []string{"x", "c", "y", "z"}, []float64{1, 2, null}, words("b a -"), []float64{0, 1, 1}, []float64{null, null, null})
	d := plan(f, rec.Schema(), Config{Scale: []Rule{{"x", "robust"}, {"z", "minmax"}}, Impute: []Rule{{"x", "median"}}, Encode: []Rule{{"c", "onehot"}}})
	p, err := fitOne(f, d, rec, nil)
	if err != nil {
		f.Fatal(err)
	}
	data, _ := p.Encode()
	f.Add(data)
	f.Add([]byte(`{"version":1,"rows":3,"dtype":"float32","columns":[{"name":"x","scale":"standard","count":3}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			if !errors.Is(err, format.ErrData) {
				t.Fatalf("%v is of another kind", err)
			}
			return
		}
		if d, err := p.Design(rec.Schema()); err == nil {
			if s, err := d.Out(p); err == nil && s.NumFields() < 1<<12 {
				apply(t, d, p, rec, nil, func(arrow.RecordBatch) {})
			}
		}
		again, err := p.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if q, err := Decode(again); err != nil || !reflect.DeepEqual(p, q) {
			t.Fatalf("%s became %s: %v", data, again, err)
		}
	})
}
