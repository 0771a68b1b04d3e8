package rows_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// anyType is a random type.
func anyType(r *rand.Rand, depth int) arrow.DataType {
	scalars := []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Float32,
		arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Timestamp_us, &arrow.Decimal128Type{Precision: 20, Scale: 3},
		arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.Binary, arrow.BinaryTypes.StringView, &arrow.FixedSizeBinaryType{ByteWidth: 5},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.PrimitiveTypes.Float64},
	}
	if depth > 0 {
		elem := func() arrow.Field { return arrow.Field{Name: "item", Type: anyType(r, depth-1), Nullable: true} }
		switch r.IntN(8) {
		case 0, 1:
			return arrow.ListOfField(elem())
		case 2:
			return arrow.LargeListOfField(elem())
		case 3:
			return arrow.FixedSizeListOfField(int32(1+r.IntN(3)), elem())
		case 4:
			a, b := elem(), elem()
			a.Name, b.Name = "a", "b"
			return arrow.StructOf(a, b)
		case 5:
			return arrow.MapOf(arrow.BinaryTypes.String, anyType(r, depth-1))
		}
	}
	return scalars[r.IntN(len(scalars))]
}

// grow appends a random value; nulls says that it may be none.
func grow(r *rand.Rand, b array.Builder, nulls bool) {
	if nulls && r.IntN(5) == 0 {
		b.AppendNull()
		return
	}
	word := strings.Repeat("worte, ", 4)[:r.IntN(5)*r.IntN(5)]
	many := func(v array.Builder, n int) {
		for range n {
			grow(r, v, nulls)
		}
	}
	switch b := b.(type) {
	case *array.BinaryDictionaryBuilder:
		b.AppendString(fmt.Sprint(r.IntN(20)))
	case *array.Float64DictionaryBuilder:
		b.Append(float64(r.IntN(20)))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(fmt.Sprintf("%05d", r.IntN(1e5))))
	case *array.StringBuilder:
		b.Append(word)
	case *array.LargeStringBuilder:
		b.Append(word)
	case *array.StringViewBuilder:
		b.Append(word)
	case *array.BinaryBuilder:
		b.Append([]byte(word))
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.MapBuilder:
		b.Append(true)
		for i := range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint(i))
			grow(r, b.ItemBuilder(), nulls)
		}
	case *array.ListBuilder:
		b.Append(true)
		many(b.ValueBuilder(), r.IntN(20))
	case *array.LargeListBuilder:
		b.Append(true)
		many(b.ValueBuilder(), r.IntN(4))
	case *array.FixedSizeListBuilder:
		b.Append(true)
		many(b.ValueBuilder(), int(b.Type().(*arrow.FixedSizeListType).Len()))
	case *array.StructBuilder:
		b.Append(true)
		for i := range b.NumField() {
			grow(r, b.FieldBuilder(i), nulls)
		}
	case *array.NullBuilder:
		b.AppendNull()
	default:
		if err := b.AppendValueFromString(fmt.Sprint(r.IntN(100))); err != nil {
			b.AppendNull()
		}
	}
}

// randomRecord is rows of random types, cut out of more rows.
func randomRecord(t testing.TB, r *rand.Rand, schema *arrow.Schema, rows int) arrow.RecordBatch {
	t.Helper()
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	before := r.IntN(10)
	for i := range schema.Fields() {
		nulls := r.IntN(3) > 0
		for range before + rows + 3 {
			grow(r, b.Field(i), nulls)
		}
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	return rec.NewSlice(int64(before), int64(before+rows))
}

func randomSchema(r *rand.Rand, columns, depth int) *arrow.Schema {
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("c", i), Type: anyType(r, depth), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}
