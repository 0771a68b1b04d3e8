package tensor

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// Selection says which columns a Frame takes, and as what.
type Selection struct {
	Columns []string       // names or globs, in the order wanted; none: all
	Pad     map[string]Pad // columns of lists of numbers that become matrices
	// Tensors makes tensors of columns that are numbers, bools, fixed-size lists
	// of them, or lists of them (values and offsets). In those a null is NaN, of
	// a list that is null it is no values, and of other types it is ErrData.
	// Everything else is Arrow, as it is all without it.
	Tensors bool
}

// Pad makes a matrix of lists: values [rows, Length] and lengths [rows].
type Pad struct {
	Length int     // of a row; 0: that of the batch's longest
	Fill   float64 // behind the values of shorter lists
	Cut    bool    // longer lists are cut off; without it they are ErrData
}

// Frame takes rows of chosen columns. It does not change: any number of
// goroutines may use it.
type Frame struct {
	columns []column
	nodes   []*node
	schema  *arrow.Schema // of the Arrow part
}

// form is what a column becomes.
type form uint8

const (
	asArrow form = iota
	asTensor
	asRagged // values and offsets
	asPadded // values and lengths
)

// column is one that was chosen.
type column struct {
	name  string
	index int // in the schema
	typ   arrow.DataType
	form  form
	root  *node
	pad   Pad
	fill  []byte // one value
	dtype Dtype
	shape []int64 // of a row
}

// kind is how a node's values lie in memory.
type kind uint8

const (
	nulls kind = iota
	bits
	fixed
	text   // offsets and bytes
	list   // offsets and a child; maps too
	vector // as many values of a child each
	record // a value of every child
)

// node is a column or a part of one, as it is given out.
type node struct {
	id    int
	kind  kind
	width int    // bytes of a value or of an offset; of vector: values
	dense bool   // of a tensor
	bool  bool   // dense: bits that become bytes
	nan   []byte // dense: what stands for a null; nil: nothing does
	kids  []*node
}

// Choose plans a Frame for records of a schema. Columns that are not there, or of
// a type that rows cannot be taken of, are ErrUsage.
func Choose(schema *arrow.Schema, s Selection) (*Frame, error) {
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	chosen, err := format.Match(names, s.Columns)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "columns: %w", err)
	}
	f := &Frame{}
	var fields []arrow.Field
	padded := 0
	for _, i := range chosen {
		field := schema.Field(i)
		c := column{name: field.Name, index: i, typ: field.Type}
		pad, ok := s.Pad[field.Name]
		if ok {
			padded++
			err = c.planPad(pad)
		} else if s.Tensors {
			c.planTensor()
		}
		if err != nil {
			return nil, err
		}
		if c.root, err = f.plan(field.Type, c.form != asArrow); err != nil {
			return nil, format.Error(format.ErrUsage, "columns: column %q: %w", field.Name, err)
		}
		if c.form == asArrow {
			field.Type = layout.Decoded(field.Type)
			fields = append(fields, field)
		}
		f.columns = append(f.columns, c)
	}
	if padded < len(s.Pad) {
		for name := range s.Pad {
			if _, err := format.Match(names, []string{name}); err != nil {
				return nil, format.Error(format.ErrUsage, "pad: %w", err)
			}
		}
		return nil, format.Error(format.ErrUsage, "pad: names a column that columns=… does not choose")
	}
	f.schema = arrow.NewSchema(fields, nil)
	return f, nil
}

// Schema is that of the records that a batch holds: the columns that are no
// tensors, dictionaries decoded.
func (f *Frame) Schema() *arrow.Schema { return f.schema }

// planTensor finds out whether a column can be a tensor.
func (c *column) planTensor() {
	t, form := layout.Storage(c.typ), asTensor
	switch l := t.(type) {
	case *arrow.ListType:
		t, form = layout.Storage(l.Elem()), asRagged
	case *arrow.LargeListType:
		t, form = layout.Storage(l.Elem()), asRagged
	}
	var shape []int64
	for form == asTensor {
		v, ok := t.(*arrow.FixedSizeListType)
		if !ok {
			break
		}
		shape = append(shape, int64(v.Len()))
		t = layout.Storage(v.Elem())
	}
	if d, ok := numberOf(t); ok {
		c.form, c.dtype, c.shape = form, d, shape
	}
}

// planPad checks that a column can be padded as asked.
func (c *column) planPad(p Pad) error {
	c.planTensor()
	if c.form != asRagged {
		return format.Error(format.ErrUsage, "pad: column %q: %s is not a list of numbers", c.name, c.typ)
	}
	c.form, c.pad = asPadded, p
	var ok bool
	if c.fill, ok = encode(c.dtype, p.Fill); !ok {
		return format.Error(format.ErrUsage, "pad: column %q: %v is not a value of %s", c.name, p.Fill, c.dtype)
	}
	if p.Length < 0 || p.Length > math.MaxInt32 {
		return format.Error(format.ErrUsage, "pad: column %q: a length of %d", c.name, p.Length)
	}
	return nil
}

// plan makes the node of a type and those below it.
func (f *Frame) plan(t arrow.DataType, dense bool) (*node, error) {
	n := &node{id: len(f.nodes), dense: dense}
	f.nodes = append(f.nodes, n)
	var kids []arrow.DataType
	switch t := layout.Storage(t).(type) {
	case *arrow.NullType:
		n.kind = nulls
	case *arrow.BooleanType:
		n.kind = bits
		if dense {
			n.kind, n.width, n.bool = fixed, 1, true
		}
	case *arrow.StringType, *arrow.BinaryType, *arrow.StringViewType, *arrow.BinaryViewType:
		n.kind, n.width = text, 4
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		n.kind, n.width = text, 8
	case *arrow.ListType:
		n.kind, n.width, kids = list, 4, []arrow.DataType{t.Elem()}
	case *arrow.MapType:
		n.kind, n.width, kids = list, 4, []arrow.DataType{t.ElemField().Type}
	case *arrow.LargeListType:
		n.kind, n.width, kids = list, 8, []arrow.DataType{t.Elem()}
	case *arrow.FixedSizeListType:
		n.kind, n.width, kids = vector, int(t.Len()), []arrow.DataType{t.Elem()}
	case *arrow.StructType:
		n.kind = record
		for _, k := range t.Fields() {
			kids = append(kids, k.Type)
		}
	case *arrow.DictionaryType:
		f.nodes = f.nodes[:n.id]
		n, err := f.plan(t.ValueType, dense)
		if err == nil && (n.kind > text || layout.Storage(t.ValueType).ID() == arrow.DICTIONARY) {
			err = format.Error(format.ErrUsage, "rows of %s cannot be taken", t)
		}
		return n, err
	case arrow.FixedWidthDataType:
		if n.kind, n.width = fixed, t.BitWidth()/8; n.width == 0 {
			return nil, format.Error(format.ErrUsage, "rows of %s cannot be taken", t)
		}
		if d, ok := numbers[t.ID()]; dense && ok && d.Floating() {
			n.nan, _ = encode(d, math.NaN())
		}
	default:
		return nil, format.Error(format.ErrUsage, "rows of %s cannot be taken", t)
	}
	for _, k := range kids {
		kid, err := f.plan(k, dense)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	return n, nil
}
