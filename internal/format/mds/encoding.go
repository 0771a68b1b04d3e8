package mds

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// column is one column as an index has it.
type column struct {
	name, encoding string
	size           int // bytes of every value; 0: each tells its own
}

func (c column) String() string { return c.name + ":" + c.encoding }

// kind is how an encoding's bytes become values.
type kind uint8

const (
	asNumber kind = iota // bytes of a number
	asBytes              // as they are
	asPIL
	asImages  // jpeg_array
	asList    // list[jpeg], list[png]
	asPILList // list[pil]
	asVector  // ndarray of known type and shape
	asArray   // ndarray of known type
	asAny     // ndarray
)

// encoding is one, understood.
type encoding struct {
	kind  kind
	typ   arrow.DataType
	size  int   // bytes of every value; 0: each has its own
	width int   // of ndarray: bytes of a number
	shape []int // of asVector
}

// dtype is a type of numbers, and the byte that says so in an ndarray.
type dtype struct {
	name string
	code byte
	typ  arrow.FixedWidthDataType
}

var dtypes = []dtype{
	{"uint8", 8, arrow.PrimitiveTypes.Uint8.(arrow.FixedWidthDataType)},
	{"int8", 9, arrow.PrimitiveTypes.Int8.(arrow.FixedWidthDataType)},
	{"uint16", 16, arrow.PrimitiveTypes.Uint16.(arrow.FixedWidthDataType)},
	{"int16", 17, arrow.PrimitiveTypes.Int16.(arrow.FixedWidthDataType)},
	{"float16", 18, arrow.FixedWidthTypes.Float16},
	{"uint32", 32, arrow.PrimitiveTypes.Uint32.(arrow.FixedWidthDataType)},
	{"int32", 33, arrow.PrimitiveTypes.Int32.(arrow.FixedWidthDataType)},
	{"float32", 34, arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType)},
	{"uint64", 64, arrow.PrimitiveTypes.Uint64.(arrow.FixedWidthDataType)},
	{"int64", 65, arrow.PrimitiveTypes.Int64.(arrow.FixedWidthDataType)},
	{"float64", 66, arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType)},
}

func dtypeNamed(name string) (dtype, bool) {
	for _, d := range dtypes {
		if d.name == name {
			return d, true
		}
	}
	return dtype{}, false
}

func dtypeCoded(code byte) (dtype, bool) {
	for _, d := range dtypes {
		if d.code == code {
			return d, true
		}
	}
	return dtype{}, false
}

func (d dtype) width() int { return d.typ.BitWidth() / 8 }

var pilType = arrow.StructOf(
	arrow.Field{Name: "width", Type: arrow.PrimitiveTypes.Uint32},
	arrow.Field{Name: "height", Type: arrow.PrimitiveTypes.Uint32},
	arrow.Field{Name: "mode", Type: arrow.BinaryTypes.String},
	arrow.Field{Name: "data", Type: arrow.BinaryTypes.Binary},
)

// listOf is a list without nulls in it.
func listOf(t arrow.DataType) arrow.DataType { return arrow.ListOfNonNullable(t) }

// parseEncoding understands an encoding. One that weir cannot read is an error
// of a kind.
func parseEncoding(name string) (encoding, error) {
	base, arg, _ := strings.Cut(name, ":")
	switch base {
	case "bytes", "jpeg", "png":
		return encoding{kind: asBytes, typ: arrow.BinaryTypes.Binary}, nil
	case "str", "json", "str_int", "str_float", "str_decimal":
		return encoding{kind: asBytes, typ: arrow.BinaryTypes.String}, nil
	case "int":
		return encoding{kind: asNumber, typ: arrow.PrimitiveTypes.Int64, size: 8}, nil
	case "pil":
		return encoding{kind: asPIL, typ: pilType}, nil
	case "jpeg_array", "jpegarray":
		return encoding{kind: asImages, typ: listOf(arrow.BinaryTypes.Binary)}, nil
	case "list[jpeg]", "list[png]":
		return encoding{kind: asList, typ: listOf(arrow.BinaryTypes.Binary)}, nil
	case "list[pil]":
		return encoding{kind: asPILList, typ: listOf(pilType)}, nil
	case "ndarray":
		return parseArray(arg)
	case "pkl":
		return encoding{}, format.Error(format.ErrUsage, "pkl is not read: it runs code of whoever wrote it; leave the column out")
	}
	if d, ok := dtypeNamed(base); ok {
		return encoding{kind: asNumber, typ: d.typ, size: d.width()}, nil
	}
	return encoding{}, format.Error(format.ErrData, "encoding %q is not known", name)
}

// vectorMost bounds the bytes of an array of fixed shape.
const vectorMost = 1 << 29

// parseArray understands what stands behind "ndarray:".
func parseArray(arg string) (encoding, error) {
	shapes := arrow.Field{Name: "shape", Type: listOf(arrow.PrimitiveTypes.Int64)}
	if arg == "" {
		return encoding{kind: asAny, typ: arrow.StructOf(
			arrow.Field{Name: "dtype", Type: arrow.BinaryTypes.String}, shapes,
			arrow.Field{Name: "data", Type: arrow.BinaryTypes.Binary})}, nil
	}
	name, dims, fixed := strings.Cut(arg, ":")
	d, ok := dtypeNamed(name)
	if !ok {
		return encoding{}, format.Error(format.ErrData, "ndarray of %q", name)
	}
	e := encoding{kind: asArray, width: d.width()}
	if !fixed {
		e.typ = arrow.StructOf(shapes, arrow.Field{Name: "data", Type: listOf(d.typ)})
		return e, nil
	}
	n := 1
	for _, dim := range strings.Split(dims, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(dim))
		if err != nil || v < 1 || v > vectorMost/(n*e.width) {
			return encoding{}, format.Error(format.ErrData, "ndarray of shape %q", dims)
		}
		e.shape = append(e.shape, v)
		n *= v
	}
	e.kind, e.size = asVector, n*e.width
	e.typ = arrow.FixedSizeListOfNonNullable(int32(n), d.typ)
	return e, nil
}

// checkSize holds that the size is that of the encoding, where that is known.
func (c column) checkSize() error {
	e, err := parseEncoding(c.encoding)
	if err == nil && e.size != c.size {
		return fmt.Errorf("%s has values of %d bytes, the index says %d (0: of any size)", c.encoding, e.size, c.size)
	}
	return nil
}

// encodingKey is that of the encoding in a field's metadata.
const encodingKey = "mds.encoding"

// field is the column as Arrow has it.
func (c column) field(e encoding) arrow.Field {
	return arrow.Field{Name: c.name, Type: e.typ, Metadata: arrow.NewMetadata([]string{encodingKey}, []string{c.encoding})}
}
