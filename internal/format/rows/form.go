// Package rows lays rows of any Arrow types down one by one, each in bytes that
// follow each other, and makes records of them again, in any order.
//
// Columns are where values are compared; rows are where they are moved about: a
// row that is taken out of many costs a few cache lines, not one for each of its
// columns.
//
// A row is
//
//	4 bytes  its size; only where values vary in length
//	         a bit for every column: 1 where it is not null
//	         a slot for every column: a value of fixed width (a bool is a byte),
//	         or 4 bytes that say where in the row the column's bytes end
//	         the bytes of columns whose values vary, one after the other
//
// Those of a text are itself. Those of n nested values are, by kind: of fixed
// width, the values; of bools, bits; of texts, the length of each and all texts; of
// lists, the length of each and the values of all; of lists of a fixed size,
// their values; of structs, the values of each field. Before nested values stands a
// byte: 0, or 1 and a bit for every value, which is 0 where it is null. Lengths have
// 4 bytes. Numbers are little-endian and nothing is aligned.
package rows

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// Form is how rows of a schema lie in memory. It does not change: any number of
// goroutines may use it.
type Form struct {
	in    []arrow.DataType // of the columns that records have
	out   *arrow.Schema
	roots []*node
	nodes []*node
	slots []int // where in a row each column's is
	bits  int   // where the bits are
	fixed int   // bytes up to the end of the slots
	vary  bool  // rows begin with their size
}

// kind is how a node's values lie in memory.
type kind uint8

const (
	nulls kind = iota
	bools
	plain
	text   // offsets and bytes
	list   // offsets and a child; maps too
	vector // as many values of a child each
	record // a value of every child
)

// node is a column or a part of one.
type node struct {
	id    int
	kind  kind
	width int // bytes of a value or of an offset; of vector: values
	kids  []*node
}

// New plans for records of a schema. A column of a type whose rows cannot be
// taken (unions, run-end encoding, list views) is ErrUsage.
func New(schema *arrow.Schema) (*Form, error) {
	f := &Form{}
	var fields []arrow.Field
	for _, field := range schema.Fields() {
		root, err := f.plan(field.Type)
		if err != nil {
			return nil, format.Error(format.ErrUsage, "column %q: %w", field.Name, err)
		}
		f.in = append(f.in, field.Type)
		f.roots = append(f.roots, root)
		fields = append(fields, layout.DecodedField(field))
	}
	meta := schema.Metadata()
	f.out = arrow.NewSchema(fields, &meta)
	f.divide()
	return f, nil
}

// divide finds the places of slots.
func (f *Form) divide() {
	for _, root := range f.roots {
		f.vary = f.vary || root.kind >= text
	}
	if f.vary {
		f.bits = 4
	}
	f.fixed = f.bits + (len(f.roots)+7)/8
	for _, root := range f.roots {
		f.slots = append(f.slots, f.fixed)
		switch {
		case root.kind == bools:
			f.fixed++
		case root.kind == plain:
			f.fixed += root.width
		case root.kind >= text:
			f.fixed += 4
		}
	}
}

// Schema is that of the records that are made: dictionaries and views decoded.
func (f *Form) Schema() *arrow.Schema { return f.out }

// Nodes is the number of columns, nested ones counted.
func (f *Form) Nodes() int { return len(f.nodes) }

// Fixed is the size of every row; false: it varies, and Fixed is the least.
func (f *Form) Fixed() (int, bool) { return f.fixed, !f.vary }

// Size is that of the row that ram begins with; false: there is none.
func (f *Form) Size(ram []byte) (int, bool) {
	if !f.vary {
		return f.fixed, len(ram) >= f.fixed
	}
	if len(ram) < f.fixed {
		return 0, false
	}
	n := int(binary.LittleEndian.Uint32(ram))
	return n, n >= f.fixed && n <= len(ram)
}

// plan makes the node of a type and those below it.
func (f *Form) plan(t arrow.DataType) (*node, error) {
	n := &node{id: len(f.nodes)}
	f.nodes = append(f.nodes, n)
	var kids []arrow.DataType
	switch t := layout.Storage(t).(type) {
	case *arrow.NullType:
		n.kind = nulls
	case *arrow.BooleanType:
		n.kind = bools
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
		v, err := f.plan(t.ValueType)
		if err == nil && (v.kind > text || v.kind == nulls || layout.Storage(t.ValueType).ID() == arrow.DICTIONARY) {
			err = unable(t)
		}
		return v, err
	case arrow.FixedWidthDataType:
		if n.kind, n.width = plain, t.BitWidth()/8; n.width == 0 {
			return nil, unable(t)
		}
	default:
		return nil, unable(t)
	}
	for _, k := range kids {
		kid, err := f.plan(k)
		if err != nil {
			return nil, err
		}
		n.kids = append(n.kids, kid)
	}
	return n, nil
}

func unable(t arrow.DataType) error {
	return format.Error(format.ErrUsage, "rows of %s cannot be taken", t)
}
