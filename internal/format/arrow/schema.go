package arrow

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// damaged makes an error that is the data's fault.
func damaged(text string, args ...any) error { return format.Error(format.ErrData, text, args...) }

// shape is how an array lies in memory.
type shape uint8

const (
	nullShape      shape = iota // nothing but a length
	bitShape                    // validity, a bit a value
	fixedShape                  // validity, values of width bytes
	indexShape                  // fixed, which point into a dictionary
	textShape                   // validity, offsets of width bytes, data
	viewShape                   // validity, views of 16 bytes, any number of data buffers
	listShape                   // validity, offsets of width bytes; a child
	listViewShape               // validity, offsets and sizes of width bytes; a child
	fixedListShape              // validity; a child with width values a row
	structShape                 // validity; children of as many rows
	sparseShape                 // type codes; children of as many rows
	denseShape                  // type codes, offsets of 4 bytes; children
	runShape                    // children: ends of runs of width bytes, values
)

// buffers is the number of buffers of each shape, without the data buffers of
// views.
var buffers = [...]int{nullShape: 0, bitShape: 2, fixedShape: 2, indexShape: 2, textShape: 3, viewShape: 2, listShape: 2,
	listViewShape: 3, fixedListShape: 1, structShape: 1, sparseShape: 1, denseShape: 2, runShape: 0}

// field is a column, or a part of one.
type field struct {
	arrow.Field
	shape    shape
	width    int
	children []*field
	dict     int64   // the dictionary's id, where shape is indexShape
	values   *field  // what the dictionary holds
	child    []int16 // of a union: which child has a type code; -1: none

	// What the field takes in a record batch with all below it.
	nodes   int
	buffers int // without the data buffers of views
	views   int // how many fields have those
	bare    int // how many have no validity bitmap, but had one before version 5
}

// schema is what a file says of its columns.
type schema struct {
	fields []*field
	meta   arrow.Metadata
	dicts  map[int64]*field // the values of every dictionary
	count  int              // fields at all depths
}

const (
	// depthMost is the deepest nesting; other readers allow as much.
	depthMost = 64
	// fieldLeast is the least a field takes in a message: its table, and the
	// pointer to it. It bounds what a small message can pretend to hold.
	fieldLeast = 8
)

// parseSchema reads a Schema table.
func parseSchema(t table) (*schema, error) {
	if t.int16(0, 0) != 0 {
		return nil, damaged("big-endian data is not read; write it on a little-endian machine")
	}
	s := &schema{dicts: map[int64]*field{}}
	list := t.vector(1, 4)
	for i := range list.n {
		f, err := s.field(list.table(i), 0)
		if err != nil {
			return nil, err
		}
		s.fields = append(s.fields, f)
	}
	s.meta = metadata(t.vector(2, 4))
	if t.f.bad {
		return nil, damaged("the schema is damaged")
	}
	return s, nil
}

// field reads a Field table.
func (s *schema) field(t table, depth int) (*field, error) {
	if s.count++; t.f == nil || t.f.bad || s.count > len(t.f.b)/fieldLeast {
		return nil, damaged("the schema is damaged")
	}
	if depth > depthMost {
		return nil, damaged("the schema is nested deeper than %d levels", depthMost)
	}
	f := &field{Field: arrow.Field{Name: t.text(0), Nullable: t.bool(1), Metadata: metadata(t.vector(6, 4))}}
	kids := t.vector(5, 4)
	for i := range kids.n {
		c, err := s.field(kids.table(i), depth+1)
		if err != nil {
			return nil, err
		}
		f.children = append(f.children, c)
	}
	if err := f.setType(t.byte(2), t.table(3)); err != nil {
		return nil, damaged("field %q: %w", f.Name, err)
	}
	if enc := t.table(4); enc.there() {
		if err := s.encode(f, enc); err != nil {
			return nil, damaged("field %q: %w", f.Name, err)
		}
	}
	f.sum()
	return f, nil
}

// encode makes f the indices into a dictionary of what it was.
func (s *schema) encode(f *field, enc table) error {
	index := arrow.DataType(arrow.PrimitiveTypes.Int32)
	if t := enc.table(1); t.there() {
		var err error
		if index, err = integer(t); err != nil {
			return err
		}
	}
	values := *f
	values.Name, values.Nullable = "values", true
	values.sum()
	f.dict, f.values = enc.int64(0), &values
	if old := s.dicts[f.dict]; old == nil {
		s.dicts[f.dict] = &values
	} else if !arrow.TypeEqual(old.Type, values.Type) {
		return damaged("dictionary %d is of two types", f.dict)
	}
	f.Type = &arrow.DictionaryType{IndexType: index, ValueType: values.Type, Ordered: enc.bool(2)}
	f.shape, f.width, f.children, f.child = indexShape, index.(arrow.FixedWidthDataType).Bytes(), nil, nil
	return nil
}

// sum adds up what f takes in a record batch.
func (f *field) sum() {
	f.nodes, f.buffers, f.views, f.bare = 1, buffers[f.shape], 0, 0
	switch f.shape {
	case viewShape:
		f.views = 1
	case sparseShape, denseShape, runShape:
		f.bare = 1
	}
	for _, c := range f.children {
		f.nodes += c.nodes
		f.buffers += c.buffers
		f.views += c.views
		f.bare += c.bare
	}
}

// uses adds the ids of the dictionaries that f needs, those of their values
// included.
func (f *field) uses(ids map[int64]bool) {
	if f.shape == indexShape {
		ids[f.dict] = true
		f.values.uses(ids)
	}
	for _, c := range f.children {
		c.uses(ids)
	}
}

// metadata reads a list of KeyValue tables.
func metadata(v vector) arrow.Metadata {
	var keys, values []string
	for i := range v.n {
		if v.f.bad {
			break
		}
		t := v.table(i)
		keys, values = append(keys, t.text(0)), append(values, t.text(1))
	}
	return arrow.NewMetadata(keys, values)
}
