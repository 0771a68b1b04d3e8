package write

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// step is one array on the way from a top-level column to a leaf. Places in it
// count from the beginning of its buffers, its own offset included.
type step struct {
	shape    shape
	nullable bool
	def      uint8 // the definition level of a value that is not null
	rep      uint8 // the repetition level of all but the first of a list's elements
	child    int   // structs: the field on the way
	size     int   // lists of a fixed size

	// Of the batch at hand.
	valid []byte // nil: no nulls
	off32 []int32
	off64 []int64
	shift int // from a place here, or what the offsets say, to the child's place
}

// source is where the values of a leaf lie in the batch at hand.
type source struct {
	data    []byte   // values, or the bytes that offsets or views point to
	off32   []int32  // fromBytes32
	off64   []int64  // fromBytes64
	views   []byte   // fromView: 16 bytes each
	buffers [][]byte // fromView: what long ones point to

	// Of dictionaries: the values above are the dictionary's, whose first has
	// the place base.
	indices []byte
	base    int
}

// bind points the leaf at the arrays of a batch.
func (l *leaf) bind(a arrow.ArrayData) {
	l.first = a.Offset()
	for i := range l.steps {
		s := &l.steps[i]
		s.valid = nil
		if b := a.Buffers(); a.NullN() != 0 && len(b) > 0 {
			s.valid = bytesOf(b[0])
		}
		if s.shape == isLeaf {
			l.bindValues(a)
			return
		}
		switch s.shape {
		case isList32:
			s.off32 = arrow.Int32Traits.CastFromBytes(bytesOf(a.Buffers()[1]))
		case isList64:
			s.off64 = arrow.Int64Traits.CastFromBytes(bytesOf(a.Buffers()[1]))
		}
		a = a.Children()[s.child]
		s.shift = a.Offset()
	}
}

func (l *leaf) bindValues(a arrow.ArrayData) {
	l.src = source{}
	s := &l.src
	if l.form == fromNothing {
		return
	}
	if l.index != arrow.NULL {
		s.indices = bytesOf(a.Buffers()[1])
		a = a.Dictionary()
		s.base = a.Offset()
		l.dictValid = nil
		if a.NullN() != 0 {
			l.dictValid = bytesOf(a.Buffers()[0])
		}
	}
	b := a.Buffers()
	switch l.form {
	case fromBytes32:
		s.off32, s.data = arrow.Int32Traits.CastFromBytes(bytesOf(b[1])), bytesOf(b[2])
	case fromBytes64:
		s.off64, s.data = arrow.Int64Traits.CastFromBytes(bytesOf(b[1])), bytesOf(b[2])
	case fromView:
		s.views = bytesOf(b[1])
		for _, x := range b[2:] {
			s.buffers = append(s.buffers, bytesOf(x))
		}
	default:
		s.data = bytesOf(b[1])
	}
}

// bytesOf is a buffer's bytes, of which there may be none.
func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}

// at is the place in the dictionary of the value at place i.
func (l *leaf) at(i int) int {
	b := l.src.indices
	var k int
	switch l.index {
	case arrow.INT8:
		k = int(int8(b[i]))
	case arrow.UINT8:
		k = int(b[i])
	case arrow.INT16, arrow.UINT16:
		k = int(binary.LittleEndian.Uint16(b[2*i:]))
	case arrow.INT32, arrow.UINT32:
		k = int(binary.LittleEndian.Uint32(b[4*i:]))
	default:
		k = int(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return l.src.base + k
}

// view is the value at place i of a view array.
func (s *source) view(i int) []byte {
	v := s.views[16*i : 16*i+16]
	n := binary.LittleEndian.Uint32(v)
	if n <= 12 {
		return v[4 : 4+n]
	}
	off := binary.LittleEndian.Uint32(v[12:])
	return s.buffers[binary.LittleEndian.Uint32(v[8:])][off : off+n]
}

// bytes is the value at place i, of any length.
func (l *leaf) bytes(i int) []byte {
	s := &l.src
	switch l.form {
	case fromBytes32:
		return s.data[s.off32[i]:s.off32[i+1]]
	case fromBytes64:
		return s.data[s.off64[i]:s.off64[i+1]]
	}
	return s.view(i)
}

// need is the most that some rows of the batch at hand take: levels, and bytes
// of values.
func (l *leaf) need(from, to int) (levels, bytes int) {
	a, b := l.first+from, l.first+to
	for i := range l.steps {
		s := &l.steps[i]
		if s.shape != isStruct {
			levels += b - a
		}
		if a == b {
			return levels, 0
		}
		switch s.shape {
		case isList32:
			a, b = int(s.off32[a]), int(s.off32[b])
		case isList64:
			a, b = int(s.off64[a]), int(s.off64[b])
		case isFixedList:
			a, b = a*s.size, b*s.size
		case isLeaf:
			return levels, l.size(a, b)
		}
		a, b = a+s.shift, b+s.shift
	}
	return levels, 0
}

// size is the most bytes that the values from place a to b take.
func (l *leaf) size(a, b int) int {
	n := b - a
	switch {
	case n <= 0 || l.form == fromNothing:
		return 0
	case l.form == fromBool:
		return n/8 + 2
	case l.width > 0:
		return n * l.width
	case l.index == arrow.NULL && l.form == fromBytes32:
		return 4*n + int(l.src.off32[b]-l.src.off32[a])
	case l.index == arrow.NULL && l.form == fromBytes64:
		return 4*n + int(l.src.off64[b]-l.src.off64[a])
	}
	return 4*n + l.lengths(a, b)
}

// lengths adds up bytes where no two offsets tell: of views and dictionaries.
func (l *leaf) lengths(a, b int) int {
	valid := l.steps[len(l.steps)-1].valid
	sum := 0
	for i := a; i < b; i++ {
		if valid != nil && valid[i>>3]>>(i&7)&1 == 0 {
			continue
		}
		k := i
		if l.index != arrow.NULL {
			k = l.at(i)
		}
		sum += len(l.bytes(k))
	}
	return sum
}

// largest is the most that a single one of some rows takes.
func (l *leaf) largest(from, to int) (levels, bytes int) {
	for ; from < to; from++ {
		n, b := l.need(from, from+1)
		levels, bytes = max(levels, n), max(bytes, b)
	}
	return levels, bytes
}
