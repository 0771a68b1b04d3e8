package meta

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// maxSize is the most elements of a fixed-size list: with any type, a row is
// smaller than what Arrow can address. A list of more is one of any length.
const maxSize = math.MaxInt32 / 64

// CanFix says that n may become a fixed-size list: a column of lists of values
// that have one width.
func (n *Node) CanFix() bool {
	if n.Kind != ListKind || n.Parent != nil {
		return false
	}
	leaf := n.Children[0].Leaf
	return leaf != nil && leaf.Type != ByteArray && leaf.Node.Field.Type.ID() != arrow.NULL &&
		(leaf.Type != FixedLenByteArray || leaf.Width <= 64)
}

// setSize makes n a list of that many elements, if there can be one.
func (n *Node) setSize(size int) {
	if size > 0 && size <= maxSize {
		n.Size = size
	}
}

// listType is the type of the list n, with that many elements or, at 0, any
// number of them.
func (n *Node) listType(size int) arrow.DataType {
	if size > 0 {
		return arrow.FixedSizeListOfField(int32(size), n.Children[0].Field)
	}
	return arrow.ListOfField(n.Children[0].Field)
}

// Become makes n's type that of another file, where they differ only in
// whether lists are said to have one size; false: they differ in more.
func (n *Node) Become(typ arrow.DataType) bool {
	size := 0
	if t, ok := typ.(*arrow.FixedSizeListType); ok {
		size = int(t.Len())
	}
	if !n.CanFix() || size > maxSize || !arrow.TypeEqual(n.listType(size), typ) {
		return false
	}
	n.Size, n.Field.Type = size, typ
	return true
}
