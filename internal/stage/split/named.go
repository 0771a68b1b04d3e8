package split

import (
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
)

// named decides by a column that holds the names of splits.
type named struct {
	column int
	name   string
	names  []string
}

func newNamed(c Config, schema *arrow.Schema) (*named, error) {
	i, err := column(schema, "column", c.Column)
	if err != nil {
		return nil, err
	}
	t := schema.Field(i).Type
	if d, ok := t.(*arrow.DictionaryType); ok {
		t = d.ValueType
	}
	if _, text := t.(arrow.BinaryDataType); !text && !arrow.IsInteger(t.ID()) {
		return nil, usage("column", "%q is %s; the names of splits are texts or integers", c.Column, t)
	}
	return &named{column: i, name: c.Column, names: c.Names}, nil
}

func (n *named) assign(dst []uint8, rec arrow.RecordBatch, _ int, first int64) error {
	a := rec.Column(n.column)
	values, dictionary := a, (*array.Dictionary)(nil)
	if d, ok := a.(*array.Dictionary); ok {
		values, dictionary = d.Dictionary(), d
	}
	var scratch [20]byte
	var last int
	for i := range dst {
		row := i
		if dictionary != nil && a.IsValid(i) {
			row = dictionary.GetValueIndex(i)
		}
		if a.IsNull(i) || values.IsNull(row) {
			return n.nowhere(first+int64(i), "null")
		}
		text, err := name(values, row, scratch[:0])
		if err != nil {
			return fmt.Errorf("column %q: %w", n.name, err)
		}
		// Most rows are in the split of the row before.
		if n.names[last] != string(text) {
			if last = n.find(text); last < 0 {
				return n.nowhere(first+int64(i), strconv.Quote(clip(text)))
			}
		}
		dst[i] = uint8(last)
	}
	return nil
}

func (n *named) find(text []byte) int {
	for i, name := range n.names {
		if name == string(text) {
			return i
		}
	}
	return -1
}

func (n *named) nowhere(row int64, value string) error {
	return format.Error(format.ErrData, "row %d: column %q is %s, which is none of the splits %s", row, n.name, value, few(n.names))
}

// clip keeps errors short.
func clip(text []byte) string {
	if len(text) > mostName {
		return string(text[:mostName]) + "…"
	}
	return string(text)
}

// name is a value as text; integers are written to scratch.
func name(a arrow.Array, row int, scratch []byte) ([]byte, error) {
	switch a := a.(type) {
	case interface{ Value(int) string }:
		return append(scratch, a.Value(row)...), nil
	case interface{ Value(int) []byte }:
		return a.Value(row), nil
	case interface{ Value(int) int64 }:
		return strconv.AppendInt(scratch, a.Value(row), 10), nil
	case interface{ Value(int) int32 }:
		return strconv.AppendInt(scratch, int64(a.Value(row)), 10), nil
	case interface{ Value(int) int16 }:
		return strconv.AppendInt(scratch, int64(a.Value(row)), 10), nil
	case interface{ Value(int) int8 }:
		return strconv.AppendInt(scratch, int64(a.Value(row)), 10), nil
	case interface{ Value(int) uint64 }:
		return strconv.AppendUint(scratch, a.Value(row), 10), nil
	case interface{ Value(int) uint32 }:
		return strconv.AppendUint(scratch, uint64(a.Value(row)), 10), nil
	case interface{ Value(int) uint16 }:
		return strconv.AppendUint(scratch, uint64(a.Value(row)), 10), nil
	case interface{ Value(int) uint8 }:
		return strconv.AppendUint(scratch, uint64(a.Value(row)), 10), nil
	}
	return nil, fmt.Errorf("values of type %s are no names", a.DataType())
}
