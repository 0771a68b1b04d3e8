package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// sourceOf is files in memory, called 0, 1, and so on.
func sourceOf(files ...[]byte) format.Source {
	all := runtest.Objects{}
	src := format.Source{Store: all}
	for i, f := range files {
		name := fmt.Sprint(i)
		all[name] = string(f)
		src.Objects = append(src.Objects, store.Object{URL: name, Size: int64(len(f))})
	}
	return src
}

// readAll reads with a share, or with the floor where that is 0, and hands out
// every batch. It holds that nothing is left leased.
func readAll(t testing.TB, src format.Source, opt format.Options, share int64, each func(*stream.Batch)) error {
	t.Helper()
	ds, err := Plan(context.Background(), src, opt)
	if err != nil {
		return err
	}
	if share == 0 {
		share = ds.Floor()
	}
	b := mem.New(share)
	defer runtestEmpty(t, b)
	s, err := ds.Open(context.Background(), b, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	rows := int64(0)
	for {
		batch, err := s.Next(context.Background())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		rows += batch.Rows()
		each(batch)
		batch.Release()
	}
	if rows != ds.Info().Rows {
		t.Errorf("%d rows, planned were %d", rows, ds.Info().Rows)
	}
	return nil
}

func runtestEmpty(t testing.TB, b *mem.Budget) {
	t.Helper()
	if b.Leased() != 0 || b.Used() != 0 {
		t.Errorf("%d bytes still leased, %d used", b.Leased(), b.Used())
	}
	b.Trim()
}

// same holds that reading gives the rows of the records, which no batch goes
// beyond.
func same(t *testing.T, src format.Source, opt format.Options, share int64, want ...arrow.RecordBatch) {
	t.Helper()
	at, all := int64(0), int64(0)
	err := readAll(t, src, opt, share, func(b *stream.Batch) {
		n := b.Rows()
		for len(want) > 0 && at == want[0].NumRows() {
			at, want = 0, want[1:]
		}
		if len(want) == 0 || at+n > want[0].NumRows() {
			t.Fatalf("more rows than were written")
		}
		for i, c := range b.Record.Columns() {
			if !sameValues(c, want[0].Column(i), at) {
				t.Fatalf("column %d, a %s: rows %d to %d differ", i, c.DataType(), at, at+n)
			}
		}
		at += n
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range want {
		all += r.NumRows()
	}
	if at != all {
		t.Fatalf("%d rows are missing", all-at)
	}
}

// sameValues compares got with the rows of want from at on; dictionaries by
// what their indices stand for.
func sameValues(got, want arrow.Array, at int64) bool {
	n := int64(got.Len())
	if got.DataType().ID() != arrow.DICTIONARY {
		return array.SliceEqual(got, 0, n, want, at, at+n)
	}
	for i := range int(n) {
		if got.IsNull(i) != want.IsNull(i+int(at)) || got.IsValid(i) && got.ValueStr(i) != want.ValueStr(i+int(at)) {
			return false
		}
	}
	return true
}

// everyType is one of each.
var everyType = []arrow.DataType{
	arrow.Null, arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint64,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	&arrow.Decimal32Type{Precision: 9, Scale: 2}, &arrow.Decimal64Type{Precision: 18, Scale: 2},
	&arrow.Decimal128Type{Precision: 38, Scale: -2}, &arrow.Decimal256Type{Precision: 76, Scale: 3},
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64ns,
	arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Second}, arrow.FixedWidthTypes.Duration_ns,
	arrow.FixedWidthTypes.MonthInterval, arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval,
	&arrow.FixedSizeBinaryType{ByteWidth: 5},
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.LargeBinary,
	arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView,
	arrow.ListOf(arrow.BinaryTypes.String), arrow.LargeListOf(arrow.FixedWidthTypes.Boolean), arrow.ListOf(chat),
	arrow.ListViewOf(arrow.BinaryTypes.String), arrow.LargeListViewOf(i32),
	arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean), arrow.FixedSizeListOf(2, arrow.ListOf(i32)),
	chat, arrow.MapOf(str, arrow.ListOf(i32)),
	arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: i32, Nullable: true}, {Name: "b", Type: str, Nullable: true}}, []arrow.UnionTypeCode{5, 9}),
	arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: i32, Nullable: true}, {Name: "b", Type: str, Nullable: true}}, []arrow.UnionTypeCode{0, 100}),
	arrow.ListOf(arrow.DenseUnionOf([]arrow.Field{{Name: "a", Type: i32, Nullable: true}, {Name: "b", Type: arrow.ListOf(str), Nullable: true}}, []arrow.UnionTypeCode{0, 1})),
	arrow.RunEndEncodedOf(i32, str), arrow.ListOf(arrow.RunEndEncodedOf(i32, arrow.PrimitiveTypes.Float64)),
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: str},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Float64, Ordered: true},
	&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: arrow.ListOf(i32)},
	arrow.ListOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: str}),
}

// TestEveryType reads each type whole, and in slices that are copied from the
// file or from a compressed batch.
func TestEveryType(t *testing.T) {
	for i, typ := range everyType {
		t.Run(typ.String(), func(t *testing.T) {
			d := newDice(uint64(i))
			small, large := []arrow.RecordBatch{d.table(33, typ), d.table(67, typ)}, []arrow.RecordBatch{d.table(1200, typ), d.table(100, typ)}
			if strings.Contains(typ.String(), "dictionary") {
				small, large = cut(d.table(100, typ), 33), cut(d.table(1300, typ), 1200) // one for all
			}
			for _, asStream := range []bool{false, true} {
				same(t, sourceOf(write(t, asStream, small)), format.Options{}, 0, small...)
				same(t, sourceOf(write(t, asStream, large)), format.Options{}, 0, large...)
				same(t, sourceOf(write(t, asStream, large)), format.Options{BatchRows: 377}, 0, large...)
			}
			for _, opt := range []ipc.Option{ipc.WithLZ4(), ipc.WithZstd()} {
				file := write(t, false, large, opt)
				same(t, sourceOf(file), format.Options{BatchRows: 499}, 0, large...)
				same(t, sourceOf(file), format.Options{Threads: 2}, 64<<20, large...)
			}
		})
	}
}

// TestGiantBatch reads one batch of 7 MB in a share of 700 KiB.
func TestGiantBatch(t *testing.T) {
	d := newDice(1)
	d.nulls = 0.01
	rec := d.table(100_000, arrow.PrimitiveTypes.Int64, str, arrow.ListOf(arrow.PrimitiveTypes.Int64), arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.StringView)
	file := write(t, false, []arrow.RecordBatch{rec})
	if len(file) < 7_000_000 {
		t.Fatalf("the file has only %d bytes", len(file))
	}
	for _, threads := range []int{1, 3} {
		same(t, sourceOf(file), format.Options{Threads: threads}, 700<<10, rec)
	}
}

// TestGiantRow: rows of megabytes among small ones are read if the share has
// room for two of them, and refused with a number otherwise.
func TestGiantRow(t *testing.T) {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i := range 3000 {
		b.Append(strings.Repeat("x", 100))
		if i == 1700 {
			b.Append(strings.Repeat("y", 5<<20))
		}
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: str}}, nil)
	rec := array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, 3001)
	src := sourceOf(write(t, true, []arrow.RecordBatch{rec}))
	same(t, src, format.Options{}, 16<<20, rec)
	err := readAll(t, src, format.Options{}, 4<<20, func(*stream.Batch) {})
	if small, ok := errors.AsType[*mem.TooSmallError](err); !ok || small.Need <= 4<<20 {
		t.Fatalf("in 4 MiB: %v", err)
	} else {
		same(t, src, format.Options{}, 2*small.Need, rec)
	}
}

// TestColumnsReadNothingElse: chosen columns come in the order wanted, and the
// buffers of others are not read.
func TestColumnsReadNothingElse(t *testing.T) {
	d := newDice(4)
	rec := d.table(4000, str, arrow.BinaryTypes.StringView, i32, chat, arrow.ListOf(i32))
	want := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{rec.Schema().Field(4), rec.Schema().Field(2)}, nil),
		[]arrow.Array{rec.Column(4), rec.Column(2)}, rec.NumRows())
	for _, opt := range [][]ipc.Option{nil, {ipc.WithZstd()}} {
		src := sourceOf(write(t, false, cut(rec, 3000), opt...))
		same(t, src, format.Options{Columns: []string{"c4", "c2"}}, 0, cut(want, 3000)...)
		ds, err := Plan(t.Context(), src, format.Options{Columns: []string{"c4", "c2"}})
		if err != nil {
			t.Fatal(err)
		}
		if n := ds.Info().Bytes; n > src.Objects[0].Size/2 {
			t.Errorf("%d of %d bytes are of two columns", n, src.Objects[0].Size)
		}
	}
	if _, err := Plan(t.Context(), sourceOf(write(t, false, cut(rec, 1))), format.Options{Columns: []string{"none"}}); !errors.Is(err, format.ErrUsage) {
		t.Errorf("a column that is not there: %v", err)
	}
}

// TestSlicesOfEveryType: all types beside each other in batches too large to
// be read whole, copied from the file and from a compressed batch.
func TestSlicesOfEveryType(t *testing.T) {
	rec := newDice(5).table(600, everyType...)
	for _, opt := range [][]ipc.Option{nil, {ipc.WithLZ4()}} {
		src := sourceOf(write(t, true, []arrow.RecordBatch{rec}, opt...))
		same(t, src, format.Options{}, 0, rec)
		same(t, src, format.Options{BatchRows: 13}, 0, rec)
	}
}

// TestIndexIsMadeAgain: an index too large to be kept from planning is made
// when the file is opened.
func TestIndexIsMadeAgain(t *testing.T) {
	rec := newDice(6).table(60, i32, str)
	parts := cut(rec, 10, 0, 20)
	src := sourceOf(write(t, false, parts), write(t, true, parts))
	ds, err := Plan(t.Context(), src, format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := ds.(*dataset)
	d.kept, d.keptHeap = nil, 0
	share := mem.New(d.Floor())
	s, err := d.Open(t.Context(), share, stream.Cursor{Object: 0, Row: 15}, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for {
		b, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		rows += b.Rows()
		b.Release()
	}
	s.Close()
	if rows != 45+60 {
		t.Errorf("%d rows", rows)
	}
	runtestEmpty(t, share)
}

// TestMetadataIsKept: of the schema and of fields, where extension types have
// their names.
func TestMetadataIsKept(t *testing.T) {
	meta := arrow.NewMetadata([]string{"ARROW:extension:name"}, []string{"weir.test"})
	more := arrow.NewMetadata([]string{"huggingface"}, []string{"{}"})
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: i32, Metadata: meta}}, &more)
	rec := array.NewRecordBatch(schema, []arrow.Array{newDice(1).array(i32, 3)}, 3)
	ds, err := Plan(t.Context(), sourceOf(write(t, false, []arrow.RecordBatch{rec})), format.Options{})
	if err != nil || !ds.Schema().Equal(schema) || !ds.Schema().Metadata().Equal(more) || !ds.Schema().Field(0).Metadata.Equal(meta) {
		t.Errorf("%v, %v", ds.Schema(), err)
	}
}
