package tensor

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// anyType is a random type that rows can be taken of.
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
		switch r.IntN(7) {
		case 0:
			return arrow.ListOfField(elem())
		case 1:
			return arrow.LargeListOfField(elem())
		case 2:
			return arrow.FixedSizeListOfField(int32(1+r.IntN(3)), elem())
		case 3:
			a, b := elem(), elem()
			a.Name, b.Name = "a", "b"
			return arrow.StructOf(a, b)
		case 4:
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
	case *array.StringBuilder:
		b.Append(word)
	case *array.LargeStringBuilder:
		b.Append(word)
	case *array.StringViewBuilder:
		b.Append(word)
	case *array.BinaryBuilder:
		b.Append([]byte(word))
	case *array.BinaryDictionaryBuilder:
		b.AppendString(fmt.Sprint(r.IntN(20)))
	case *array.Float64DictionaryBuilder:
		b.Append(float64(r.IntN(20)))
	case *array.FixedSizeBinaryBuilder:
		b.Append([]byte(fmt.Sprintf("%05d", r.IntN(1e5))))
	case *array.BooleanBuilder:
		b.Append(r.IntN(2) == 0)
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(r.Int64()))
	case *array.MapBuilder:
		b.Append(true)
		for i := range r.IntN(3) {
			b.KeyBuilder().(*array.StringBuilder).Append(fmt.Sprint(i))
			grow(r, b.ItemBuilder(), nulls)
		}
	case *array.ListBuilder:
		b.Append(true)
		many(b.ValueBuilder(), r.IntN(4))
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
			panic(err)
		}
	}
}

// randomRecords are slices of larger ones.
func randomRecords(r *rand.Rand, schema *arrow.Schema, count int) (out []arrow.RecordBatch) {
	for range count {
		var cols []arrow.Array
		total := r.IntN(60)
		nulls := r.IntN(3) > 0
		for _, f := range schema.Fields() {
			b := array.NewBuilder(memory.DefaultAllocator, f.Type)
			for range total {
				grow(r, b, nulls)
			}
			cols = append(cols, b.NewArray())
		}
		from := r.IntN(total + 1)
		whole := array.NewRecordBatch(schema, cols, int64(total))
		out = append(out, whole.NewSlice(int64(from), int64(from+r.IntN(total-from+1))))
	}
	return out
}

// show is a row's value as text; a dictionary's is that of its entry.
func show(a arrow.Array, i int) string {
	if a.IsNull(i) {
		return "null"
	}
	values := func(v arrow.Array, from, to int) string {
		var out []string
		for k := from; k < to; k++ {
			out = append(out, show(v, k))
		}
		return "[" + strings.Join(out, " ") + "]"
	}
	switch a := a.(type) {
	case *array.Dictionary:
		return show(a.Dictionary(), a.GetValueIndex(i))
	case *array.Struct:
		var out []string
		for k := range a.NumField() {
			out = append(out, show(a.Field(k), i))
		}
		return "{" + strings.Join(out, " ") + "}"
	case *array.FixedSizeList:
		from, to := a.ValueOffsets(i)
		return values(a.ListValues(), int(from), int(to))
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		return values(a.ListValues(), int(from), int(to))
	}
	return a.ValueStr(i)
}
