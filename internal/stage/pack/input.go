package pack

import (
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
)

// columns finds those of tokens and labels, the second of which need not be there.
func columns(schema *arrow.Schema, o Options) (at [2]int, err error) {
	if err := o.Validate(); err != nil {
		return at, err
	}
	o = o.filled()
	for i, name := range []string{o.Tokens, o.Labels} {
		if at[i], err = find(schema, name); err != nil {
			return at, err
		}
	}
	if at[0] < 0 {
		return at, missing(schema, o.Tokens)
	}
	return at, nil
}

// find is the column of a name, if it is lists of integers; -1: there is none.
func find(schema *arrow.Schema, name string) (int, error) {
	at := schema.FieldIndices(name)
	if len(at) == 0 {
		return -1, nil
	}
	list, ok := schema.Field(at[0]).Type.(arrow.ListLikeType)
	if ok {
		switch list.ID() {
		case arrow.LIST, arrow.LARGE_LIST, arrow.FIXED_SIZE_LIST:
		default:
			ok = false
		}
	}
	if ok {
		switch list.Elem().ID() {
		case arrow.INT32, arrow.INT64, arrow.UINT32, arrow.UINT16:
		default:
			ok = false
		}
	}
	if !ok {
		return -1, format.Error(format.ErrUsage, "pack: column %q: %s is not a list of int32, int64, uint32 or uint16", name, schema.Field(at[0]).Type)
	}
	return at[0], nil
}

// lists is a column of a record.
type lists struct {
	name   string
	a      array.ListLike
	values arrow.Array
}

// open looks at a column and checks that its values are there.
func (l *lists) open(rec arrow.RecordBatch, i int) error {
	l.name = rec.ColumnName(i)
	a, ok := rec.Column(i).(array.ListLike)
	if !ok {
		return format.Error(format.ErrData, "column %q: the batch is of another schema", l.name)
	}
	l.a, l.values = a, a.ListValues()
	last := int64(0)
	for r := range a.Len() {
		from, to := a.ValueOffsets(r)
		if from < 0 || to < from || to > int64(l.values.Len()) || r > 0 && from < last {
			return format.Error(format.ErrData, "column %q: the batch points outside itself", l.name)
		}
		last = from
	}
	if l.values.NullN() > 0 {
		return format.Error(format.ErrData, "column %q: a list has a null among its values", l.name)
	}
	return nil
}

// span is where the values of a row are; none where it is null.
func (l *lists) span(row int) (from, n int) {
	if l.a.IsNull(row) {
		return 0, 0
	}
	a, b := l.a.ValueOffsets(row)
	return int(a), int(b - a)
}

// copy sets dst to the values from one on. Those that are no int32 are ErrData.
func (l *lists) copy(dst []int32, from int) error {
	ok := true
	switch v := l.values.(type) {
	case *array.Int32:
		copy(dst, v.Int32Values()[from:])
	case *array.Int64:
		ok = narrow(dst, v.Int64Values()[from:])
	case *array.Uint32:
		ok = narrow(dst, v.Uint32Values()[from:])
	case *array.Uint16:
		ok = narrow(dst, v.Uint16Values()[from:])
	default:
		return format.Error(format.ErrData, "column %q: the batch is of another schema", l.name)
	}
	if !ok {
		return format.Error(format.ErrData, "column %q: a value is below %d or above %d", l.name, math.MinInt32, math.MaxInt32)
	}
	return nil
}

func narrow[T int64 | uint32 | uint16](dst []int32, src []T) bool {
	ok := true
	for i, x := range src[:len(dst)] {
		dst[i] = int32(x)
		ok = ok && int64(dst[i]) == int64(x)
	}
	return ok
}

// missing is the error of a schema without tokens.
func missing(schema *arrow.Schema, name string) error {
	var names []string
	for _, f := range schema.Fields() {
		names = append(names, f.Name)
	}
	return format.Error(format.ErrUsage, "pack: there is no column %q; there are: %s", name, strings.Join(names, ", "))
}
