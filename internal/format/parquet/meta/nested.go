package meta

import "github.com/apache/arrow-go/v18/arrow"

// The shapes of lists and maps that writers have used; see "Nested Types" in
// Parquet's LogicalTypes.md.

// peek is the i-th element after the one taken last, if there is one.
func (b *builder) peek(i int) *element {
	if b.next+i >= len(b.elems) {
		return &element{}
	}
	return &b.elems[b.next+i]
}

// isList says whether the group e, just taken, has a list's shape: one child,
// which is repeated. LIST groups of another shape are structs.
func (b *builder) isList(e *element) bool {
	return e.children == 1 && b.peek(0).repetition == repeated
}

// isMap says whether the group e, just taken, has a map's shape: one repeated
// group with a key, which is a leaf or group that is not repeated, and a
// value. A set, which has no value, is a list.
func (b *builder) isMap(e *element) bool {
	entries := b.peek(0)
	return b.isList(e) && entries.typ < 0 && entries.children == 2 && b.peek(1).repetition != repeated
}

// list makes a list of the group e.
func (b *builder) list(e *element, parent *Node, lv levels, nullable bool) (*Node, error) {
	list := newNode(e.name, ListKind, parent, lv, nullable)
	below := list.repeat(lv)
	rep, err := b.take()
	if err != nil {
		return nil, err
	}
	defer b.leave()
	var elem *Node
	if b.isElement(rep, e) {
		elem, err = b.content(rep, list, below, false)
	} else {
		elem, err = b.node(list, below)
	}
	if err != nil {
		return nil, err
	}
	list.Children = []*Node{elem}
	return list, nil
}

// isElement says whether the repeated node of a list is its element, rather
// than a group around the element: by the rules for old writers it is when it
// has a type or a meaning of its own, several fields, one repeated field, or
// one of two names.
// What means anything in a LIST is mere decoration of the entries of a set.
func (b *builder) isElement(rep, list *element) bool {
	return rep.typ >= 0 || rep.children != 1 ||
		list.meaning == isList && (rep.meaning == isList || rep.meaning == isMap) ||
		b.peek(0).repetition == repeated ||
		rep.name == "array" || rep.name == list.name+"_tuple"
}

// mapping makes a map of the group e.
func (b *builder) mapping(e *element, parent *Node, lv levels, nullable bool) (*Node, error) {
	m := newNode(e.name, MapKind, parent, lv, nullable)
	below := m.repeat(lv)
	rep, err := b.take()
	if err != nil {
		return nil, err
	}
	defer b.leave()
	entries := newNode(rep.name, StructKind, m, below, false)
	m.Children = []*Node{entries}
	for range 2 {
		n, err := b.node(entries, below)
		if err != nil {
			return nil, err
		}
		entries.Children = append(entries.Children, n)
	}
	entries.Children[0].Field.Nullable = false
	return m, nil
}

// finish sets the Arrow types of all nodes, which are those of their leaves
// put together.
func (s *Schema) finish() {
	fields := make([]arrow.Field, len(s.Columns))
	for i, n := range s.Columns {
		n.finish()
		fields[i] = n.Field
	}
	s.Arrow = arrow.NewSchema(fields, nil)
}

func (n *Node) finish() {
	for _, c := range n.Children {
		c.finish()
	}
	switch n.Kind {
	case StructKind:
		fields := make([]arrow.Field, len(n.Children))
		for i, c := range n.Children {
			fields[i] = c.Field
		}
		n.Field.Type = arrow.StructOf(fields...)
	case ListKind:
		n.Field.Type = n.listType(n.Size)
	case MapKind:
		entries := n.Children[0].Children
		typ := arrow.MapOfFields(entries[0].Field, entries[1].Field)
		n.Field.Type = typ
		// Arrow names the fields of a map's entries itself.
		n.Children[0].Field = typ.ElemField()
		entries[0].Field, entries[1].Field = typ.KeyField(), typ.ItemField()
	}
}
