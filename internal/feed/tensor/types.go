package tensor

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// decoded is t without dictionaries and views.
func decoded(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return decoded(t.ValueType)
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case arrow.ExtensionType:
		if s := decoded(t.StorageType()); !arrow.TypeEqual(s, t.StorageType()) {
			return s
		}
		return t
	case *arrow.ListType:
		return arrow.ListOfField(decodedField(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(decodedField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), decodedField(t.ElemField()))
	case *arrow.MapType:
		m := arrow.MapOfFields(decodedField(t.KeyField()), decodedField(t.ItemField()))
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i := range fields {
			fields[i] = decodedField(t.Field(i))
		}
		return arrow.StructOf(fields...)
	}
	return t
}

func decodedField(f arrow.Field) arrow.Field {
	f.Type = decoded(f.Type)
	return f
}

// encode is a value as it lies in memory; false: the type does not have it.
func encode(d Dtype, v float64) ([]byte, bool) {
	le := binary.LittleEndian
	var out []byte
	switch d {
	case Float64:
		return le.AppendUint64(out, math.Float64bits(v)), true
	case Float32:
		return le.AppendUint32(out, math.Float32bits(float32(v))), true
	case Float16:
		return le.AppendUint16(out, half(odd32(v))), true
	}
	size := d.Size()
	low, high := 0.0, math.Ldexp(1, 8*size)
	switch {
	case d == Bool:
		high = 2
	case d >= Int8 && d <= Int64:
		low, high = -high/2, high/2
	}
	if v != math.Trunc(v) || !(v >= low && v < high) {
		return nil, false
	}
	whole := uint64(int64(v))
	if v >= math.MaxInt64 {
		whole = uint64(v)
	}
	return le.AppendUint64(out, whole)[:size], true
}
