// Package runtest makes datasets for tests of whatever takes batches.
package runtest

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Schema has a column of every kind that weir moves.
func Schema() *arrow.Schema {
	text := arrow.BinaryTypes.String
	message := arrow.StructOf(
		arrow.Field{Name: "role", Type: text, Nullable: true},
		arrow.Field{Name: "content", Type: text, Nullable: true})
	var fields []arrow.Field
	for name, t := range []arrow.DataType{
		arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float32, arrow.FixedWidthTypes.Boolean,
		text, arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeString,
		&arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.Decimal128Type{Precision: 20, Scale: 3},
		arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
		arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time64us, arrow.Null,
		arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListOf(message),
		arrow.LargeListOf(text), arrow.FixedSizeListOf(3, arrow.PrimitiveTypes.Float32),
		arrow.MapOf(text, arrow.PrimitiveTypes.Int64), message,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: text},
	} {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("c%02d", name), Type: t, Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// Random makes rows with about one null in ten, on the Go heap.
func Random(schema *arrow.Schema, rows int, seed uint64) arrow.RecordBatch {
	rnd := rand.New(rand.NewPCG(seed, 7))
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, f := range b.Fields() {
		for range rows {
			fill(f, rnd)
		}
	}
	return b.NewRecordBatch()
}

// words have what text formats must escape.
var words = []string{"", "a", "bc", "say \"x\", y", "line\nline\r\n", "tab\t\x01", "größe", "漢字🙂", `back\slash`, " pad "}

func fill(b array.Builder, rnd *rand.Rand) {
	if rnd.IntN(10) == 0 {
		b.AppendNull()
		return
	}
	word := func() string { return words[rnd.IntN(len(words))] }
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(word())
	case *array.LargeStringBuilder:
		b.Append(word())
	case *array.BinaryDictionaryBuilder:
		b.AppendString(word())
	case *array.BinaryBuilder:
		b.Append([]byte(word()))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(fmt.Sprintf("%05d", rnd.IntN(1e5))))
	case *array.BooleanBuilder:
		b.Append(rnd.IntN(2) == 0)
	case *array.Decimal128Builder:
		b.Append(decimal128.FromI64(rnd.Int64() - math.MaxInt64/2))
	case *array.Float64Builder:
		b.Append(float(rnd))
	case *array.Float32Builder:
		b.Append(float32(float(rnd)))
	case *array.NullBuilder:
		b.AppendNull()
	default:
		fillWhole(b, rnd)
	}
}

// fillWhole appends a value of a type that is a number at heart, or nested.
func fillWhole(b array.Builder, rnd *rand.Rand) {
	many := func(v array.Builder) {
		for range rnd.IntN(4) {
			fill(v, rnd)
		}
	}
	switch b := b.(type) {
	case *array.Int64Builder:
		b.Append(rnd.Int64() - rnd.Int64())
	case *array.Int32Builder:
		b.Append(rnd.Int32())
	case *array.Int8Builder:
		b.Append(int8(rnd.IntN(256) - 128))
	case *array.Uint64Builder:
		b.Append(rnd.Uint64())
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(rnd.Int64N(4e15) - 2e15))
	case *array.Date32Builder:
		b.Append(arrow.Date32(rnd.IntN(80_000) - 40_000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(rnd.Int64N(86_400e6)))
	case *array.MapBuilder:
		b.Append(true)
		for i := range rnd.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprintf("k%d", i))
			fill(b.ItemBuilder(), rnd)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range 3 {
			fill(b.ValueBuilder(), rnd)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			fill(b.FieldBuilder(i), rnd)
		}
	case *array.ListBuilder:
		b.Append(true)
		many(b.ValueBuilder())
	case *array.LargeListBuilder:
		b.Append(true)
		many(b.ValueBuilder())
	default:
		panic(fmt.Sprintf("runtest: no values for %s", b.Type()))
	}
}

func float(rnd *rand.Rand) float64 {
	switch rnd.IntN(20) {
	case 0:
		return math.NaN()
	case 1:
		return math.Inf(1 - 2*rnd.IntN(2))
	case 2:
		return math.Copysign(0, -1)
	}
	return math.Ldexp(rnd.Float64()-0.5, rnd.IntN(120)-60)
}
