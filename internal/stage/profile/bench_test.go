package profile

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// benchmarkAdd adds one column of 16Ki values, as batches are written.
func benchmarkAdd(b *testing.B, t arrow.DataType, value func(i int) float64) {
	const rows = 16 << 10
	v, nulls := make([]float64, rows), make([]bool, rows)
	for i := range v {
		v[i] = value(i)
		nulls[i] = v[i] == math.MaxFloat64
	}
	col := column(t, v, nulls)
	defer col.Release()
	p := New(arrow.NewSchema([]arrow.Field{{Name: "x", Type: t, Nullable: true}}, nil))
	b.SetBytes(rows * int64(t.(arrow.FixedWidthDataType).BitWidth()) / 8)
	for b.Loop() {
		p.AddColumn(0, col, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/value")
}

// column builds an array of numbers.
func column(t arrow.DataType, v []float64, nulls []bool) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	for i, x := range v {
		if nulls != nil && nulls[i] {
			b.AppendNull()
			continue
		}
		switch b := b.(type) {
		case *array.Float64Builder:
			b.Append(x)
		case *array.Float32Builder:
			b.Append(float32(x))
		case *array.Int64Builder:
			b.Append(int64(x))
		case *array.Uint8Builder:
			b.Append(uint8(x))
		case *array.BooleanBuilder:
			b.Append(x != 0)
		}
	}
	return b.NewArray()
}

func normal(int) float64 { return rand.NormFloat64() }

func BenchmarkStandardFloat32(b *testing.B) { benchmarkAdd(b, arrow.PrimitiveTypes.Float32, normal) }
func BenchmarkStandardFloat64(b *testing.B) { benchmarkAdd(b, arrow.PrimitiveTypes.Float64, normal) }
func BenchmarkOffsetFloat64(b *testing.B) {
	benchmarkAdd(b, arrow.PrimitiveTypes.Float64, func(int) float64 { return 1e6 + rand.NormFloat64() })
}
func BenchmarkOneHotFloat32(b *testing.B) {
	benchmarkAdd(b, arrow.PrimitiveTypes.Float32, func(int) float64 { return float64(rand.IntN(10) / 9) })
}
func BenchmarkNaNs(b *testing.B) {
	benchmarkAdd(b, arrow.PrimitiveTypes.Float64, func(i int) float64 {
		if i%50 == 0 {
			return math.NaN()
		}
		return rand.NormFloat64()
	})
}
func BenchmarkNulls(b *testing.B) {
	benchmarkAdd(b, arrow.PrimitiveTypes.Float64, func(i int) float64 {
		if i%7 == 0 {
			return math.MaxFloat64
		}
		return rand.NormFloat64()
	})
}
func BenchmarkInt64(b *testing.B) {
	benchmarkAdd(b, arrow.PrimitiveTypes.Int64, func(int) float64 { return float64(rand.IntN(1000)) })
}

func BenchmarkShape(b *testing.B) {
	const rows = 16 << 10
	v := make([]float64, rows)
	for i := range v {
		v[i] = rand.NormFloat64()
	}
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64}}, nil)
	rec := array.NewRecordBatch(schema, []arrow.Array{column(arrow.PrimitiveTypes.Float64, v, nil)}, rows)
	s := NewShapes(schema, []string{"x"})
	for b.Loop() {
		s.Add(rec, nil)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/rows, "ns/value")
}
