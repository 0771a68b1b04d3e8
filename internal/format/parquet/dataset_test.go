package parquet

import (
	"errors"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// numbers is a table of int32 columns of these names.
func numbers(rows int, names ...string) arrow.RecordBatch {
	var cols []column
	for i, n := range names {
		cols = append(cols, column{n, newDice(uint64(i)).values(arrow.PrimitiveTypes.Int32, false, rows), false})
	}
	return table(cols...)
}

func TestColumnsByNameAndGlobInTheOrderAsked(t *testing.T) {
	src := sourceOf(write(t, numbers(10, "label", "f1", "f2", "f10", "x[0]"), layout{}))
	for _, c := range []struct{ ask, want []string }{
		{nil, []string{"label", "f1", "f2", "f10", "x[0]"}},
		{[]string{"f2", "label"}, []string{"f2", "label"}},
		{[]string{"f*", "label"}, []string{"f1", "f2", "f10", "label"}},
		{[]string{"f10", "f*"}, []string{"f10", "f1", "f2"}},
		{[]string{"f?", "f1", "f1"}, []string{"f1", "f2"}},
		{[]string{"x[0]"}, []string{"x[0]"}},
		{[]string{"*"}, []string{"label", "f1", "f2", "f10", "x[0]"}},
	} {
		ds, err := Plan(t.Context(), src, format.Options{Columns: c.ask})
		if err != nil {
			t.Errorf("%q: %v", c.ask, err)
			continue
		}
		var got []string
		for _, f := range ds.Schema().Fields() {
			got = append(got, f.Name)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q gives %q, want %q", c.ask, got, c.want)
		}
	}
}

// TestChosenColumnsHaveTheirValues: in another order than the file's, nested
// ones among them.
func TestChosenColumnsHaveTheirValues(t *testing.T) {
	d := newDice(7)
	d.nulls = 0.2
	rec := mixed(d, 150)
	src := sourceOf(write(t, rec, layout{dict: true, group: 40, page: 100}))
	ask := []string{"deep", "id", "messages", "ok"}
	var cols []column
	for _, name := range ask {
		i := rec.Schema().FieldIndices(name)[0]
		cols = append(cols, column{name, rec.Column(i), true})
	}
	want := digestOf(t, table(cols...))
	for _, threads := range []int{1, 2, 8} {
		got, _, err := readDigest(t, src, format.Options{Columns: ask, Threads: threads}, 0, stream.Cursor{})
		if err != nil || got != want {
			t.Errorf("threads %d: right %v, %v", threads, got == want, err)
		}
	}
}

// TestFilesWithColumnsInAnotherOrder: names decide, and more columns than the
// first file has do no harm.
func TestFilesWithColumnsInAnotherOrder(t *testing.T) {
	a, b := numbers(5, "x", "y"), numbers(7, "z", "y", "x")
	want := digestOf(t, a, table(column{"x", b.Column(2), false}, column{"y", b.Column(1), false}))
	got, _, err := readDigest(t, sourceOf(write(t, a, layout{}), write(t, b, layout{v2: true})), format.Options{}, 0, stream.Cursor{})
	if err != nil || got != want {
		t.Errorf("right %v, %v", got == want, err)
	}
}

// TestTwoColumnsOfOneName: both are read, each with its own values.
func TestTwoColumnsOfOneName(t *testing.T) {
	rec := numbers(50, "a", "b", "a")
	got, rows, err := readDigest(t, sourceOf(write(t, rec, layout{})), format.Options{}, 0, stream.Cursor{})
	if err != nil || got != digestOf(t, rec) {
		t.Errorf("%d rows, right %v, %v", rows, got == digestOf(t, rec), err)
	}
}

func TestFilesWithoutRows(t *testing.T) {
	none, some := numbers(0, "x"), numbers(5, "x")
	for _, files := range [][]arrow.RecordBatch{{none}, {none, none}, {none, some}, {some, none}, {none, some, none, some}} {
		var data [][]byte
		for _, r := range files {
			data = append(data, write(t, r, layout{}))
		}
		got, _, err := readDigest(t, sourceOf(data...), format.Options{}, 0, stream.Cursor{})
		if err != nil || got != digestOf(t, files...) {
			t.Errorf("%d files: %v", len(files), err)
		}
	}
}

func TestInfoCounts(t *testing.T) {
	file := write(t, numbers(100, "x", "y"), layout{group: 30})
	ds, err := Plan(t.Context(), sourceOf(file, file), format.Options{Columns: []string{"y"}})
	if err != nil {
		t.Fatal(err)
	}
	i := ds.Info()
	if i.Objects != 2 || i.Rows != 200 || i.Groups != 8 || i.InMemory != 800 || i.LargestIn != 120 || i.Bytes <= 0 || i.Bytes > int64(len(file)) {
		t.Errorf("%+v", i)
	}
}

func TestCursorBeyondTheFile(t *testing.T) {
	src := sourceOf(write(t, numbers(10, "x"), layout{}))
	if _, _, err := readDigest(t, src, format.Options{}, 0, stream.Cursor{Row: 11}); !errors.Is(err, format.ErrData) {
		t.Errorf("row 11 of 10: %v", err)
	}
	for _, at := range []stream.Cursor{{Row: 10}, {Object: 1}} {
		if _, rows, err := readDigest(t, src, format.Options{}, 0, at); err != nil || rows != 0 {
			t.Errorf("%+v: %d rows, %v", at, rows, err)
		}
	}
}

// TestConsumerMayKeepABatch: one batch held while the next is asked for is
// paid for, also at the floor.
func TestConsumerMayKeepABatch(t *testing.T) {
	d := newDice(3)
	d.nulls = 0.2
	rec := mixed(d, 2000)
	src := sourceOf(write(t, rec, layout{group: 300, page: 500}))
	for _, threads := range []int{1, 2} {
		ds, err := Plan(t.Context(), src, format.Options{Threads: threads, BatchRows: 70})
		if err != nil {
			t.Fatal(err)
		}
		b := mem.New(ds.Floor())
		s, err := ds.Open(t.Context(), b, stream.Cursor{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var kept *stream.Batch
		for {
			next, err := s.Next(t.Context())
			kept.Release()
			if err != nil {
				break
			}
			kept = next
		}
		s.Close()
		empty(t, b)
	}
}
