package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
)

// hungry is rows that compress badly, with more dictionaries than have room,
// and texts of which some are longer than a page.
func hungry(columns, rows int) arrow.RecordBatch {
	var fields []arrow.Field
	for i := range columns {
		typ := []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float32}[i%4]
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: i%3 == 0})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	rnd := rand.New(rand.NewPCG(5, 6))
	long := make([]byte, 5000)
	for i := range rows {
		for k, f := range b.Fields() {
			switch f := f.(type) {
			case *array.Float64Builder:
				f.Append(rnd.NormFloat64())
			case *array.Float32Builder:
				f.Append(float32(rnd.IntN(900)))
			case *array.Int64Builder:
				f.Append(rnd.Int64N(3000) * 0x123456789abc)
			case *array.StringBuilder:
				text := fmt.Sprint("word", rnd.IntN(4000))
				if (i+k)%997 == 0 {
					for j := range long {
						long[j] = byte(33 + rnd.IntN(90))
					}
					text = string(long)
				}
				f.Append(text)
			}
		}
	}
	return b.NewRecordBatch()
}

// letters is a record of n rows of random letters, of which every tenth is as long
// as it says.
func letters(mem memory.Allocator, n, long int) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil))
	defer b.Release()
	rnd := rand.New(rand.NewPCG(7, 8))
	for i := range n {
		text := make([]byte, 100)
		if i%10 == 9 {
			text = make([]byte, long)
		}
		for k := range text {
			text[k] = byte(33 + rnd.IntN(90))
		}
		b.Field(0).(*array.StringBuilder).Append(string(text))
	}
	return b.NewRecordBatch()
}

func TestRowGroupsSideBySideHoldRowsLargerThanThemselves(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	rec := letters(alloc, 40, 3<<20)
	defer rec.Release()
	recs := pieces(rec, 5, 12, 30)
	defer func() {
		for _, r := range recs {
			r.Release()
		}
	}()
	opt := format.WriteOptions{Steady: true, RowGroup: 1 << 20, PartSize: 16 << 20}
	want := writeOwn(t, opt, 64<<20, recs...)
	for opt.Groups = 2; opt.Groups < 6; opt.Groups++ {
		if got := writeOwn(t, opt, 64<<20, recs...); !bytes.Equal(got, want) {
			t.Errorf("%d row groups side by side: %d bytes, %d with one", opt.Groups, len(got), len(want))
		}
	}
}

func TestRowGroupsSideBySideEndWithTheOutputsError(t *testing.T) {
	alloc := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer alloc.AssertSize(t, 0)
	rec := letters(alloc, 20_000, 1000)
	defer rec.Release()
	recs := pieces(rec, 500, 3000, 3100, 9000, 15_000)
	defer func() {
		for _, r := range recs {
			r.Release()
		}
	}()
	opt := format.WriteOptions{Steady: true, RowGroup: 256 << 10, PartSize: 16 << 20, Groups: 3}
	size := len(writeOwn(t, opt, 0, recs...))
	for left := 0; left < size; left += size/20 + 1 {
		if _, err := writeTo(t, &memoryOut{left: left}, opt, 0, recs...); !errors.Is(err, errFull) {
			t.Errorf("%d of %d bytes: %v", left, size, err)
		}
	}
}

func TestSteadyFilesDoNotDependOnMemoryAndThreads(t *testing.T) {
	for _, columns := range []int{3, 40, 300} {
		rec := hungry(columns, 600_000/columns)
		recs := pieces(rec, 1000, 1500)
		for _, codec := range []string{"snappy", "none", "zstd"} {
			opt := format.WriteOptions{Steady: true, Threads: 1, RowGroup: 1 << 20, PartSize: 16 << 20, Codec: codec}
			want := writeOwn(t, opt, 0, recs...)
			for _, v := range []struct {
				threads int
				share   int64
				groups  int
			}{{2, 0, 1}, {4, 0, 3}, {7, 256 << 20, 0}, {1, 256 << 20, 2}} {
				opt.Threads, opt.Groups = v.threads, v.groups
				if got := writeOwn(t, opt, v.share, recs...); !bytes.Equal(got, want) {
					t.Errorf("%d columns, %s, %+v: %d bytes, %d with one thread", columns, codec, v, len(got), len(want))
				}
			}
		}
	}
}
