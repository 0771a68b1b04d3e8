package write

import (
	"fmt"
	"math/bits"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Parquet's repetitions.
const (
	required = iota
	optional
	repeated
)

// maxDepth is how deep a schema may nest, as deep as weir's reader goes. A
// list takes two levels. Levels therefore fit a byte.
const maxDepth = 200

// shape is what a step of the way to a leaf is.
type shape uint8

const (
	isLeaf shape = iota
	isStruct
	isList32 // lists and maps, by their offsets
	isList64
	isFixedList
)

// compiler turns an Arrow schema into leaves and the footer's list of schema
// elements.
type compiler struct {
	leaves   []*leaf
	elements int
	schema   thrift // the elements, one after another
	steps    []step
	path     []string
}

// compile makes the leaves of a schema.
func compile(s *arrow.Schema) (*compiler, error) {
	c := &compiler{}
	if s.NumFields() == 0 {
		return nil, format.Error(format.ErrUsage, "parquet: there are no columns to write")
	}
	c.element("schema", -1, s.NumFields(), stored{typ: -1, converted: noConverted})
	for i, f := range s.Fields() {
		if err := c.field(f, i, levelsAt{}); err != nil {
			return nil, fmt.Errorf("parquet: %w", err)
		}
	}
	return c, nil
}

// levelsAt are the levels of the place where a field hangs.
type levelsAt struct{ def, rep uint8 }

// element appends a schema element: a group with children, or a leaf.
func (c *compiler) element(name string, repetition int32, children int, s stored) {
	t := &c.schema
	t.last = 0
	if children == 0 {
		t.i32(1, int32(s.typ))
		if s.width > 0 && s.typ == 7 {
			t.i32(2, int32(s.width))
		}
	}
	if repetition >= 0 {
		t.i32(3, repetition)
	}
	t.text(4, name)
	if children > 0 {
		t.i32(5, int32(children))
	}
	if s.converted >= 0 {
		t.i32(6, s.converted)
	}
	if s.precision > 0 {
		t.i32(7, s.scale)
		t.i32(8, s.precision)
	}
	if s.logical != nil {
		outer := t.begin(10)
		s.logical(t)
		t.end(outer)
	}
	t.b = append(t.b, 0)
	c.elements++
}

// group appends the element of a group with a meaning, or without.
func (c *compiler) group(name string, repetition int32, children int, converted int32, logical func(*thrift)) {
	c.element(name, repetition, children, stored{typ: -1, converted: converted, logical: logical})
}

// field adds the leaves of a field. Column is that at the top.
func (c *compiler) field(f arrow.Field, column int, at levelsAt) error {
	typ := f.Type
	for typ.ID() == arrow.EXTENSION {
		typ = typ.(arrow.ExtensionType).StorageType()
	}
	c.path = append(c.path, f.Name)
	c.steps = append(c.steps, step{rep: at.rep, nullable: f.Nullable})
	defer func(path, steps int) { c.path, c.steps = c.path[:path], c.steps[:steps] }(len(c.path)-1, len(c.steps)-1)
	if len(c.path) > maxDepth {
		return fmt.Errorf("column %q: more than %d groups in one another", c.path[0], maxDepth)
	}
	s := &c.steps[len(c.steps)-1]
	repetition := int32(required)
	if f.Nullable || typ.ID() == arrow.NULL {
		s.nullable = true
		repetition = optional
		at.def++
	}
	s.def = at.def
	switch t := typ.(type) {
	case *arrow.StructType:
		return c.structure(f.Name, t, repetition, column, at)
	case *arrow.MapType:
		return c.mapping(f.Name, t, repetition, column, at)
	case *arrow.FixedSizeListType:
		s.shape, s.size = isFixedList, int(t.Len())
		return c.list(f.Name, t.ElemField(), repetition, column, at)
	case *arrow.LargeListType:
		s.shape = isList64
		return c.list(f.Name, t.ElemField(), repetition, column, at)
	case *arrow.ListType:
		s.shape = isList32
		return c.list(f.Name, t.ElemField(), repetition, column, at)
	}
	return c.leaf(f.Name, typ, repetition, column, at)
}

func (c *compiler) structure(name string, t *arrow.StructType, repetition int32, column int, at levelsAt) error {
	if t.NumFields() == 0 {
		return cannot(strings.Join(c.path, "."), t, ": a struct needs a field")
	}
	c.group(name, repetition, t.NumFields(), noConverted, nil)
	here := len(c.steps) - 1
	for i, f := range t.Fields() {
		c.steps[here].shape, c.steps[here].child = isStruct, i
		if err := c.field(f, column, at); err != nil {
			return err
		}
	}
	return nil
}

// list adds a group "list" around the element, as Parquet wants it.
func (c *compiler) list(name string, elem arrow.Field, repetition int32, column int, at levelsAt) error {
	c.group(name, repetition, 1, convertedList, just(logicalList))
	c.group("list", repeated, 1, noConverted, nil)
	c.path = append(c.path, "list")
	elem.Name = "element"
	return c.field(elem, column, levelsAt{at.def + 1, at.rep + 1})
}

// mapping is a list whose element is the struct of key and value.
func (c *compiler) mapping(name string, t *arrow.MapType, repetition int32, column int, at levelsAt) error {
	c.group(name, repetition, 1, convertedMap, just(logicalMap))
	c.group("key_value", repeated, 2, noConverted, nil)
	c.path = append(c.path, "key_value")
	at = levelsAt{at.def + 1, at.rep + 1}
	list := len(c.steps) - 1
	c.steps[list].shape = isList32
	c.steps = append(c.steps, step{shape: isStruct, rep: at.rep, def: at.def})
	key, value := t.KeyField(), t.ItemField()
	key.Name, key.Nullable, value.Name = "key", false, "value"
	for i, f := range []arrow.Field{key, value} {
		c.steps[list+1].child = i
		if err := c.field(f, column, at); err != nil {
			return err
		}
	}
	return nil
}

func (c *compiler) leaf(name string, typ arrow.DataType, repetition int32, column int, at levelsAt) error {
	path := strings.Join(c.path, ".")
	values := typ
	dict, indexed := typ.(*arrow.DictionaryType)
	if indexed {
		values = dict.ValueType
	}
	s, ok := storedAs(values)
	if !ok || indexed && s.form == fromNothing {
		return cannot(path, typ, "")
	}
	c.element(name, repetition, 0, s)
	l := &leaf{stored: s, path: append([]string(nil), c.path...), name: path, column: column,
		steps: append([]step(nil), c.steps...), maxDef: at.def, maxRep: at.rep}
	if indexed {
		l.index = dict.IndexType.ID()
	}
	l.defs.width, l.reps.width = uint8(bits.Len8(at.def)), uint8(bits.Len8(at.rep))
	c.leaves = append(c.leaves, l)
	return nil
}
