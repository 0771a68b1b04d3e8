package parquet

import (
	"bytes"
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
			}{{2, 0}, {4, 0}, {7, 256 << 20}, {1, 256 << 20}} {
				opt.Threads = v.threads
				if got := writeOwn(t, opt, v.share, recs...); !bytes.Equal(got, want) {
					t.Errorf("%d columns, %s, %+v: %d bytes, %d with one thread", columns, codec, v, len(got), len(want))
				}
			}
		}
	}
}
