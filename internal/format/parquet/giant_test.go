package parquet

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// longLists makes lists of up to 3,000 elements, one in ten.
func longLists(d *dice, typ arrow.DataType, rows int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, typ).(*array.ListBuilder)
	defer b.Release()
	for range rows {
		n := d.IntN(3)
		if d.IntN(10) == 0 {
			n = d.IntN(3000)
		}
		b.Append(true)
		for range n {
			d.one(b.ValueBuilder(), true)
		}
	}
	return b.NewArray()
}

// texts makes a string column of these lengths.
func texts(lengths ...int) arrow.Array {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	defer b.Release()
	for i, n := range lengths {
		s := fmt.Sprintf("%d,", i)
		b.Append(strings.Repeat(s, n/len(s)+1)[:n])
	}
	return b.NewArray()
}

// enough reads with the share that the error of the try before asked for,
// beginning with the floor, and fails if more than a few tries are refused.
func enough(t *testing.T, file []byte, rec arrow.RecordBatch, opt format.Options) {
	t.Helper()
	want := digestOf(t, rec)
	share := int64(0)
	for range 8 {
		got, rows, err := readDigest(t, sourceOf(file), opt, share, stream.Cursor{})
		if err == nil {
			if got != want {
				t.Errorf("share %s: %d rows, want %d; not the ones written", mem.Format(share), rows, rec.NumRows())
			}
			return
		}
		small, ok := errors.AsType[*mem.TooSmallError](err)
		if !ok || small.Need <= share {
			t.Fatalf("share %s: %v", mem.Format(share), err)
		}
		share = small.Need
	}
	t.Errorf("refused again and again; the last one asks for %s, the data has %s", mem.Format(share), mem.Format(int64(len(file))))
}

// TestGiantValues: some values of megabytes among small ones, in any encoding.
func TestGiantValues(t *testing.T) {
	rec := table(
		column{"s", texts(3, 0, 5<<20, 10, 9, 700<<10, 1, 20<<20, 2, 4, 4, 100), false},
		column{"n", newDice(1).values(arrow.PrimitiveTypes.Int64, false, 12), false})
	for _, l := range []layout{
		{}, {v2: true, codec: compress.Codecs.Zstd}, {codec: compress.Codecs.Lz4Raw, page: 100},
		{each: map[string]pq.Encoding{"s": pq.Encodings.DeltaLengthByteArray}, codec: compress.Codecs.Gzip}, {dict: true, codec: compress.Codecs.Zstd},
		{each: map[string]pq.Encoding{"s": pq.Encodings.DeltaByteArray}},
	} {
		for _, threads := range []int{1, 2} {
			t.Run(fmt.Sprint(l, threads), func(t *testing.T) {
				enough(t, write(t, rec, l), rec, format.Options{Threads: threads})
			})
		}
	}
}

// TestGiantValuesOnly: where every value is large, the floor says so.
func TestGiantValuesOnly(t *testing.T) {
	rec := table(column{"s", texts(6<<20, 5<<20, 7<<20, 6<<20), false})
	file := write(t, rec, layout{codec: compress.Codecs.Zstd})
	got, rows, err := readDigest(t, sourceOf(file), format.Options{}, 0, stream.Cursor{})
	if err != nil || got != digestOf(t, rec) {
		t.Errorf("at the floor: %d rows, %v", rows, err)
	}
}

// TestTwoGiantsInARow: two columns, whose values find no room in a slab, at the
// floor.
func TestTwoGiantsInARow(t *testing.T) {
	rec := table(column{"a", texts(1<<20, 3<<20, 900<<10, 1<<20), false}, column{"i", newDice(1).values(arrow.PrimitiveTypes.Int8, false, 4), false},
		column{"b", texts(2<<20, 1<<20, 2<<20, 1<<20), false})
	for _, threads := range []int{1, 4} {
		file := write(t, rec, layout{codec: compress.Codecs.Zstd, v2: true})
		got, rows, err := readDigest(t, sourceOf(file), format.Options{Threads: threads}, 0, stream.Cursor{})
		if err != nil || got != digestOf(t, rec) {
			t.Errorf("at the floor: %d rows, %v", rows, err)
		}
	}
}

// TestLargeValuesLeaveRoomForTheRest: a value of any size up to two slabs
// beside a column whose rows must be carried over.
func TestLargeValuesLeaveRoomForTheRest(t *testing.T) {
	for size := 400 << 10; size < 1200<<10; size += 31 << 10 {
		lengths := make([]int, 9000)
		for i := range lengths {
			lengths[i] = 100
		}
		lengths[3000], lengths[7000] = size, size
		rec := table(column{"s", texts(lengths...), false},
			column{"n", newDice(1).values(arrow.PrimitiveTypes.Int64, false, 9000), false})
		enough(t, write(t, rec, layout{}), rec, format.Options{})
	}
}

// TestGiantRows: lists of a million elements.
func TestGiantRows(t *testing.T) {
	d := newDice(1)
	b := array.NewBuilder(memory.DefaultAllocator, arrow.ListOf(arrow.PrimitiveTypes.Int32)).(*array.ListBuilder)
	defer b.Release()
	for _, n := range []int{2, 0, 1_000_000, 5, 300_000, 1} {
		b.Append(true)
		for range n {
			d.one(b.ValueBuilder(), false)
		}
	}
	rec := table(column{"l", b.NewArray(), true}, column{"s", texts(1, 2, 3, 4, 5, 6), false})
	for _, l := range []layout{{codec: compress.Codecs.Snappy}, {v2: true, page: 1 << 20}} {
		file := write(t, rec, l)
		enough(t, file, rec, format.Options{})
		rest := rec.NewSlice(3, 6)
		got, _, err := readDigest(t, sourceOf(file), format.Options{}, 1<<28, stream.Cursor{Row: 3})
		if err != nil || got != digestOf(t, rest) {
			t.Errorf("%s: behind the giant row: %v", l, err)
		}
	}
}

// TestWideFixedValues: values of fixed length that are larger than a window.
func TestWideFixedValues(t *testing.T) {
	for _, width := range []int{300, 5000, 40_000} {
		d := newDice(1)
		d.nulls = 0.3
		rec := table(column{"f", d.values(&arrow.FixedSizeBinaryType{ByteWidth: width}, true, 50), true},
			column{"r", d.values(&arrow.FixedSizeBinaryType{ByteWidth: width}, false, 50), false})
		for _, l := range []layout{{codec: compress.Codecs.Zstd}, {v2: true}, {dict: true}} {
			sameRows(t, write(t, rec, l), rec)
			if t.Failed() {
				t.Fatalf("width %d, %s", width, l)
			}
		}
	}
}
