package scale

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// goOn fits rec, n rows at a time, behind prior.
func goOn(t *testing.T, d *Design, prior *Params, rec arrow.RecordBatch, n int64, threads int, more int64) *Params {
	t.Helper()
	budget := mem.New(d.Floor(threads) + more)
	f, err := d.NewFit(budget, threads, prior)
	if err != nil {
		t.Fatal(err)
	}
	for from := int64(0); from < rec.NumRows(); from += n {
		part := rec.NewSlice(from, min(from+n, rec.NumRows()))
		if err := f.Add(part, 0, from, nil); err != nil {
			t.Fatal(err)
		}
		part.Release()
	}
	p, err := f.Params()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	if budget.Leased() != 0 {
		t.Errorf("%d bytes are still leased", budget.Leased())
	}
	return p
}

func TestMostFrequentGoesOnWhereAllValuesAreCounted(t *testing.T) {
	c := Config{Impute: []Rule{{"c", "most_frequent"}, {"k", "constant:b"}}, Encode: []Rule{{"c", "ordinal"}, {"k", "onehot"}}}
	names := []string{"c", "k"}
	one := batch(t, names, words("b d b - -"), words("a - - a b"))
	two := batch(t, names, words("d d d - a"), words("- a c - b"))
	both := batch(t, names, words("b d b - - d d d - a"), words("a - - a b - a c - b"))
	d := plan(t, one.Schema(), c)
	first := roundTrip(t, goOn(t, d, nil, one, 5, 1, 0))
	got := roundTrip(t, goOn(t, d, first, two, 5, 1, 0))
	want := goOn(t, d, nil, both, 10, 1, 0)
	if *first.Columns[0].FillText != "b" || *got.Columns[0].FillText != "d" {
		t.Errorf("filled with %q, then %q; want b, then d", *first.Columns[0].FillText, *got.Columns[0].FillText)
	}
	for i := range want.Columns {
		g, w := got.Columns[i], want.Columns[i]
		counts := func(list []Category) map[string]int64 {
			out := map[string]int64{}
			for _, k := range list {
				out[k.Value] = k.Count
			}
			return out
		}
		if !reflect.DeepEqual(counts(g.Categories), counts(w.Categories)) || g.Count != w.Count || g.Nulls != w.Nulls {
			t.Errorf("got  %+v\nwant %+v", g, w)
		}
	}
	if got := got.Columns[0].Categories; got[0].Value != "b" || got[1].Value != "d" || got[2].Value != "a" {
		t.Errorf("%v: known categories come first, in their places", got)
	}
}

func TestContinuedParametersAreTheSameBitsForAnyBatchesThreadsAndMemory(t *testing.T) {
	w := makeWorld(t, 5, []int{9000, 9000}, 0)
	d := plan(t, w.objects[0].Schema(), Config{Scale: []Rule{{"offset", "standard"}, {"holes", "minmax"}, {"ints", "maxabs"}}, Impute: []Rule{{"holes", "mean"}},
		Encode: []Rule{{"text", "onehot"}}})
	first := goOn(t, d, nil, w.objects[0], 9000, 1, 0)
	var want []byte
	for _, c := range []struct {
		n       int64
		threads int
		more    int64
	}{{9000, 1, 0}, {61, 1, 0}, {7, 2, 1 << 20}, {4097, 3, 64 << 20}} {
		text, err := goOn(t, d, roundTrip(t, first), w.objects[1], c.n, c.threads, c.more).Encode()
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = text
		} else if !bytes.Equal(text, want) {
			t.Errorf("%+v: other parameters:\n%s\nwant\n%s", c, text, want)
		}
	}
}

func TestWhatCannotGoOnIsRefusedByName(t *testing.T) {
	names := []string{"x", "c", "y"}
	rec := batch(t, names, []float64{1, 2, null, 4}, words("a b - b"), []float64{1, 2, 3, 4})
	rules := func(scale, impute, encode string) Config {
		var c Config
		for _, r := range []struct {
			list *[]Rule
			text string
		}{{&c.Scale, scale}, {&c.Impute, impute}, {&c.Encode, encode}} {
			if r.text != "" {
				*r.list, _ = ParseRules(r.text)
			}
		}
		return c
	}
	with := func(c Config, change func(*Config)) Config {
		change(&c)
		return c
	}
	standard := rules("x=standard", "", "")
	for _, k := range []struct {
		was, is Config
		want    string
	}{
		{rules("x=robust", "", ""), rules("x=robust", "", ""), `column "x": robust: the parameters do not have the values that its quantiles come from, so the fit cannot be continued; fit the earlier`},
		{rules("", "x=median", ""), rules("", "x=median", ""), `column "x": median: the parameters do not have the values`},
		{rules("", "x=most_frequent", ""), rules("", "x=most_frequent", ""), `column "x": most_frequent: the parameters do not have the counts`},
		{rules("", "c=most_frequent", "c=hash:4"), rules("", "c=most_frequent", "c=hash:4"), `column "c": most_frequent: the parameters do not have the counts`},
		{with(rules("", "", "c=onehot"), func(c *Config) { c.MaxCategories, c.Other = 1, true }), rules("", "", "c=onehot"), `column "c": onehot: the parameters do not have the categories that were counted as other`},
		{rules("", "", "c=onehot"), with(rules("", "", "c=onehot"), func(c *Config) { c.MaxCategories = 1 }), `column "c": the parameters have 2 categories, at most 1`},
		{standard, rules("x=minmax", "", ""), `column "x": scale minmax is asked, the parameters are of standard`},
		{standard, rules("x=standard,y=maxabs", "", ""), `column "y": scale maxabs is asked, the parameters are of nothing`},
		{standard, rules("", "", "c=ordinal"), `column "x": scale nothing is asked, the parameters are of standard`},
		{standard, with(standard, func(c *Config) { c.Dtype = "float32" }), `float32 is asked, the parameters are of float64`},
	} {
		p := goOn(t, plan(t, rec.Schema(), k.was), nil, rec, 4, 1, 4<<20)
		err := plan(t, rec.Schema(), k.is).Continues(p)
		if err == nil || !strings.HasPrefix(err.Error(), k.want) || !errors.Is(err, format.ErrUsage) {
			t.Errorf("got  %v\nwant %s", err, k.want)
		}
	}
	p := goOn(t, plan(t, rec.Schema(), rules("x=standard,y=minmax", "", "")), nil, rec, 4, 1, 0)
	_, err := p.Design(batch(t, []string{"c"}, words("a")).Schema())
	if want := `the parameters have columns "x", "y", the data has not`; err == nil || err.Error() != want || !errors.Is(err, format.ErrUsage) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestRulesOfTheParametersAreTakenWhereThereAreNone(t *testing.T) {
	names := []string{"fa", "f*", "a[", "c,d"}
	rec := batch(t, names, []float64{1, 2}, []float64{3, 5}, []float64{1, 1}, words("a b"))
	c := Config{Scale: []Rule{{"f*", "standard"}, {"a[", "clip:0:1"}}, Impute: []Rule{{"fa", "constant:15"}}, Encode: []Rule{{"c,d", "ordinal"}}, Dtype: "float32"}
	d := plan(t, rec.Schema(), c)
	p := roundTrip(t, goOn(t, d, nil, rec, 2, 1, 0))
	again := plan(t, rec.Schema(), Config{}.Continuing(p))
	if again.digest() != d.digest() || again.dtype != d.dtype {
		t.Errorf("%+v\nwant %+v", again.cols, d.cols)
	}
	if err := again.Continues(p); err != nil {
		t.Error(err)
	}
	if got := c.Continuing(p); !reflect.DeepEqual(got, c) {
		t.Errorf("rules that there are were replaced: %+v", got)
	}
}

func TestCategoriesThatDoNotAddUpAreRefused(t *testing.T) {
	rec := batch(t, []string{"c"}, words("a b - b"))
	d := plan(t, rec.Schema(), Config{Impute: []Rule{{"c", "most_frequent"}}, Encode: []Rule{{"c", "onehot"}}})
	for _, spoil := range []func(*Column){
		func(c *Column) { c.Categories[0].Count++ },
		func(c *Column) { c.Categories = c.Categories[:1] },
		func(c *Column) { c.Other++ },
		func(c *Column) { c.Categories[0].Count, c.Categories[1].Count = 4, 0 }, // b was imputed once
	} {
		p := goOn(t, d, nil, rec, 4, 1, 0)
		spoil(&p.Columns[0])
		text, _ := p.Encode()
		if _, err := Decode(text); !errors.Is(err, format.ErrData) {
			t.Errorf("%s\nwas read: %v", text, err)
		}
	}
}
