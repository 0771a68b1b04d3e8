// Package tensor makes the batches that models are given of Arrow records.
//
// A Layout puts columns of numbers into one row-major matrix and a vector of
// labels. Records of a shuffle window are turned into rows once (Fill), and a
// batch is then a copy of rows (Gather); where rows keep their order, they go to
// the batch at once (Direct).
//
// A Frame takes rows of columns of any type, as tensors where they are numbers or
// lists of them and as an Arrow record where they are not.
//
// All bytes lie in memory that the caller gives; what is needed is said before.
package tensor

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// Spec says what the matrix and the labels are made of.
type Spec struct {
	Features   []string // names or globs, in the order wanted; none: all columns but the label
	Label      string   // a column; "": there are no labels
	Dtype      Dtype    // of features, a floating one; Auto: float32
	LabelDtype Dtype    // int64 or floating; Auto: int64 for integers and bools, Dtype for others
}

// Layout is how rows of a schema become rows of numbers. It does not change: any
// number of goroutines may use it.
type Layout struct {
	features []feature
	label    *feature
	dtype    Dtype
	width    int // features of a row
	y        int // where the label lies in a row of a store
	row      int // bytes of a row of a store
}

// feature is a column of the schema that becomes elements of a row.
type feature struct {
	name  string
	index int // in the schema
	typ   arrow.DataType
	at    int // its first element
	width int // elements: more than one for fixed-size lists
	dtype Dtype
}

// Plan finds a layout for records of a schema. Columns that are no numbers, and
// names and types that are not there, are ErrUsage.
func Plan(schema *arrow.Schema, s Spec) (*Layout, error) {
	l := &Layout{dtype: s.Dtype}
	if l.dtype == Auto {
		l.dtype = Float32
	}
	if !l.dtype.Floating() {
		return nil, format.Error(format.ErrUsage, "dtype %s is not one of float32, float64, float16, bfloat16", l.dtype)
	}
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	if err := l.planLabel(names, schema, s); err != nil {
		return nil, err
	}
	chosen, err := format.Match(names, s.Features)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "features: %w", err)
	}
	for _, i := range chosen {
		if l.label != nil && i == l.label.index {
			continue
		}
		width, err := widthOf(schema.Field(i))
		if err != nil {
			return nil, err
		}
		l.features = append(l.features, feature{names[i], i, schema.Field(i).Type, l.width, width, l.dtype})
		l.width += width
	}
	if l.width == 0 {
		return nil, format.Error(format.ErrUsage, "features: no column is left beside the label %q", s.Label)
	}
	x := l.dtype.Size() * l.width
	l.y, l.row = x, x
	if l.label != nil {
		size := l.label.dtype.Size()
		l.y = (x + size - 1) / size * size
		step := max(size, l.dtype.Size())
		l.row = (l.y + size + step - 1) / step * step
	}
	return l, nil
}

// planLabel finds the label and its type.
func (l *Layout) planLabel(names []string, schema *arrow.Schema, s Spec) error {
	if s.Label == "" {
		return nil
	}
	if slices.Contains(s.Features, s.Label) {
		return format.Error(format.ErrUsage, "label: column %q is named as a feature too", s.Label)
	}
	at := slices.Index(names, s.Label)
	if at < 0 {
		_, err := format.Match(names, []string{s.Label})
		return format.Error(format.ErrUsage, "label: %w", err)
	}
	typ := schema.Field(at).Type
	from, ok := numberOf(typ)
	if !ok {
		return format.Error(format.ErrUsage, "label: column %q: %s is not a number; encode it with weir prepare, or use columns=…", s.Label, typ)
	}
	d := s.LabelDtype
	switch {
	case d != Auto && d != Int64 && !d.Floating():
		return format.Error(format.ErrUsage, "label dtype %s is not one of int64, float32, float64, float16, bfloat16", d)
	case d == Auto && from.Floating():
		d = l.dtype
	case d == Auto:
		d = Int64
	}
	l.label = &feature{name: s.Label, index: at, typ: typ, width: 1, dtype: d}
	return nil
}

// widthOf is the elements of a row that a column becomes.
func widthOf(f arrow.Field) (int, error) {
	t, width := layout.Storage(f.Type), 1
	if list, ok := t.(*arrow.FixedSizeListType); ok {
		t, width = layout.Storage(list.Elem()), int(list.Len())
	}
	if _, ok := numberOf(t); ok && width > 0 && (t == layout.Storage(f.Type) || t.ID() != arrow.DICTIONARY) {
		return width, nil
	}
	hint := "leave it out of features=…, or use columns=…"
	switch t.ID() {
	case arrow.STRING, arrow.LARGE_STRING, arrow.STRING_VIEW, arrow.DICTIONARY:
		hint = "encode it with weir prepare, or use columns=…"
	case arrow.LIST, arrow.LARGE_LIST:
		hint = "its rows have lengths of their own: use columns=…, padded if need be"
	}
	return 0, format.Error(format.ErrUsage, "features: column %q: %s is not a number; %s", f.Name, f.Type, hint)
}

// Columns names the columns that are needed, the label last.
func (l *Layout) Columns() []string {
	var out []string
	for _, f := range l.features {
		out = append(out, f.name)
	}
	if l.label != nil {
		out = append(out, l.label.name)
	}
	return out
}

// Width is the number of features of a row.
func (l *Layout) Width() int { return l.width }

// Tensors describes a batch of so many rows: x [rows, Width], and y [rows] where
// there is a label.
func (l *Layout) Tensors(rows int) []Tensor {
	out := []Tensor{{Name: "x", Dtype: l.dtype, Shape: []int64{int64(rows), int64(l.width)}}}
	if l.label != nil {
		out = append(out, Tensor{Name: "y", Dtype: l.label.dtype, Shape: []int64{int64(rows)}, Offset: int64(aligned(l.xBytes(rows)))})
	}
	return out
}

func (l *Layout) xBytes(rows int) int { return rows * l.width * l.dtype.Size() }
