package npy

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

// copy puts count values of each of n rows from at on into dst, a row after
// the other.
func (m *matrix) copy(dst []byte, c arrow.Array, at, n, count int) {
	d := c.Data()
	first := (d.Offset() + at) * count
	if c.DataType().ID() == arrow.FIXED_SIZE_LIST {
		d = d.Children()[0]
		first += d.Offset()
	}
	if d.Len() == 0 {
		return
	}
	values := d.Buffers()[1].Bytes()
	if m.typ.ID() == arrow.BOOL {
		copyBits(dst, m.row(), values, first, n, count)
		return
	}
	size := count * m.width
	src := values[first*m.width : first*m.width+n*size]
	row := m.row()
	if size == row {
		copy(dst, src)
		return
	}
	switch size {
	case 8:
		for i := range n {
			binary.LittleEndian.PutUint64(dst[i*row:], binary.LittleEndian.Uint64(src[i*8:]))
		}
	case 4:
		for i := range n {
			binary.LittleEndian.PutUint32(dst[i*row:], binary.LittleEndian.Uint32(src[i*4:]))
		}
	default:
		for i := range n {
			copy(dst[i*row:i*row+size], src[i*size:])
		}
	}
}

// copyBits is copy for truth values, which are bytes in an array.
func copyBits(dst []byte, row int, bits []byte, first, n, count int) {
	for i := range n {
		for j := range count {
			k := first + i*count + j
			dst[i*row+j] = bits[k>>3] >> (k & 7) & 1
		}
	}
}
