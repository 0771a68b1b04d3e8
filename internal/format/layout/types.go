package layout

import "github.com/apache/arrow-go/v18/arrow"

// Storage is the type that values of t lie in memory as.
func Storage(t arrow.DataType) arrow.DataType {
	if ext, ok := t.(arrow.ExtensionType); ok {
		return Storage(ext.StorageType())
	}
	return t
}

// Decoded is t without dictionaries and views.
func Decoded(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return Decoded(t.ValueType)
	case *arrow.StringViewType:
		return arrow.BinaryTypes.String
	case *arrow.BinaryViewType:
		return arrow.BinaryTypes.Binary
	case arrow.ExtensionType:
		if s := Decoded(t.StorageType()); !arrow.TypeEqual(s, t.StorageType()) {
			return s
		}
		return t
	case *arrow.ListType:
		return arrow.ListOfField(DecodedField(t.ElemField()))
	case *arrow.LargeListType:
		return arrow.LargeListOfField(DecodedField(t.ElemField()))
	case *arrow.FixedSizeListType:
		return arrow.FixedSizeListOfField(t.Len(), DecodedField(t.ElemField()))
	case *arrow.MapType:
		m := arrow.MapOfFields(DecodedField(t.KeyField()), DecodedField(t.ItemField()))
		m.KeysSorted = t.KeysSorted
		return m
	case *arrow.StructType:
		fields := make([]arrow.Field, t.NumFields())
		for i := range fields {
			fields[i] = DecodedField(t.Field(i))
		}
		return arrow.StructOf(fields...)
	}
	return t
}

// DecodedField is f with its type decoded.
func DecodedField(f arrow.Field) arrow.Field {
	f.Type = Decoded(f.Type)
	return f
}
