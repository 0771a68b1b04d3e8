package arrays

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

var numberTypes = []arrow.DataType{
	arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Float16, arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
}

// numbers are columns of one type, or of all in turn, of which some have nulls.
func numbers(tb testing.TB, rnd *rand.Rand, width, rows int, only arrow.DataType) arrow.RecordBatch {
	var fields []arrow.Field
	var cols []arrow.Array
	for i := range width {
		t := only
		if t == nil {
			t = numberTypes[rnd.IntN(len(numberTypes))]
		}
		b := array.NewBuilder(memory.DefaultAllocator, t)
		null := only == nil && rnd.IntN(3) == 0
		for range rows {
			v := strconv.Itoa(rnd.IntN(100))
			switch {
			case null && rnd.IntN(5) == 0:
				b.AppendNull()
				continue
			case t.ID() == arrow.BOOL:
				v = strconv.FormatBool(rnd.IntN(2) == 0)
			case arrow.IsFloating(t.ID()):
				v += ".25"
			}
			if err := b.AppendValueFromString(v); err != nil {
				tb.Fatal(err)
			}
		}
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: t, Nullable: true})
		cols = append(cols, b.NewArray())
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), cols, int64(rows))
}

// value is one of a column, the plain way.
func value(tb testing.TB, c arrow.Array, i int) float64 {
	switch text := c.ValueStr(i); {
	case c.IsNull(i):
		return math.NaN()
	case text == "true":
		return 1
	case text == "false":
		return 0
	default:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func TestInterleavedRowsAreTheColumnsSideBySide(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{0, 1, 7, 8, 9, 24, 31, 300} {
		for _, only := range []arrow.DataType{nil, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64} {
			rec := numbers(t, rnd, width, 300, only)
			at := rnd.Perm(width)
			from, n := rnd.IntN(100), 1+rnd.IntN(200)
			f8 := &table[float64]{cast: arrow.Float64Traits.CastFromBytes}
			f4 := &table[float32]{cast: arrow.Float32Traits.CastFromBytes}
			got8, got4 := make([]byte, 8*n*width), make([]byte, 4*n*width)
			f8.take(rec, at)
			f8.rows(got8, from, n)
			f4.take(rec, at)
			f4.rows(got4, from, n)
			for i := range n * width {
				want := value(t, rec.Column(at[i%width]), from+i/width)
				g8 := math.Float64frombits(binary.LittleEndian.Uint64(got8[8*i:]))
				g4 := float64(math.Float32frombits(binary.LittleEndian.Uint32(got4[4*i:])))
				if math.IsNaN(want) != math.IsNaN(g8) || math.IsNaN(want) != math.IsNaN(g4) || !math.IsNaN(want) && (g8 != want || g4 != want) {
					t.Fatalf("%d columns of %v: row %d, column %d: %v and %v, want %v", width, only, i/width, i%width, g8, g4, want)
				}
			}
		}
	}
}

func BenchmarkInterleave(b *testing.B) {
	for _, width := range []int{1, 8, 40, 1000} {
		rows := (2 << 20) / 4 / width
		rec := numbers(b, rand.New(rand.NewPCG(1, 2)), width, rows, arrow.PrimitiveTypes.Float32)
		t := &table[float32]{cast: arrow.Float32Traits.CastFromBytes}
		at := make([]int, width)
		for i := range at {
			at[i] = i
		}
		dst := make([]byte, rows*width*4)
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			b.SetBytes(int64(len(dst)))
			for b.Loop() {
				t.take(rec, at)
				t.rows(dst, 0, rows)
			}
		})
	}
}
