package parquet

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// TestWriterStoresOtherTypes: types that weir's reader gives back as others,
// as Arrow's text has their values.
func TestWriterStoresOtherTypes(t *testing.T) {
	dict := func(index arrow.DataType) arrow.DataType {
		return &arrow.DictionaryType{IndexType: index, ValueType: arrow.BinaryTypes.String}
	}
	for _, c := range []struct {
		in   arrow.DataType
		text string
		out  arrow.DataType // what comes back
		want string         // its text; empty: the same
	}{
		{arrow.BinaryTypes.LargeString, `["a", null, "", "ccc"]`, arrow.BinaryTypes.String, ""},
		{arrow.BinaryTypes.LargeBinary, `["YQ==", null, ""]`, arrow.BinaryTypes.Binary, ""},
		{arrow.BinaryTypes.StringView, `["short", null, "longer than twelve bytes"]`, arrow.BinaryTypes.String, ""},
		{arrow.LargeListOf(arrow.PrimitiveTypes.Int8), `[[1, null], null, [], [-3]]`, arrow.ListOf(arrow.PrimitiveTypes.Int8), ""},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), `[[1, 2], null, [3, null]]`, arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int16), ""},
		{dict(arrow.PrimitiveTypes.Int8), `["b", "a", null, "b"]`, arrow.BinaryTypes.String, ""},
		{dict(arrow.PrimitiveTypes.Uint16), `["b", "a", null, "b"]`, arrow.BinaryTypes.String, ""},
		{dict(arrow.PrimitiveTypes.Int64), `["b", "a", null, "b"]`, arrow.BinaryTypes.String, ""},
		{arrow.ListOf(dict(arrow.PrimitiveTypes.Int32)), `[["x", null], [], null, ["y"]]`, arrow.ListOf(arrow.BinaryTypes.String), ""},
		{arrow.Null, `[null, null]`, arrow.Null, ""},
		{arrow.ListOf(arrow.Null), `[[null], [], null]`, arrow.ListOf(arrow.Null), ""},
		{arrow.FixedWidthTypes.Date64, `["1970-01-02", "1969-12-30", null]`, arrow.FixedWidthTypes.Date32, ""},
		{arrow.FixedWidthTypes.Time32s, `["10:00:01", null]`, arrow.FixedWidthTypes.Time32ms, `["10:00:01.000", null]`},
		{&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Asia/Tokyo"}, `["2020-01-01 00:00:00Z"]`,
			&arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "Asia/Tokyo"}, ""},
		{arrow.FixedWidthTypes.Duration_us, `["5us", null]`, arrow.FixedWidthTypes.Duration_us, ""},
		{&arrow.Decimal32Type{Precision: 7, Scale: 2}, `["1.25", null, "-0.01"]`, &arrow.Decimal128Type{Precision: 7, Scale: 2}, ""},
		{&arrow.Decimal64Type{Precision: 12, Scale: 2}, `["1.25", null, "-0.01"]`, &arrow.Decimal128Type{Precision: 12, Scale: 2}, ""},
	} {
		if c.want == "" {
			c.want = c.text
		}
		in := fromText(t, c.in, c.text)
		want := fromText(t, c.out, c.want)
		file := writeOwn(t, format.WriteOptions{}, 0, table(column{"c", in, true}))
		got := readColumn(t, file, "c")
		if !array.Equal(got, want) {
			t.Errorf("%s: %v, want %v of %s", c.in, got, want, c.out)
		}
	}
}

func fromText(t *testing.T, typ arrow.DataType, text string) arrow.Array {
	t.Helper()
	b := array.NewBuilder(memory.DefaultAllocator, typ)
	if err := b.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatalf("%s: %v", typ, err)
	}
	return b.NewArray()
}

func TestWriterRefusesNullsWhereTheSchemaHasNone(t *testing.T) {
	d := newDice(1)
	d.nulls = 0.5
	rec := table(column{"c", d.values(arrow.PrimitiveTypes.Int64, true, 50), false})
	_, err := writeTo(t, &memoryOut{left: -1}, format.WriteOptions{}, 0, rec)
	want := `parquet: column "c": a null where the schema allows none`
	if err == nil || err.Error() != want {
		t.Errorf("%v; want %s", err, want)
	}
}

// TestWriterIndexesItsPages: the offset index tells every page and its rows.
func TestWriterIndexesItsPages(t *testing.T) {
	d := newDice(2)
	d.nulls = 0.1
	rec := mixed(d, 3000)
	file := writeOwn(t, format.WriteOptions{RowGroup: 200_000}, 0, rec)
	src := sourceOf(file)
	r, err := src.Store.Open(t.Context(), src.Objects[0])
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	f, err := meta.Read(t.Context(), r, "x", mem.New(1<<24))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var leaves []int
	for i := range f.Schema.Leaves {
		leaves = append(leaves, i)
	}
	pages := 0
	for g := range f.Groups() {
		chunks, err := f.Chunks(t.Context(), g, leaves, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range chunks {
			index := file[c.OffsetIndex : c.OffsetIndex+int64(c.OffsetIndexLen)]
			at, err := meta.ParseOffsetIndex(index, nil)
			if err != nil || len(at) == 0 || at[0].Offset != c.DataOffset || at[0].FirstRow != 0 {
				t.Fatalf("row group %d, leaf %d: %v %v", g, c.Leaf, at, err)
			}
			end := c.Start + c.Compressed
			for i, p := range at {
				h, n, err := meta.ParsePageHeader(file[p.Offset:])
				if err != nil || h.Kind != meta.DataPage || n+int(h.Compressed) != int(p.Size) {
					t.Fatalf("row group %d, leaf %d, page %d: %+v %v", g, c.Leaf, i, h, err)
				}
				if i == len(at)-1 && p.Offset+int64(p.Size) != end {
					t.Errorf("the last page ends at %d, the chunk at %d", p.Offset+int64(p.Size), end)
				}
			}
			pages += len(at)
		}
	}
	if f.Groups() < 2 || pages <= len(leaves)*f.Groups() {
		t.Errorf("%d pages in %d row groups: too few to show anything", pages, f.Groups())
	}
}

// TestWriterLongFilesInTheLeastMemory: the footer grows with the file, row
// groups shrink, and it still fits.
func TestWriterLongFilesInTheLeastMemory(t *testing.T) {
	d := newDice(5)
	rec := table(column{"a", d.values(arrow.PrimitiveTypes.Int64, true, 20_000), true},
		column{"b", d.values(arrow.BinaryTypes.String, true, 20_000), true},
		column{"c", d.values(arrow.PrimitiveTypes.Float64, false, 20_000), false})
	out := &memoryOut{left: -1}
	opt := format.WriteOptions{PartSize: 6 << 20}
	least, _, err := Writer().Memory(rec.Schema(), opt)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Writer().Begin(out, rec.Schema(), opt, mem.New(least))
	if err != nil {
		t.Fatal(err)
	}
	for f.Size() < opt.PartSize {
		if err := f.Write(&stream.Batch{Record: rec}); err != nil {
			t.Fatalf("after %d bytes in %s: %v", f.Size(), mem.Format(least), err)
		}
	}
	if _, err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if least > 1<<20 {
		t.Errorf("the least memory is %s", mem.Format(least))
	}
}

func TestWriterWideTables(t *testing.T) {
	const columns = 3000
	r := rand.New(rand.NewPCG(1, 1))
	var cols []column
	for i := range columns {
		b := array.NewFloat32Builder(memory.DefaultAllocator)
		for range 40 {
			b.Append(r.Float32())
		}
		cols = append(cols, column{fmt.Sprintf("column_%05d", i), b.NewArray(), true})
	}
	rec := table(cols...)
	opt := format.WriteOptions{Threads: 2, PartSize: 1 << 20}
	file := writeOwn(t, opt, 0, rec, rec)
	got, rows, err := readRetry(t, sourceOf(file), format.Options{}, 1<<28, stream.Cursor{})
	if err != nil || rows != 80 || got == "" {
		t.Errorf("%d rows, %v", rows, err)
	}
	least, _, err := Writer().Memory(rec.Schema(), opt)
	if err != nil || least > 20<<20 {
		t.Errorf("%d columns need %s, %v", columns, mem.Format(least), err)
	}
}
