package split_test

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/split"
)

func TestMistakesNameTheField(t *testing.T) {
	p := arrow.PrimitiveTypes
	schema := columns("a", p.Int64, "s", arrow.BinaryTypes.String, "l", arrow.ListOf(p.Int64), "ts", arrow.FixedWidthTypes.Timestamp_ns,
		"u", p.Uint64, "d", p.Int8, "d", p.Int8)
	rng := func(text string) split.Range {
		r, err := split.ParseRange(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	ab := []string{"a", "b"}
	for want, c := range map[string]split.Config{
		`split: weights: a has no weight, such as a=80`:                                           {Names: ab},
		`split: weights: 1 for 2 names`:                                                           {Names: ab, Weights: []int{1}},
		`split: weights: b=0: a weight is 1 to 1000000000`:                                        {Names: ab, Weights: []int{1, 0}},
		`split: weights: there are 1, and no names`:                                               {Weights: []int{1}},
		`split: weights: weights mean nothing where a column decides; name the splits alone: a,b`: {Names: ab, Weights: []int{1, 1}, Column: "s"},
		`split: names: "../x" cannot be a split's name`:                                           {Names: []string{"../x"}, Weights: []int{1}},
		`split: names: "" cannot be a split's name`:                                               {Names: []string{""}, Weights: []int{1}},
		`split: names: "a" and "A" would be one directory on some systems`:                        {Names: []string{"a", "A"}, Weights: []int{1, 1}},
		`split: column: not together with by: one of them decides`:                                {By: []string{"a"}, Column: "s"},
		`split: stratify: not together with by`:                                                   {By: []string{"a"}, Stratify: "s"},
		`split: by: "a" is named twice`:                                                           {By: []string{"a", "a"}},
		`split: by: no column is called "z"; there are a, s, l, ts, u, d, d`:                      {By: []string{"z"}},
		`split: by: 2 columns are called "d"`:                                                     {By: []string{"d"}},
		`split: by: column "l": values of type list`:                                              {By: []string{"l"}},
		`split: stratify: column "l": values of type list`:                                        {Stratify: "l"},
		`split: range: bounds without a column`:                                                   {Range: split.Range{Bounds: []string{"1"}}},
		`split: range: 3 bounds between 3 splits (train, val, test); there must be 2`:             {Range: rng("a=1,2,3")},
		`split: range: column "a": bounds must grow: 1 is not above 2`:                            {Range: rng("a=2,1")},
		`split: range: column "s": it is utf8; ranges need numbers`:                               {Range: rng("s=2")},
		`split: range: column "a": "x" is not a bound for int64`:                                  {Range: rng("a=x")},
		`split: range: column "a": "1e19" is not a bound for int64`:                               {Range: rng("a=1e19")},
		`split: range: column "u": "NaN" is not a bound for uint64`:                               {Range: rng("u=NaN")},
		`split: range: column "ts": "2024" is not a date; write 2024-01-31`:                       {Range: rng("ts=2024")},
		`split: range: column "ts": 2400-01-01 lies outside of what timestamp[ns`:                 {Range: rng("ts=2400-01-01")},
		`split: column: "l" is list`:                                                              {Column: "l"},
		`split: from_dirs: data/x: no directory of it is called train, val, test`:                 {FromDirs: true},
	} {
		_, err := split.New(c, schema, source("data/x"))
		if !errors.Is(err, format.ErrUsage) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

func TestRowsThatBelongNowhereAreNamed(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ   arrow.DataType
		c     split.Config
		value string
		want  string
	}{
		{p.Float64, split.Config{Range: split.Range{Column: "k", Bounds: []string{"1"}}}, "null", `split: data/a: row 101: column "k" is null, which lies in no range`},
		{p.Float64, split.Config{Range: split.Range{Column: "k", Bounds: []string{"1"}}}, `"NaN"`, `split: data/a: row 101: column "k" is NaN, which lies in no range`},
		{p.Int8, split.Config{Column: "k", Names: []string{"0"}}, "7", `split: data/a: row 101: column "k" is "7", which is none of the splits 0`},
		{dictionary(p.Int8), split.Config{Column: "k", Names: []string{"0"}}, "null", `split: data/a: row 101: column "k" is null, which is none of the splits 0`},
	} {
		schema := columns("k", c.typ)
		a := assigner(t, c.c, schema, source("data/a"))
		err := a.Assign(make([]uint8, 2), table(t, schema, `{"k":0}`, `{"k":`+c.value+`}`), 0, 100)
		if !errors.Is(err, format.ErrData) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
	// A NaN in a block of rows without nulls, in a column that has some.
	schema := columns("k", p.Float64)
	rows := []string{`{"k":"NaN"}`}
	for range 600 {
		rows = append(rows, `{"k":0}`)
	}
	a := assigner(t, split.Config{Range: split.Range{Column: "k", Bounds: []string{"1"}}}, schema, source("data/a"))
	err := a.Assign(make([]uint8, 602), table(t, schema, append(rows, `{}`)...), 0, 0)
	if err == nil || !strings.Contains(err.Error(), "row 0: column \"k\" is NaN") {
		t.Errorf("got %v", err)
	}
}

func TestAssignRefusesRowsOutsideOfItsSource(t *testing.T) {
	a := assigner(t, split.Config{}, empty(0).Schema(), source("data/a"))
	for _, err := range []error{
		a.Assign(make([]uint8, 1), empty(1), 1, 0), a.Assign(make([]uint8, 1), empty(1), -1, 0),
		a.Assign(nil, empty(1), 0, 0), a.Assign(make([]uint8, 1), empty(1), 0, -1),
	} {
		if err == nil {
			t.Error("taken")
		}
	}
}

func TestWordsOfTheCommandLine(t *testing.T) {
	for text, want := range map[string]string{
		"train=80,val=10,test=10":   "train,val,test 80,10,10",
		" train = 0.8 , test = .2 ": "train,test 8,2",
		"a=0.85,b=0.1,c=0.05":       "a,b,c 85,10,5",
		"a=1.0,b=1":                 "a,b 1,1",
		"train,validation,test":     "train,validation,test",
		"a=1,b":                     `split: weights: "a=1,b": 1 of 2 splits have one`,
		"a=x":                       `split: weights: "x" is not a weight; write 80 or 0.8`,
		"a=0,b=1":                   `split: weights: "0" is not a weight; write 80 or 0.8`,
		"a=0.0000001,b=1":           `split: weights: "0.0000001" is not a weight; write 80 or 0.8`,
		"a=18446744073709551621":    `split: weights: "18446744073709551621" is not a weight; write 80 or 0.8`,
		"a=-1":                      `split: weights: "-1" is not a weight; write 80 or 0.8`,
		"":                          `split: names: "" cannot be a split's name: use up to 64 letters, digits and _ - . of which the first is a letter, a digit or _`,
	} {
		names, weights, err := split.ParseNames(text)
		got := strings.Join(names, ",")
		for i, w := range weights {
			got += map[bool]string{true: " ", false: ","}[i == 0] + strconv.Itoa(w)
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
	r, err := split.ParseRange(" ts = 2024-01-01 , 2024-02-01")
	if err != nil || r.Column != "ts" || strings.Join(r.Bounds, " ") != "2024-01-01 2024-02-01" {
		t.Errorf("got %v, %v", r, err)
	}
	for _, bad := range []string{"", "ts", "ts=", "=1", "ts=1,", "ts=,1"} {
		if _, err := split.ParseRange(bad); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}
