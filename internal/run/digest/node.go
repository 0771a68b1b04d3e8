package digest

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/zeebo/xxh3"
)

// kind is how values of a node lie in memory.
type kind uint8

const (
	null kind = iota
	bit
	fixed      // width bytes each
	bytes32    // 32-bit offsets into bytes
	bytes64    // 64-bit offsets into bytes
	views      // 16-byte views into several buffers
	list32     // 32-bit offsets into the child; maps too
	list64     // 64-bit offsets into the child
	fixedList  // width children each
	structure  // children side by side
	dictionary // width-byte indices into the dictionary, whose values count
)

// node holds the sums of one level of a column.
type node struct {
	name     string
	typ      string
	kind     kind
	width    int
	valid    runSum
	lengths  *byteSum // strings and lists
	values   *byteSum // strings and fixed-width values
	children []*node
}

func newNode(name string, t arrow.DataType) (*node, error) {
	for {
		ext, ok := t.(arrow.ExtensionType)
		if !ok {
			break
		}
		t = ext.StorageType()
	}
	n := &node{name: name, typ: t.Name()}
	switch t := t.(type) {
	case *arrow.NullType:
		return n, nil
	case *arrow.StringType, *arrow.BinaryType:
		n.kind, n.lengths, n.values = bytes32, new(byteSum), new(byteSum)
		return n, nil
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		n.kind, n.lengths, n.values = bytes64, new(byteSum), new(byteSum)
		return n, nil
	case *arrow.StringViewType, *arrow.BinaryViewType:
		n.kind, n.lengths, n.values = views, new(byteSum), new(byteSum)
		return n, nil
	case *arrow.ListType:
		n.kind, n.lengths = list32, new(byteSum)
		return n, n.grow(arrow.Field{Type: t.Elem()})
	case *arrow.MapType:
		n.kind, n.lengths = list32, new(byteSum)
		return n, n.grow(arrow.Field{Type: t.Elem()})
	case *arrow.LargeListType:
		n.kind, n.lengths = list64, new(byteSum)
		return n, n.grow(arrow.Field{Type: t.Elem()})
	case *arrow.FixedSizeListType:
		n.kind, n.width = fixedList, int(t.Len())
		n.typ = fmt.Sprintf("%s[%d]", n.typ, n.width)
		return n, n.grow(arrow.Field{Type: t.Elem()})
	case *arrow.StructType:
		n.kind = structure
		return n, n.grow(t.Fields()...)
	case *arrow.DictionaryType:
		n.kind, n.width = dictionary, t.IndexType.(arrow.FixedWidthDataType).BitWidth()/8
		return n, n.grow(arrow.Field{Type: t.ValueType})
	case *arrow.BooleanType:
		n.kind, n.values = bit, new(byteSum)
		return n, nil
	case arrow.FixedWidthDataType:
		n.kind, n.width, n.values = fixed, t.BitWidth()/8, new(byteSum)
		n.typ = t.String()
		return n, nil
	}
	return nil, fmt.Errorf("values of type %s cannot be digested", t)
}

// grow adds children. Only fields of structs have names that count.
func (n *node) grow(fields ...arrow.Field) error {
	for _, f := range fields {
		c, err := newNode(f.Name, f.Type)
		if err != nil {
			return err
		}
		n.children = append(n.children, c)
	}
	return nil
}

// fold adds the node's name, type and sums to h, then its children's.
func (n *node) fold(h *xxh3.Hasher128) {
	word(h, uint64(len(n.name)))
	h.WriteString(n.name)
	word(h, uint64(len(n.typ)))
	h.WriteString(n.typ)
	fold := func(hi, lo uint64) {
		word(h, hi)
		word(h, lo)
	}
	fold(n.valid.sum())
	for _, s := range []*byteSum{n.lengths, n.values} {
		if s != nil {
			fold(s.sum())
		}
	}
	word(h, uint64(len(n.children)))
	for _, c := range n.children {
		c.fold(h)
	}
}

// add adds rows [i, i+rows) of d: their validity, then the values of each run
// of valid ones.
func (n *node) add(d arrow.ArrayData, i, rows int) {
	if rows == 0 {
		return
	}
	at := d.Offset() + i
	if n.kind == null {
		n.valid.add(false, rows)
		return
	}
	bitmap := content(d.Buffers()[0])
	if len(bitmap) == 0 || d.NullN() == 0 {
		n.valid.add(true, rows)
		n.run(d, at, rows)
		return
	}
	for end := at + rows; at < end; {
		valid, count := bitRun(bitmap, at, end)
		n.valid.add(valid, count)
		if valid {
			n.run(d, at, count)
		}
		at += count
	}
}

// run adds the values of rows that are all valid; at counts from the start of
// the buffers.
func (n *node) run(d arrow.ArrayData, at, rows int) {
	switch n.kind {
	case fixed:
		n.values.write(content(d.Buffers()[1])[at*n.width : (at+rows)*n.width])
	case bit:
		n.addBits(content(d.Buffers()[1]), at, rows)
	case bytes32:
		from, to := addLengths32(n.lengths, content(d.Buffers()[1]), at, rows)
		n.values.write(content(d.Buffers()[2])[from:to])
	case bytes64:
		from, to := addLengths64(n.lengths, content(d.Buffers()[1]), at, rows)
		n.values.write(content(d.Buffers()[2])[from:to])
	case views:
		n.addViews(d, at, rows)
	case list32:
		from, to := addLengths32(n.lengths, content(d.Buffers()[1]), at, rows)
		n.children[0].add(d.Children()[0], from, to-from)
	case list64:
		from, to := addLengths64(n.lengths, content(d.Buffers()[1]), at, rows)
		n.children[0].add(d.Children()[0], from, to-from)
	case fixedList:
		n.children[0].add(d.Children()[0], at*n.width, rows*n.width)
	case structure:
		for i, c := range n.children {
			c.add(d.Children()[i], at, rows)
		}
	case dictionary:
		indices := content(d.Buffers()[1])
		for r := at; r < at+rows; r++ {
			n.children[0].add(d.Dictionary(), index(indices[r*n.width:(r+1)*n.width]), 1)
		}
	}
}

// content is a buffer's bytes; a missing one has none.
func content(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}

// index reads a little-endian number of any width.
func index(p []byte) int {
	var b [8]byte
	copy(b[:], p)
	return int(binary.LittleEndian.Uint64(b[:]))
}
