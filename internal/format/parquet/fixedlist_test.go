package parquet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// fixedTypes are fixed-size lists of values of all widths, short and long.
func fixedTypes() []arrow.DataType {
	p := &arrow.PrimitiveTypes
	return []arrow.DataType{
		arrow.FixedSizeListOf(1, p.Float32), arrow.FixedSizeListOf(2, p.Int8), arrow.FixedSizeListOfNonNullable(3, p.Uint8),
		arrow.FixedSizeListOf(7, p.Uint16), arrow.FixedSizeListOfNonNullable(8, p.Float64), arrow.FixedSizeListOf(64, p.Float32),
		arrow.FixedSizeListOf(5, arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(4, &arrow.FixedSizeBinaryType{ByteWidth: 5}),
		arrow.FixedSizeListOfNonNullable(300, p.Float32), arrow.FixedSizeListOf(1500, p.Uint8),
		arrow.FixedSizeListOf(3, &arrow.Decimal128Type{Precision: 15, Scale: 2}), arrow.FixedSizeListOf(2, arrow.FixedWidthTypes.Float16),
	}
}

// fixedTable makes a table of fixed-size lists, and what writes it: as plain
// lists of the same values, since arrow-go does not write all fixed-size ones
// right, and with the schema of the table beside them.
func fixedTable(seed uint64, rows int, nulls float64, l layout) (arrow.RecordBatch, func(testing.TB) []byte) {
	var fixed, plain []column
	for i, typ := range fixedTypes() {
		for _, nullable := range []bool{false, true} {
			name := fmt.Sprintf("c%02d%v", i, nullable)
			t := typ.(*arrow.FixedSizeListType)
			values := func(as arrow.DataType) arrow.Array {
				d := newDice(seed + uint64(i))
				d.nulls, d.size = nulls, int(t.Len())
				if l.dict {
					d.kinds, d.run = 20, 3
				}
				return d.values(as, nullable, rows)
			}
			fixed = append(fixed, column{name, values(t), nullable})
			plain = append(plain, column{name, values(arrow.ListOfField(t.ElemField())), nullable})
		}
	}
	rec := table(fixed...)
	l.remark = rec.Schema()
	return rec, func(t testing.TB) []byte { return write(t, table(plain...), l) }
}

func TestFixedSizeLists(t *testing.T) {
	for i, nulls := range []float64{0, 0.01, 0.4, 1} {
		for _, v2 := range []bool{false, true} {
			for j, page := range []int64{40, 2000, 0} {
				l := layout{codec: codecs[(i+j)%len(codecs)], v2: v2, dict: (i+j)%2 == 0, page: page, group: []int64{0, 25, 17}[j]}
				t.Run(fmt.Sprintf("nulls %v, %s", nulls, l), func(t *testing.T) {
					rec, file := fixedTable(uint64(10*i+j), 40, nulls, l)
					sameRows(t, file(t), rec)
				})
			}
		}
		rec, _ := fixedTable(uint64(i), 40, nulls, layout{})
		sameRows(t, writeOwn(t, format.WriteOptions{}, 0, rec), rec)
	}
}

// lists makes lists of the lengths given, a negative one a null.
func lists(lengths ...int) arrow.RecordBatch {
	b := array.NewListBuilder(memory.DefaultAllocator, arrow.PrimitiveTypes.Float32)
	defer b.Release()
	values := b.ValueBuilder().(*array.Float32Builder)
	for i, n := range lengths {
		if n < 0 {
			b.AppendNull()
			continue
		}
		b.Append(true)
		for k := range n {
			values.Append(float32(100*i + k))
		}
	}
	return table(column{"l", b.NewArray(), true})
}

func TestFilesMayDifferInWhetherListsHaveOneSize(t *testing.T) {
	d := newDice(3)
	fixed := table(column{"l", d.values(arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), true, 20), true})
	plain := lists(3, -1, 3)
	for _, files := range [][]arrow.RecordBatch{{fixed, plain}, {plain, fixed}} {
		src := sourceOf(writeOwn(t, format.WriteOptions{}, 0, files[0]), writeOwn(t, format.WriteOptions{}, 0, files[1]))
		_, rows, err := readDigest(t, src, format.Options{}, 1<<26, stream.Cursor{})
		if err != nil || rows != 23 {
			t.Errorf("%d rows, %v", rows, err)
		}
	}
}

// TestListsOfAnotherSizeAreDamage: the second file is read as the first one's
// Arrow schema says, and is not like that.
func TestListsOfAnotherSizeAreDamage(t *testing.T) {
	d := newDice(3)
	first := writeOwn(t, format.WriteOptions{}, 0,
		table(column{"l", d.values(arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32), true, 4), true}))
	for _, c := range []struct {
		lengths []int
		want    string
	}{
		{[]int{3, 3, 2, 4}, "row 2: a list of 2 values, by the file's Arrow schema it has 3"},
		{[]int{3, 4, 2, 3}, "row 1: a list of 4 values"},
		{[]int{3, -1, 0, 3, 4, 4}, "row 2: a list of 0 values"},
		{[]int{3, 0, 3}, "row 1: a list of 0 values"},
		{[]int{3, 3, 2}, "8 values in 3 rows, which are lists of 3"},
		{[]int{3, 3, 4}, "10 values in 3 rows"},
	} {
		src := sourceOf(first, write(t, lists(c.lengths...), layout{}))
		_, _, err := readDigest(t, src, format.Options{}, 1<<26, stream.Cursor{})
		if !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "part-1: row group 0, column \"l") {
			t.Errorf("lists of %v: %v", c.lengths, err)
		}
	}
}

// TestFixedSizeListsFromEveryRow: pages are passed over also where they end
// inside a row.
func TestFixedSizeListsFromEveryRow(t *testing.T) {
	for _, dict := range []bool{false, true} {
		for _, nulls := range []float64{0, 0.2} {
			rec, file := fixedTable(5, 20, nulls, layout{dict: dict, page: 400, group: 13})
			src := sourceOf(file(t))
			for row := range rec.NumRows() {
				rest := rec.NewSlice(row, rec.NumRows())
				got, _, err := readDigest(t, src, format.Options{}, 0, stream.Cursor{Row: row})
				if want := digestOf(t, rest); err != nil || got != want {
					t.Errorf("nulls %v, dict %v, from row %d: right: %v, %v", nulls, dict, row, got == want, err)
				}
				rest.Release()
			}
		}
	}
}

func BenchmarkFixedSizeLists(b *testing.B) {
	for _, width := range []int{8, 3072} {
		d := newDice(1)
		d.size = width
		rec := table(column{"x", d.values(arrow.ListOf(arrow.PrimitiveTypes.Float32), true, 1<<20/width), true})
		fixed := arrow.NewSchema([]arrow.Field{field("x", arrow.FixedSizeListOf(int32(width), arrow.PrimitiveTypes.Float32), true)}, nil)
		for name, remark := range map[string]*arrow.Schema{"lists": nil, "fixed-size lists": fixed} {
			src := sourceOf(write(b, rec, layout{remark: remark, page: 1 << 20}))
			b.Run(fmt.Sprintf("%s of %d", name, width), func(b *testing.B) {
				b.SetBytes(4 << 20)
				for b.Loop() {
					benchRead(b, src)
				}
			})
		}
	}
}

// benchRead reads all rows and drops them.
func benchRead(b *testing.B, src format.Source) {
	ctx := context.Background()
	ds, err := Plan(ctx, src, format.Options{})
	if err != nil {
		b.Fatal(err)
	}
	share := mem.New(1 << 26)
	defer empty(b, share)
	s, err := ds.Open(ctx, share, stream.Cursor{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for {
		x, err := s.Next(ctx)
		if err != nil {
			return
		}
		x.Release()
	}
}
