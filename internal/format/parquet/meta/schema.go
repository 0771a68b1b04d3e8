package meta

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// Kind is what a node of the schema becomes in Arrow.
type Kind uint8

// The kinds of nodes. A list has one child. A map has one child, the struct
// of its entries, which is never null and has two children, key and value.
const (
	LeafKind Kind = iota
	StructKind
	ListKind
	MapKind
)

// Schema is a file's schema as Arrow sees it.
type Schema struct {
	Arrow   *arrow.Schema
	Columns []*Node // the top-level columns, as in Arrow
	Leaves  []*Leaf // the stored columns, in the file's order
}

// Node is a column or a part of one.
type Node struct {
	Name   string
	Kind   Kind
	Field  arrow.Field // of this node, with its type and whether it may be null
	Parent *Node       // nil at the top
	// Def is the definition level from which on the node is not null. A node
	// whose Field is not nullable has its parent's level (below lists and
	// maps: ElemDef), but for keys of maps that the file calls optional: a
	// lower level there is a null key, which Arrow cannot hold.
	Def int16
	// Rep is, for lists and maps, the repetition level that means another
	// element; for others the number of lists and maps above.
	Rep int16
	// ElemDef is, for lists and maps, the definition level from which on
	// there is an element.
	ElemDef int16
	// Size is, for lists whose type is a fixed-size list, the elements of
	// every one that is not null; else 0.
	Size     int
	Children []*Node
	Leaf     *Leaf // LeafKind only
}

// Leaf is a stored column.
type Leaf struct {
	Ordinal        int    // in Schema.Leaves and in every row group
	Path           string // the names in the file from the top, with dots between
	Column         int    // the top-level column it is a part of
	Type           Type
	Width          int // bytes of a FixedLenByteArray
	MaxDef, MaxRep int16
	Node           *Node
}

// maxDepth is how deep a schema may nest. A list takes two levels.
const maxDepth = 200

// elementCost is the most bytes on the Go heap for a schema element, its name
// and path apart. Measured: 220 to 690 are kept (node, leaf, Arrow field and
// type, index by name), 100 more are there while the footer is read.
const elementCost = 800

// builder turns the list of schema elements into a tree.
type builder struct {
	elems  []element
	next   int
	path   []string
	column int
	leaves []*Leaf
	pay    func(int64) error // asked before names are stored
}

// levels are those of the place where a node hangs.
type levels struct{ def, rep int16 }

// build makes the tree; Arrow types of all but leaves are set later, by
// finish.
func (b *builder) build() (*Schema, error) {
	if len(b.elems) == 0 {
		return nil, bad("schema: empty")
	}
	root := b.elems[0]
	b.next = 1
	s := &Schema{}
	for b.column = 0; b.column < int(root.children); b.column++ {
		n, err := b.node(nil, levels{})
		if err != nil {
			return nil, err
		}
		s.Columns = append(s.Columns, n)
	}
	if b.next < len(b.elems) {
		return nil, bad("schema: %d elements, the tree has %d", len(b.elems), b.next)
	}
	s.Leaves = b.leaves
	return s, nil
}

// at names the element taken last.
func (b *builder) at(err error) error {
	return fmt.Errorf("schema element %d, %q: %w", b.next-1, b.elems[b.next-1].name, err)
}

// take goes to the next element and adds its name to the path; leave ends it.
func (b *builder) take() (*element, error) {
	if b.next >= len(b.elems) {
		return nil, bad("schema: the tree needs more than its %d elements", len(b.elems))
	}
	e := &b.elems[b.next]
	b.next++
	if e.typ < 0 && e.children == 0 {
		return nil, b.at(bad("a group without children"))
	}
	if b.path = append(b.path, e.name); len(b.path) > maxDepth {
		return nil, b.at(bad("more than %d groups in one another", maxDepth))
	}
	return e, nil
}

func (b *builder) leave() { b.path = b.path[:len(b.path)-1] }

// node makes the node of the next element: one that is repeated outside of a
// LIST or MAP group is a list that is never null.
func (b *builder) node(parent *Node, lv levels) (*Node, error) {
	e, err := b.take()
	if err != nil {
		return nil, err
	}
	defer b.leave()
	if e.repetition != repeated {
		return b.content(e, parent, lv, e.repetition == optional)
	}
	list := newNode(e.name, ListKind, parent, lv, false)
	below := list.repeat(lv)
	elem, err := b.content(e, list, below, false)
	if err != nil {
		return nil, err
	}
	list.Children = []*Node{elem}
	return list, nil
}

func newNode(name string, kind Kind, parent *Node, lv levels, nullable bool) *Node {
	n := &Node{Name: name, Kind: kind, Parent: parent, Def: lv.def, Rep: lv.rep}
	n.Field = arrow.Field{Name: name, Nullable: nullable}
	if nullable {
		n.Def++
	}
	return n
}

// repeat sets the levels of a list or map and returns those of its elements.
func (n *Node) repeat(lv levels) levels {
	n.Rep = lv.rep + 1
	n.ElemDef = n.Def + 1
	return levels{n.ElemDef, n.Rep}
}

// content makes a node of e as if it were not repeated.
func (b *builder) content(e *element, parent *Node, lv levels, nullable bool) (*Node, error) {
	switch {
	case e.typ >= 0:
		return b.leaf(e, parent, lv, nullable)
	case e.meaning == isMap && b.isMap(e):
		return b.mapping(e, parent, lv, nullable)
	case (e.meaning == isList || e.meaning == isMap) && b.isList(e):
		return b.list(e, parent, lv, nullable)
	}
	n := newNode(e.name, StructKind, parent, lv, nullable)
	for range e.children {
		c, err := b.node(n, levels{n.Def, lv.rep})
		if err != nil {
			return nil, err
		}
		n.Children = append(n.Children, c)
	}
	return n, nil
}

func (b *builder) leaf(e *element, parent *Node, lv levels, nullable bool) (*Node, error) {
	n := newNode(e.name, LeafKind, parent, lv, nullable)
	typ, err := e.arrowType()
	if err != nil {
		return nil, b.at(err)
	}
	n.Field.Type = typ
	size := len(b.path)
	for _, name := range b.path {
		size += len(name)
	}
	if err := b.pay(int64(size)); err != nil {
		return nil, err
	}
	n.Leaf = &Leaf{Ordinal: len(b.leaves), Path: strings.Join(b.path, "."), Column: b.column,
		Type: Type(e.typ), MaxDef: n.Def, MaxRep: n.Rep, Node: n}
	if n.Leaf.Type == FixedLenByteArray {
		n.Leaf.Width = int(e.width)
	}
	b.leaves = append(b.leaves, n.Leaf)
	return n, nil
}
