package chat

import (
	"fmt"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/mend"
	"github.com/weir-data/weir/internal/jinja"
)

func isList(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return true
	}
	return false
}

func isText(t arrow.DataType) bool {
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.BINARY, arrow.LARGE_BINARY, arrow.NULL:
		return true
	case arrow.DICTIONARY:
		return isText(t.(*arrow.DictionaryType).ValueType)
	}
	return false
}

// arena holds the values of one row, and the field names of struct types.
type arena struct {
	vals  []jinja.Value
	names map[*arrow.StructType][]string
}

func (a *arena) reset() { a.vals = a.vals[:0] }

// take is room for n values, which lives until the next reset.
func (a *arena) take(n int) []jinja.Value {
	if len(a.vals)+n > cap(a.vals) {
		// What was handed out stays where it is.
		a.vals = make([]jinja.Value, 0, max(64, 2*cap(a.vals), n))
	}
	at := len(a.vals)
	a.vals = a.vals[:at+n]
	return a.vals[at : at+n : at+n]
}

func (a *arena) fields(t *arrow.StructType) []string {
	if n, ok := a.names[t]; ok {
		return n
	}
	if a.names == nil {
		a.names = map[*arrow.StructType][]string{}
	}
	names := make([]string, t.NumFields())
	for i := range names {
		names[i] = t.Field(i).Name
	}
	a.names[t] = names
	return names
}

// textAt is a row of a text column; null is empty.
func textAt(col arrow.Array, row int) string {
	if col.IsNull(row) {
		return ""
	}
	switch c := col.(type) {
	case *array.String:
		return valid(c.Value(row))
	case *array.LargeString:
		return valid(c.Value(row))
	case *array.StringView:
		return valid(c.Value(row))
	case *array.Binary:
		return valid(c.ValueString(row))
	case *array.LargeBinary:
		return valid(c.ValueString(row))
	case *array.Dictionary:
		return textAt(c.Dictionary(), c.GetValueIndex(row))
	}
	return ""
}

// valid replaces broken UTF-8 as Python does.
func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string(mend.UTF8(nil, []byte(s)))
}

// value is a row of any column as a template sees it.
func (a *arena) value(col arrow.Array, row int, drop bool) (jinja.Value, error) {
	if col.IsNull(row) {
		return jinja.None(), nil
	}
	switch c := col.(type) {
	case *array.String, *array.LargeString, *array.StringView, *array.Binary, *array.LargeBinary:
		return jinja.Str(textAt(col, row)), nil
	case *array.Dictionary:
		return a.value(c.Dictionary(), c.GetValueIndex(row), drop)
	case *array.Boolean:
		return jinja.Bool(c.Value(row)), nil
	case *array.Float64:
		return jinja.Float(c.Value(row)), nil
	case *array.Float32:
		return jinja.Float(float64(c.Value(row))), nil
	case *array.Struct:
		return a.fieldsOf(c, row, drop)
	case *array.Map:
		return a.entries(c, row, drop)
	case array.ListLike:
		from, to := c.ValueOffsets(row)
		items := a.take(int(to - from))
		for i := range items {
			v, err := a.value(c.ListValues(), int(from)+i, drop)
			if err != nil {
				return v, err
			}
			items[i] = v
		}
		return jinja.List(items), nil
	case *array.Null:
		return jinja.None(), nil
	}
	return integer(col, row)
}

func integer(col arrow.Array, row int) (jinja.Value, error) {
	switch c := col.(type) {
	case *array.Int64:
		return jinja.Int(c.Value(row)), nil
	case *array.Int32:
		return jinja.Int(int64(c.Value(row))), nil
	case *array.Int16:
		return jinja.Int(int64(c.Value(row))), nil
	case *array.Int8:
		return jinja.Int(int64(c.Value(row))), nil
	case *array.Uint64:
		if c.Value(row) <= math.MaxInt64 {
			return jinja.Int(int64(c.Value(row))), nil
		}
	case *array.Uint32:
		return jinja.Int(int64(c.Value(row))), nil
	case *array.Uint16:
		return jinja.Int(int64(c.Value(row))), nil
	case *array.Uint8:
		return jinja.Int(int64(c.Value(row))), nil
	}
	return jinja.Value{}, fmt.Errorf("a value of type %s cannot be given to a template", col.DataType())
}

func (a *arena) fieldsOf(c *array.Struct, row int, drop bool) (jinja.Value, error) {
	names := a.fields(c.DataType().(*arrow.StructType))
	vals := a.take(len(names))
	nulls := 0
	for i := range vals {
		v, err := a.value(c.Field(i), row, drop)
		if err != nil {
			return v, fmt.Errorf("field %q: %w", names[i], err)
		}
		vals[i] = v
		if drop && v.IsNone() {
			nulls++
		}
	}
	if nulls == 0 {
		return jinja.Dict(names, vals), nil
	}
	kept := make([]string, 0, len(names)-nulls)
	n := 0
	for i, v := range vals {
		if !v.IsNone() {
			kept = append(kept, names[i])
			vals[n] = v
			n++
		}
	}
	return jinja.Dict(kept, vals[:n]), nil
}

func (a *arena) entries(c *array.Map, row int, drop bool) (jinja.Value, error) {
	from, to := c.ValueOffsets(row)
	if !isText(c.Keys().DataType()) {
		return jinja.Value{}, fmt.Errorf("a map with keys of type %s cannot be given to a template", c.Keys().DataType())
	}
	var names []string
	vals := a.take(int(to - from))[:0]
	for i := int(from); i < int(to); i++ {
		v, err := a.value(c.Items(), i, drop)
		if err != nil {
			return v, err
		}
		names, vals = append(names, textAt(c.Keys(), i)), append(vals, v)
	}
	return jinja.Dict(names, vals), nil
}
