package npy

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

const magic = "\x93NUMPY"

// headerMost bounds what a header may claim: 65,536 named fields fit.
const headerMost = 4 << 20

// prelude finds how long the whole header is, from its first 12 bytes.
func prelude(b []byte) (int, error) {
	if len(b) < 12 || string(b[:6]) != magic {
		return 0, errors.New("not a .npy file")
	}
	switch b[6] {
	case 1:
		return 10 + int(binary.LittleEndian.Uint16(b[8:])), nil
	case 2, 3:
		n := binary.LittleEndian.Uint32(b[8:])
		if n > headerMost {
			return 0, fmt.Errorf("a header of %d bytes", n)
		}
		return 12 + int(n), nil
	}
	return 0, fmt.Errorf("version %d.%d of the format is not known", b[6], b[7])
}

// shape is what the header of an array says.
type shape struct {
	rows   int64
	width  int64 // bytes of a row
	fields []field
}

// field is one column of an array: the array itself, or a named part of its
// values.
type field struct {
	name   string
	at     int64 // bytes of a row before it
	width  int   // bytes of a value
	count  int64 // values in a row
	dims   []int64
	typ    arrow.DataType // of a value
	kind   byte           // of the type: b i u f S U M m
	swap   bool           // the bytes of a value stand in the other order
	scalar bool           // one value, not a list of one
}

// parseHeader reads the whole header.
func parseHeader(b []byte) (*shape, error) {
	text := b[10:]
	if b[6] > 1 {
		text = b[12:]
	}
	v, err := parseLiteral(string(text))
	if err != nil {
		return nil, fmt.Errorf("the header: %w", err)
	}
	dict, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("the header is not a dictionary")
	}
	tuple, ok := dict["shape"].([]any)
	if !ok {
		return nil, errors.New("the header has no shape")
	}
	dims, err := dimensions(tuple)
	if err != nil {
		return nil, err
	}
	if fortran, _ := dict["fortran_order"].(bool); fortran && len(dims) > 1 {
		return nil, errors.New("the array stands in Fortran order, column by column; save np.ascontiguousarray of it")
	}
	return newShape(dict["descr"], dims)
}

func dimensions(tuple []any) ([]int64, error) {
	var out []int64
	product := int64(1)
	for _, v := range tuple {
		n, ok := v.(int64)
		if !ok || n < 0 || n > 0 && product > math.MaxInt64/64/n {
			return nil, fmt.Errorf("the header's shape has %v", v)
		}
		product *= max(n, 1)
		out = append(out, n)
	}
	return out, nil
}

// newShape makes rows of the first dimension; an array without one is a row.
func newShape(descr any, dims []int64) (*shape, error) {
	s := &shape{rows: 1}
	if len(dims) > 0 {
		s.rows, dims = dims[0], dims[1:]
	}
	named, ok := descr.([]any)
	if !ok {
		return s, s.add("data", descr, dims)
	}
	if len(dims) > 0 {
		return nil, errors.New("an array of named fields has one dimension")
	}
	for _, f := range named {
		t, _ := f.([]any)
		if len(t) < 2 {
			return nil, fmt.Errorf("the header has a field %v", f)
		}
		var inner []int64
		if len(t) > 2 {
			tuple, _ := t[2].([]any)
			var err error
			if inner, err = dimensions(tuple); err != nil {
				return nil, err
			}
		}
		name, ok := t[0].(string)
		if pair, isPair := t[0].([]any); isPair && len(pair) == 2 {
			name, ok = pair[1].(string) // (title, name)
		}
		if !ok {
			return nil, fmt.Errorf("the header has a field %v", f)
		}
		if err := s.add(name, t[1], inner); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add appends a field of dims values of a type.
func (s *shape) add(name string, descr any, dims []int64) error {
	text, ok := descr.(string)
	if !ok {
		return fmt.Errorf("field %q: a type within a type is not read", name)
	}
	f := field{name: name, at: s.width, count: 1, dims: dims, scalar: len(dims) == 0}
	for _, d := range dims {
		f.count *= d
	}
	if err := f.setType(text); err != nil {
		return fmt.Errorf("field %q: %w", name, err)
	}
	if f.count == 0 || f.count > math.MaxInt32 || f.width > 0 && f.count > math.MaxInt32/int64(f.width) {
		return fmt.Errorf("field %q: %d values in a row", name, f.count)
	}
	s.width += f.count * int64(f.width)
	if text[1] == 'V' {
		return nil // padding
	}
	s.fields = append(s.fields, f)
	return nil
}

// setType understands numpy's names: order, kind, width.
func (f *field) setType(text string) error {
	unknown := fmt.Errorf("the type %q is not read", text)
	if len(text) < 3 {
		return unknown
	}
	number, unit, _ := strings.Cut(text[2:], "[")
	n, err := strconv.Atoi(number)
	if err != nil || n < 0 || n > 1<<24 {
		return unknown
	}
	f.kind, f.width = text[1], n
	f.swap = text[0] == '>' && n > 1
	if f.kind == 'O' {
		return errors.New("the array holds pickled objects, which weir never runs")
	}
	types := map[string]arrow.DataType{
		"b1": arrow.FixedWidthTypes.Boolean,
		"i1": arrow.PrimitiveTypes.Int8, "i2": arrow.PrimitiveTypes.Int16, "i4": arrow.PrimitiveTypes.Int32, "i8": arrow.PrimitiveTypes.Int64,
		"u1": arrow.PrimitiveTypes.Uint8, "u2": arrow.PrimitiveTypes.Uint16, "u4": arrow.PrimitiveTypes.Uint32, "u8": arrow.PrimitiveTypes.Uint64,
		"f2": arrow.FixedWidthTypes.Float16, "f4": arrow.PrimitiveTypes.Float32, "f8": arrow.PrimitiveTypes.Float64,
		"M8[s]": arrow.FixedWidthTypes.Timestamp_s, "M8[ms]": arrow.FixedWidthTypes.Timestamp_ms,
		"M8[us]": arrow.FixedWidthTypes.Timestamp_us, "M8[ns]": arrow.FixedWidthTypes.Timestamp_ns,
		"m8[s]": arrow.FixedWidthTypes.Duration_s, "m8[ms]": arrow.FixedWidthTypes.Duration_ms,
		"m8[us]": arrow.FixedWidthTypes.Duration_us, "m8[ns]": arrow.FixedWidthTypes.Duration_ns,
	}
	switch f.kind {
	case 'S':
		f.typ = arrow.BinaryTypes.Binary
	case 'U':
		f.typ, f.width = arrow.BinaryTypes.String, 4*n
	case 'V':
		f.typ = arrow.Null
	case 'M':
		t, ok := types[text[1:]].(*arrow.TimestampType)
		if !ok {
			return unknown
		}
		f.typ = &arrow.TimestampType{Unit: t.Unit} // numpy's times have no zone
	default:
		if f.typ = types[text[1:]]; f.typ == nil || unit != "" && f.kind != 'm' {
			return unknown
		}
	}
	return nil
}

// arrowField is the column of the field.
func (f *field) arrowField() arrow.Field {
	out := arrow.Field{Name: f.name, Type: f.typ, Nullable: true}
	if f.scalar {
		return out
	}
	out.Type = arrow.FixedSizeListOf(int32(f.count), f.typ)
	if len(f.dims) > 1 {
		text := strings.ReplaceAll(fmt.Sprint(f.dims), " ", ",")
		out.Metadata = arrow.NewMetadata([]string{"shape"}, []string{text})
	}
	return out
}
