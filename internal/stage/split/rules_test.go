package split_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stage/split"
)

func TestRangesDivideByOrder(t *testing.T) {
	p := arrow.PrimitiveTypes
	for _, c := range []struct {
		typ    arrow.DataType
		bounds string
		values []string
		want   string
	}{
		{p.Int64, "-5,10", []string{"-6", "-5", "9", "10", "9223372036854775807", "-9223372036854775808"}, "011220"},
		{p.Int8, "2.5,1e3", []string{"-128", "2", "3", "127"}, "0011"},
		{p.Uint64, "-1,9223372036854775809", []string{"0", "9223372036854775808", "18446744073709551615"}, "112"},
		{p.Uint8, "0,200", []string{"0", "199", "200"}, "112"},
		{p.Float64, "0,1.5", []string{"-0.0", "-1e-300", "1.4999", "1.5", "1e300", `"+Inf"`, `"-Inf"`}, "1012220"},
		{p.Float32, "-2,-1", []string{"-2.5", "-2", "-1"}, "012"},
		{arrow.FixedWidthTypes.Date32, "2024-01-01,2024-02-01", []string{`"2023-12-31"`, `"2024-01-01"`, `"2024-02-01"`}, "012"},
		{arrow.FixedWidthTypes.Date32, "2024-01-01T12:00,2024-02-01", []string{`"2024-01-01"`, `"2024-01-02"`}, "01"},
		{arrow.FixedWidthTypes.Date32, "1960-01-01T12:00,1960-02-01", []string{`"1960-01-01"`, `"1960-01-02"`}, "01"},
		{arrow.FixedWidthTypes.Date64, "2024-01-01,2024-02-01", []string{`"2024-01-31"`, `"2024-02-01"`}, "12"},
		{arrow.FixedWidthTypes.Timestamp_ns, "2024-01-01,2024-01-01T00:00:00.5Z", []string{"1704067199999999999", "1704067200000000000", "1704067200499999999", "1704067200500000000"}, "0112"},
		{arrow.FixedWidthTypes.Timestamp_s, "2024-01-01T00:00:00.5,2024-01-01T02:00:00+01:00", []string{"1704067200", "1704067201", "1704070800"}, "012"},
	} {
		schema := columns("k", c.typ)
		var rows []string
		for _, v := range c.values {
			rows = append(rows, `{"k":`+v+`}`)
		}
		r, err := split.ParseRange("k=" + c.bounds)
		if err != nil {
			t.Fatal(err)
		}
		a := assigner(t, split.Config{Range: r}, schema, source("data/a"))
		if got := digits(assign(t, a, table(t, schema, rows...), 0)); got != c.want {
			t.Errorf("%s in %s: %v are in %s, want %s", c.typ, c.bounds, c.values, got, c.want)
		}
	}
}

func TestOneBoundMakesTrainAndTest(t *testing.T) {
	c := split.Config{Range: split.Range{Column: "k", Bounds: []string{"5"}}}
	a := assigner(t, c, columns("k", arrow.PrimitiveTypes.Int64), source("data/a"))
	if got := a.Names(); !slices.Equal(got, []string{"train", "test"}) {
		t.Errorf("got %v", got)
	}
}

func TestColumnNamesTheSplit(t *testing.T) {
	for _, typ := range []arrow.DataType{arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView, dictionary(arrow.BinaryTypes.String)} {
		schema := columns("k", typ)
		a := assigner(t, split.Config{Column: "k"}, schema, source("data/a"))
		rec := table(t, schema, `{"k":"test"}`, `{"k":"train"}`, `{"k":"train"}`, `{"k":"val"}`)
		if got := digits(assign(t, a, rec, 0)); got != "2001" {
			t.Errorf("%s: got %s", typ, got)
		}
	}
	for _, typ := range []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint64, arrow.PrimitiveTypes.Int64, dictionary(arrow.PrimitiveTypes.Int32)} {
		schema := columns("k", typ)
		a := assigner(t, split.Config{Column: "k", Names: []string{"0", "17"}}, schema, source("data/a"))
		if got := digits(assign(t, a, table(t, schema, `{"k":17}`, `{"k":0}`), 0)); got != "10" {
			t.Errorf("%s: got %s", typ, got)
		}
	}
}

func TestDirectoriesNameTheSplit(t *testing.T) {
	src := split.Source{Objects: []string{"/home/train/d/val/a.csv", "s3://b/raw/test/x/y/z.parquet", "train/a"}}
	a := assigner(t, split.Config{FromDirs: true}, empty(0).Schema(), src)
	for i, want := range []string{"11", "22", "00"} {
		if got := digits(assign(t, a, empty(2), i)); got != want {
			t.Errorf("%s: got %s, want %s", src.Objects[i], got, want)
		}
	}
}

func TestStrataAreDividedExactly(t *testing.T) {
	rec := people(t, 4000)
	for _, weights := range [][]int{{80, 10, 10}, {2, 1, 1}, {7, 3, 90}} {
		c := split.Config{Names: []string{"a", "b", "c"}, Weights: weights, Stratify: "label"}
		splits := assign(t, assigner(t, c, rec.Schema(), source("data/a")), rec, 0)
		round, common := 0, 1
		for _, w := range weights {
			round += w
		}
		if weights[0] == 80 {
			round, common = 10, 10
		}
		label := rec.Column(2)
		rows := map[string][]uint8{}
		for i, s := range splits {
			rows[label.ValueStr(i)] = append(rows[label.ValueStr(i)], s)
		}
		if len(rows) != 4 {
			t.Fatalf("%d labels", len(rows))
		}
		orders := map[string]bool{}
		for l, all := range rows {
			for at := 0; at+round <= len(all); at += round {
				for i, n := range counts(all[at:at+round], 3) {
					if n != weights[i]/common {
						t.Fatalf("weights %v: label %s: rows %d to %d: %d of split %d", weights, l, at, at+round, n, i)
					}
				}
				orders[digits(all[at:at+round])] = true
			}
		}
		if len(orders) < 5 {
			t.Errorf("weights %v: rounds have %d orders only", weights, len(orders))
		}
	}
}

func TestStratifiedSplitsGoOnFromEveryState(t *testing.T) {
	rec := people(t, 120)
	c := split.Config{Stratify: "label", Seed: 5}
	src := source("data/a", "data/b")
	whole := assigner(t, c, rec.Schema(), src)
	want := assign(t, whole, rec, 0)
	tail := assign(t, whole, rec, 1)
	for cut := range rec.NumRows() + 1 {
		first := assigner(t, c, rec.Schema(), src)
		got := make([]uint8, rec.NumRows())
		if err := first.Assign(got, rec.NewSlice(0, cut), 0, 0); err != nil {
			t.Fatal(err)
		}
		then := assigner(t, c, rec.Schema(), src)
		if err := then.Restore(first.State()); err != nil {
			t.Fatal(err)
		}
		if err := then.Assign(got[cut:], rec.NewSlice(cut, rec.NumRows()), 0, cut); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) || !slices.Equal(assign(t, then, rec, 1), tail) {
			t.Fatalf("restored after %d rows: another assignment", cut)
		}
	}
}

func TestStratifiedSplitsRefuseOtherOrdersAndStates(t *testing.T) {
	rec := people(t, 40)
	a := assigner(t, split.Config{Stratify: "label"}, rec.Schema(), source("data/a", "data/b"))
	assign(t, a, rec, 0)
	for _, at := range []struct {
		object int
		row    int64
	}{{0, 0}, {0, 41}, {1, 1}} {
		if err := a.Assign(make([]uint8, 40), rec, at.object, at.row); err == nil {
			t.Errorf("object %d, row %d was taken", at.object, at.row)
		}
	}
	state := a.State()
	other := assigner(t, split.Config{Stratify: "label", Names: []string{"a", "b", "c"}, Weights: []int{3, 3, 3}}, rec.Schema(), source("data/a"))
	for name, bad := range map[string][]byte{"short": state[:15], "cut": state[:20], "label twice": append(slices.Clone(state), state[16:]...)} {
		if err := a.Restore(bad); !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := other.Restore(state); !errors.Is(err, format.ErrData) {
		t.Errorf("state of other weights: %v", err)
	}
	plain := assigner(t, split.Config{}, rec.Schema(), source("data/a"))
	if err := plain.Restore(state); !errors.Is(err, format.ErrData) || plain.State() != nil || plain.Restore(nil) != nil {
		t.Errorf("positions have a state: %v", err)
	}
}

func TestTooManyLabelsAreRefused(t *testing.T) {
	var rows []string
	for i := range 1<<15 + 1 {
		rows = append(rows, fmt.Sprintf(`{"k":%d}`, i))
	}
	schema := columns("k", arrow.PrimitiveTypes.Int64)
	a := assigner(t, split.Config{Stratify: "k"}, schema, source("data/a"))
	if a.Cost() < 1<<20 {
		t.Errorf("cost is %d", a.Cost())
	}
	err := a.Assign(make([]uint8, len(rows)), table(t, schema, rows...), 0, 0)
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `split: data/a: row 32768: stratify: column "k" has more than 32768`) {
		t.Errorf("got %v", err)
	}
}
