package arrow

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// The members of the union Type that a Field has, as the format numbers them.
const (
	typeNull = iota + 1
	typeInt
	typeFloat
	typeBinary
	typeUtf8
	typeBool
	typeDecimal
	typeDate
	typeTime
	typeTimestamp
	typeInterval
	typeList
	typeStruct
	typeUnion
	typeFixedBinary
	typeFixedList
	typeMap
	typeDuration
	typeLargeBinary
	typeLargeUtf8
	typeLargeList
	typeRuns
	typeBinaryView
	typeUtf8View
	typeListView
	typeLargeListView
)

var errType = errors.New("its type is damaged or not known")

// setType sets f's type and shape; its children are known.
func (f *field) setType(kind byte, t table) error {
	if !t.there() {
		return errType
	}
	switch kind {
	case typeNull:
		f.Type, f.shape = arrow.Null, nullShape
	case typeBool:
		f.Type, f.shape = arrow.FixedWidthTypes.Boolean, bitShape
	case typeBinary:
		f.Type, f.shape, f.width = arrow.BinaryTypes.Binary, textShape, 4
	case typeUtf8:
		f.Type, f.shape, f.width = arrow.BinaryTypes.String, textShape, 4
	case typeLargeBinary:
		f.Type, f.shape, f.width = arrow.BinaryTypes.LargeBinary, textShape, 8
	case typeLargeUtf8:
		f.Type, f.shape, f.width = arrow.BinaryTypes.LargeString, textShape, 8
	case typeBinaryView:
		f.Type, f.shape, f.width = arrow.BinaryTypes.BinaryView, viewShape, arrow.ViewHeaderSizeBytes
	case typeUtf8View:
		f.Type, f.shape, f.width = arrow.BinaryTypes.StringView, viewShape, arrow.ViewHeaderSizeBytes
	case typeList, typeLargeList, typeListView, typeLargeListView, typeFixedList, typeMap, typeStruct, typeUnion, typeRuns:
		return f.setNested(kind, t)
	default:
		typ, err := fixedType(kind, t)
		if err != nil {
			return err
		}
		f.Type, f.shape, f.width = typ, fixedShape, typ.Bytes()
	}
	if len(f.children) > 0 {
		return errType
	}
	return nil
}

// fixedType makes the types whose values all have one length.
func fixedType(kind byte, t table) (arrow.FixedWidthDataType, error) {
	switch kind {
	case typeInt:
		return integer(t)
	case typeFloat:
		return pick(int(t.int16(0, 0)), arrow.FixedWidthTypes.Float16,
			arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType), arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType))
	case typeDecimal:
		return decimal(t.int32(0, 0), t.int32(1, 0), t.int32(2, 128))
	case typeDate:
		return pick(int(t.int16(0, 1)), arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64)
	case typeTime:
		unit, err := timeUnit(t, 1)
		if wide := t.int32(1, 32); err == nil && wide == 32 && unit <= arrow.Millisecond {
			return &arrow.Time32Type{Unit: unit}, nil
		} else if err == nil && wide == 64 && unit > arrow.Millisecond {
			return &arrow.Time64Type{Unit: unit}, nil
		}
		return nil, errType
	case typeTimestamp:
		unit, err := timeUnit(t, 0)
		return &arrow.TimestampType{Unit: unit, TimeZone: t.text(1)}, err
	case typeDuration:
		unit, err := timeUnit(t, 1)
		return &arrow.DurationType{Unit: unit}, err
	case typeInterval:
		return pick(int(t.int16(0, 0)), arrow.FixedWidthTypes.MonthInterval,
			arrow.FixedWidthTypes.DayTimeInterval, arrow.FixedWidthTypes.MonthDayNanoInterval)
	case typeFixedBinary:
		if w := t.int32(0, 0); w >= 0 {
			return &arrow.FixedSizeBinaryType{ByteWidth: int(w)}, nil
		}
	}
	return nil, errType
}

func integer(t table) (arrow.FixedWidthDataType, error) {
	signed := []arrow.DataType{arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64}
	if t.bool(1) {
		signed = []arrow.DataType{arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64}
	}
	for i, typ := range signed {
		if t.int32(0, 0) == 8<<i {
			return typ.(arrow.FixedWidthDataType), nil
		}
	}
	return nil, errType
}

func decimal(precision, scale, width int32) (arrow.FixedWidthDataType, error) {
	digits := map[int32]int32{32: 9, 64: 18, 128: 38, 256: 76}[width]
	if precision < 1 || precision > digits || scale < -digits || scale > digits {
		return nil, fmt.Errorf("a decimal of %d digits, %d behind the point, in %d bits", precision, scale, width)
	}
	switch width {
	case 32:
		return &arrow.Decimal32Type{Precision: precision, Scale: scale}, nil
	case 64:
		return &arrow.Decimal64Type{Precision: precision, Scale: scale}, nil
	case 128:
		return &arrow.Decimal128Type{Precision: precision, Scale: scale}, nil
	}
	return &arrow.Decimal256Type{Precision: precision, Scale: scale}, nil
}

func timeUnit(t table, def int16) (arrow.TimeUnit, error) {
	return pick(int(t.int16(0, def)), arrow.Second, arrow.Millisecond, arrow.Microsecond, arrow.Nanosecond)
}

// pick is the i-th of few.
func pick[T any](i int, from ...T) (T, error) {
	if i < 0 || i >= len(from) {
		var none T
		return none, errType
	}
	return from[i], nil
}

// setNested sets the types that have children.
func (f *field) setNested(kind byte, t table) error {
	if kind != typeStruct && kind != typeUnion && len(f.children) != map[bool]int{false: 1, true: 2}[kind == typeRuns] {
		return errType
	}
	switch kind {
	case typeList:
		f.Type, f.shape, f.width = arrow.ListOfField(f.children[0].Field), listShape, 4
	case typeLargeList:
		f.Type, f.shape, f.width = arrow.LargeListOfField(f.children[0].Field), listShape, 8
	case typeListView:
		f.Type, f.shape, f.width = arrow.ListViewOfField(f.children[0].Field), listViewShape, 4
	case typeLargeListView:
		f.Type, f.shape, f.width = arrow.LargeListViewOfField(f.children[0].Field), listViewShape, 8
	case typeFixedList:
		n := t.int32(0, 0)
		if n < 0 {
			return errType
		}
		if n == 0 {
			return errors.New("a fixed-size list of no values is not read")
		}
		f.Type, f.shape, f.width = arrow.FixedSizeListOfField(n, f.children[0].Field), fixedListShape, int(n)
	case typeMap:
		return f.setMap(t.bool(0))
	case typeStruct:
		f.Type, f.shape = arrow.StructOf(f.childFields()...), structShape
	case typeUnion:
		return f.setUnion(t)
	case typeRuns:
		ends := f.children[0]
		if ends.shape != fixedShape || !(&arrow.RunEndEncodedType{}).ValidRunEndsType(ends.Type) {
			return errType
		}
		f.Type, f.shape, f.width = arrow.RunEndEncodedOf(ends.Type, f.children[1].Type), runShape, ends.width
	}
	return nil
}

func (f *field) childFields() []arrow.Field {
	out := make([]arrow.Field, len(f.children))
	for i, c := range f.children {
		out[i] = c.Field
	}
	return out
}

// setMap makes f a map; neither its entries nor their keys are ever null.
func (f *field) setMap(sorted bool) error {
	entries := f.children[0]
	if entries.shape != structShape || len(entries.children) != 2 {
		return errType
	}
	key, item := entries.children[0].Field, entries.children[1].Field
	key.Nullable = false
	typ := arrow.MapOfFields(key, item)
	typ.KeysSorted = sorted
	f.Type, f.shape, f.width = typ, listShape, 4
	entries.Type = typ.Elem()
	return nil
}

// setUnion finds the child of every type code.
func (f *field) setUnion(t table) error {
	n := len(f.children)
	ids := t.vector(1, 4)
	if t.slot(1) != 0 && ids.n != n || n > int(arrow.MaxUnionTypeCode)+1 {
		return errType
	}
	f.child = make([]int16, 256)
	for i := range f.child {
		f.child[i] = -1
	}
	codes := make([]arrow.UnionTypeCode, n)
	for i := range codes {
		code := i
		if ids.n > 0 {
			code = int(int32(ids.f.u32(ids.item(i))))
		}
		if code < 0 || code > int(arrow.MaxUnionTypeCode) || f.child[code] >= 0 {
			return errType
		}
		codes[i], f.child[code] = arrow.UnionTypeCode(code), int16(i)
	}
	switch t.int16(0, 0) {
	case 0:
		f.Type, f.shape = arrow.SparseUnionOf(f.childFields(), codes), sparseShape
	case 1:
		f.Type, f.shape = arrow.DenseUnionOf(f.childFields(), codes), denseShape
	default:
		return errType
	}
	return nil
}
