package json

import (
	"fmt"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/render"
)

// Value writes the value of one row of the array it was bound to.
type Value func(o *render.Out, row int)

// CheckAll is Check for the columns of a schema; the error begins with the name
// of a format.
func CheckAll(name string, s *arrow.Schema) error {
	for _, f := range s.Fields() {
		if err := Check(f.Type); err != nil {
			return format.Error(format.ErrUsage, "%s: column %q: %w", name, f.Name, err)
		}
	}
	return nil
}

// Check says why values of a type cannot be written, or nil.
func Check(t arrow.DataType) error {
	switch t := t.(type) {
	case *arrow.ListType, *arrow.LargeListType, *arrow.FixedSizeListType, *arrow.MapType:
		return Check(t.(arrow.ListLikeType).Elem())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if err := Check(f.Type); err != nil {
				return err
			}
		}
		return nil
	case *arrow.DictionaryType:
		return Check(t.ValueType)
	case arrow.ExtensionType:
		return Check(t.StorageType())
	}
	switch t.ID() {
	case arrow.DENSE_UNION, arrow.SPARSE_UNION, arrow.RUN_END_ENCODED, arrow.LIST_VIEW, arrow.LARGE_LIST_VIEW:
		return fmt.Errorf("values of type %s cannot be written as text", t)
	}
	return nil
}

// Bind prepares to write the values of a, whose type has passed Check.
func Bind(a arrow.Array) Value {
	v := bind(a)
	if a.NullN() == 0 {
		return v
	}
	return func(o *render.Out, row int) {
		if a.IsNull(row) {
			o.String("null")
			return
		}
		v(o, row)
	}
}

// bind is Bind for rows that are not null.
func bind(a arrow.Array) Value {
	if text, form, ok := render.Scalar(a); ok {
		return scalar(text, form)
	}
	switch a := a.(type) {
	case *array.Null:
		return func(o *render.Out, _ int) { o.String("null") }
	case *array.String:
		return func(o *render.Out, row int) { Quote(o, unsafeBytes(a.Value(row))) }
	case *array.LargeString:
		return func(o *render.Out, row int) { Quote(o, unsafeBytes(a.Value(row))) }
	case *array.StringView:
		return func(o *render.Out, row int) { Quote(o, unsafeBytes(a.Value(row))) }
	case interface{ Value(int) []byte }: // binary of every layout
		return func(o *render.Out, row int) {
			o.Byte('"')
			o.Base64(a.Value(row))
			o.Byte('"')
		}
	case *array.Dictionary:
		v := Bind(a.Dictionary())
		return func(o *render.Out, row int) { v(o, a.GetValueIndex(row)) }
	case *array.Map:
		return bindMap(a)
	case array.ListLike:
		return bindList(a)
	case *array.Struct:
		return bindStruct(a)
	case array.ExtensionArray:
		return bind(a.Storage())
	}
	panic(fmt.Sprintf("json: %s passed Check", a.DataType()))
}

func scalar(text render.Text, form render.Form) Value {
	switch form {
	case render.Quoted:
		return func(o *render.Out, row int) {
			o.Room(render.MaxText + 2)
			o.Buf = append(text(append(o.Buf, '"'), row), '"')
		}
	case render.Float:
		return func(o *render.Out, row int) {
			o.Room(render.MaxText)
			from := len(o.Buf)
			o.Buf = text(o.Buf, row)
			// NaN, inf and -inf are the only ones that end in a letter.
			if o.Buf[len(o.Buf)-1] > '9' {
				o.Buf = append(o.Buf[:from], "null"...)
			}
		}
	}
	return func(o *render.Out, row int) {
		o.Room(render.MaxText)
		o.Buf = text(o.Buf, row)
	}
}

func bindList(a array.ListLike) Value {
	v := Bind(a.ListValues())
	return func(o *render.Out, row int) {
		from, to := a.ValueOffsets(row)
		o.Byte('[')
		for i := from; i < to; i++ {
			if i > from {
				o.Byte(',')
			}
			v(o, int(i))
		}
		o.Byte(']')
	}
}

func bindStruct(a *array.Struct) Value {
	fields := a.DataType().(*arrow.StructType).Fields()
	keys := make([][]byte, len(fields))
	vals := make([]Value, len(fields))
	for i, f := range fields {
		keys[i] = key(f.Name, i == 0)
		vals[i] = Bind(a.Field(i))
	}
	return func(o *render.Out, row int) {
		if len(vals) == 0 {
			o.Byte('{')
		}
		for i, v := range vals {
			o.Write(keys[i])
			v(o, row)
		}
		o.Byte('}')
	}
}

// bindMap writes an object whose keys are the text of the map's keys.
func bindMap(a *array.Map) Value {
	name, ok := bindKey(a.Keys())
	if !ok {
		return bindList(a)
	}
	v := Bind(a.Items())
	return func(o *render.Out, row int) {
		from, to := a.ValueOffsets(row)
		o.Byte('{')
		for i := from; i < to; i++ {
			if i > from {
				o.Byte(',')
			}
			name(o, int(i))
			o.Byte(':')
			v(o, int(i))
		}
		o.Byte('}')
	}
}

// bindKey writes keys as strings; false if they are nested.
func bindKey(a arrow.Array) (Value, bool) {
	if text, _, ok := render.Scalar(a); ok {
		return scalar(text, render.Quoted), true
	}
	switch a.DataType().ID() {
	case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST, arrow.STRUCT, arrow.MAP, arrow.DICTIONARY, arrow.EXTENSION:
		return nil, false
	}
	return bind(a), true
}

// unsafeBytes is s without a copy, to be read only.
func unsafeBytes(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
