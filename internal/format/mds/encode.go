package mds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
)

// outKind is how values become bytes.
type outKind uint8

const (
	outNumber outKind = iota // as it lies in memory
	outBool
	outBytes
	outText   // short text
	outVector // fixed-size lists of numbers
	outArray  // lists of numbers
	outNested // what an encoding of several parts is read as
	outJSON
)

// outColumnOf chooses the encoding of a field.
func outColumnOf(f arrow.Field) (outColumn, error) {
	c, kept := keptColumn(f)
	if kept {
		return c, nil
	}
	t := stored(f.Type)
	switch t := t.(type) {
	case *arrow.BooleanType:
		c.kind, c.encoding, c.size = outBool, "uint8", 1
	case *arrow.StringType, *arrow.LargeStringType, *arrow.StringViewType:
		c.kind, c.encoding = outBytes, "str"
	case *arrow.BinaryType, *arrow.LargeBinaryType, *arrow.BinaryViewType, *arrow.FixedSizeBinaryType:
		c.kind, c.encoding = outBytes, "bytes"
	case arrow.DecimalType:
		c.kind, c.encoding = outText, "str_decimal"
	case *arrow.Date32Type, *arrow.Date64Type, *arrow.Time32Type, *arrow.Time64Type, *arrow.TimestampType, *arrow.DurationType:
		c.kind, c.encoding = outText, "str"
	case *arrow.FixedSizeListType:
		if d, ok := dtypeOf(t.Elem()); ok && t.Len() > 0 {
			c.kind, c.encoding = outVector, fmt.Sprintf("ndarray:%s:%d", d.name, t.Len())
			c.size = int(t.Len()) * d.width()
		}
	case *arrow.ListType, *arrow.LargeListType:
		if d, ok := dtypeOf(t.(arrow.ListLikeType).Elem()); ok {
			c.kind, c.encoding = outArray, "ndarray:"+d.name
		}
	default:
		if d, ok := dtypeOf(t); ok {
			c.kind, c.encoding, c.size = outNumber, d.name, d.width()
			if d.name == "int64" {
				c.encoding = "int"
			}
		}
	}
	if c.encoding == "" {
		c.kind, c.encoding = outJSON, "json"
		return c, json.Check(f.Type)
	}
	return c, nil
}

// keptColumn is the encoding that the field was read from, if it has that
// encoding's type still.
func keptColumn(f arrow.Field) (outColumn, bool) {
	name, ok := f.Metadata.GetValue(encodingKey)
	if !ok {
		return outColumn{}, false
	}
	e, err := parseEncoding(name)
	if err != nil || !arrow.TypeEqual(e.typ, f.Type) {
		return outColumn{}, false
	}
	c := outColumn{column: column{encoding: name, size: e.size}, kind: outNested}
	switch e.kind {
	case asBytes:
		c.kind = outBytes
	case asNumber:
		c.kind = outNumber
	case asVector:
		c.kind = outVector
	}
	return c, true
}

// stored is what values of a type are, without their meaning or dictionary.
func stored(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return stored(t.StorageType())
	case *arrow.DictionaryType:
		return stored(t.ValueType)
	}
	return t
}

func dtypeOf(t arrow.DataType) (dtype, bool) {
	for _, d := range dtypes {
		if d.typ.ID() == t.ID() {
			return d, true
		}
	}
	return dtype{}, false
}

// value writes the value of a row to dst and gives its length; less than 0:
// there is no room for it.
type value func(dst []byte, row int) (int, error)

// bind prepares to write the values of a.
func (f *file) bind(c outColumn, a arrow.Array) (value, error) {
	if c.kind == outJSON {
		return f.jsonValue(json.Bind(a)), nil
	}
	if a.NullN() > 0 {
		for i := range a.Len() {
			if a.IsNull(i) {
				return nil, fmt.Errorf("a null, which MDS does not have: fill it or leave the row out")
			}
		}
	}
	switch a := a.(type) {
	case array.ExtensionArray:
		return f.bind(c, a.Storage())
	case *array.Dictionary:
		v, err := f.bind(c, a.Dictionary())
		return func(dst []byte, row int) (int, error) { return v(dst, a.GetValueIndex(row)) }, err
	}
	switch c.kind {
	case outNumber:
		return numbers(a, c.size), nil
	case outBool:
		b := a.(*array.Boolean)
		return func(dst []byte, row int) (int, error) {
			if len(dst) == 0 {
				return -1, nil
			}
			dst[0] = 0
			if b.Value(row) {
				dst[0] = 1
			}
			return 1, nil
		}, nil
	case outText:
		text, _, ok := render.Scalar(a)
		if !ok {
			return nil, fmt.Errorf("values of type %s cannot be written as text", a.DataType())
		}
		buf := make([]byte, 0, render.MaxText)
		return func(dst []byte, row int) (int, error) {
			v := text(buf, row)
			if len(v) > len(dst) {
				return -1, nil
			}
			return copy(dst, v), nil
		}, nil
	case outNested:
		e, err := parseEncoding(c.encoding)
		return nested(e, a), err
	case outVector, outArray:
		return arrays(c, a.(array.ListLike))
	}
	return bytesOf(a)
}

// numbers copies values as they lie in memory.
func numbers(a arrow.Array, width int) value {
	data := numberBytes(a, width)
	return func(dst []byte, row int) (int, error) {
		if len(dst) < width {
			return -1, nil
		}
		return copy(dst, data[row*width:(row+1)*width]), nil
	}
}

func numberBytes(a arrow.Array, width int) []byte {
	d := a.Data()
	if d.Len() == 0 || d.Buffers()[1] == nil {
		return nil
	}
	return d.Buffers()[1].Bytes()[d.Offset()*width:]
}

// bytesOf copies strings and binaries.
func bytesOf(a arrow.Array) (value, error) {
	switch a := a.(type) {
	case interface{ Value(int) string }:
		return func(dst []byte, row int) (int, error) {
			v := a.Value(row)
			if len(v) > len(dst) {
				return -1, nil
			}
			return copy(dst, v), nil
		}, nil
	case interface{ Value(int) []byte }:
		return func(dst []byte, row int) (int, error) {
			v := a.Value(row)
			if len(v) > len(dst) {
				return -1, nil
			}
			return copy(dst, v), nil
		}, nil
	}
	return nil, fmt.Errorf("a bug in weir, please report it: %s as bytes", a.DataType())
}

var errNullInside = errors.New("a null within a list: MDS arrays have none")

// arrays writes lists of numbers, those of any length behind their shape.
func arrays(c outColumn, a array.ListLike) (value, error) {
	items := a.ListValues()
	d, _ := dtypeOf(items.DataType())
	width := d.width()
	data := numberBytes(items, width)
	nulls := items.NullN() > 0
	return func(dst []byte, row int) (int, error) {
		from, to := a.ValueOffsets(row)
		if nulls {
			for i := from; i < to; i++ {
				if items.IsNull(int(i)) {
					return -1, errNullInside
				}
			}
		}
		v := data[min(int(from)*width, len(data)):min(int(to)*width, len(data))]
		head := 0
		if c.kind == outArray {
			k := shapeWidth(uint64(to - from))
			word := [9]byte{1<<2 | byte(k)}
			binary.LittleEndian.PutUint64(word[1:], uint64(to-from))
			if head = 1 + 1<<k; head > len(dst) {
				return -1, nil
			}
			copy(dst, word[:head])
		}
		if head+len(v) > len(dst) {
			return -1, nil
		}
		return head + copy(dst[head:], v), nil
	}, nil
}

// tail is the rest of a block, as JSON is written to it.
type tail struct {
	dst []byte
	n   int
}

func (t *tail) Write(p []byte) (int, error) {
	if len(p) > len(t.dst)-t.n {
		t.n = len(t.dst) + 1
		return 0, io.ErrShortWrite
	}
	t.n += copy(t.dst[t.n:], p)
	return len(p), nil
}

// jsonValue writes values as JSON text.
func (f *file) jsonValue(v json.Value) value {
	return func(dst []byte, row int) (int, error) {
		f.tail = tail{dst: dst}
		v(f.text, row)
		if f.text.Flush() != nil {
			f.text = render.NewOut(&f.tail) // an error stays
			return -1, nil
		}
		return f.tail.n, nil
	}
}
