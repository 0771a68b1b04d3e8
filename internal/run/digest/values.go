package digest

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
)

// bitRun is the value of bit at and the number of bits from there, before
// end, that are the same.
func bitRun(bitmap []byte, at, end int) (set bool, n int) {
	set = bitmap[at>>3]>>(at&7)&1 == 1
	var flip uint64
	if set {
		flip = ^flip
	}
	for pos := at; pos < end; {
		word, width := loadBits(bitmap, pos)
		if same := bits.TrailingZeros64(word ^ flip); same < width {
			return set, min(pos+same, end) - at
		}
		pos += width
	}
	return set, end - at
}

// loadBits reads as many bits from pos on as one load gives: at least one.
func loadBits(bitmap []byte, pos int) (word uint64, width int) {
	i, shift := pos>>3, pos&7
	if i+8 <= len(bitmap) {
		return binary.LittleEndian.Uint64(bitmap[i:]) >> shift, 64 - shift
	}
	return uint64(bitmap[i] >> shift), 8 - shift
}

// pieces is the number of lengths or bits that are turned into bytes at a
// time, on the stack.
const pieces = 256

// addLengths32 adds the lengths of rows that 32-bit offsets tell, four bytes
// each, and returns where the first begins and the last ends.
func addLengths32(s *byteSum, raw []byte, at, rows int) (from, to int) {
	offsets := arrow.Uint32Traits.CastFromBytes(raw)[at : at+rows+1]
	var buf [pieces * 4]byte
	for row := 0; row < rows; row += pieces {
		n := min(pieces, rows-row)
		part := offsets[row : row+n+1]
		last := part[0]
		for i, next := range part[1:] {
			binary.LittleEndian.PutUint32(buf[i*4:], next-last)
			last = next
		}
		s.write(buf[:n*4])
	}
	return int(offsets[0]), int(offsets[rows])
}

// addLengths64 is addLengths32 for 64-bit offsets, eight bytes each.
func addLengths64(s *byteSum, raw []byte, at, rows int) (from, to int) {
	offsets := arrow.Uint64Traits.CastFromBytes(raw)[at : at+rows+1]
	var buf [pieces * 8]byte
	for row := 0; row < rows; row += pieces {
		n := min(pieces, rows-row)
		part := offsets[row : row+n+1]
		last := part[0]
		for i, next := range part[1:] {
			binary.LittleEndian.PutUint64(buf[i*8:], next-last)
			last = next
		}
		s.write(buf[:n*8])
	}
	return int(offsets[0]), int(offsets[rows])
}

// addBits adds booleans, a byte each.
func (n *node) addBits(bitmap []byte, at, rows int) {
	var buf [pieces]byte
	for rows > 0 {
		k := min(pieces, rows)
		for i := range k {
			buf[i] = bitmap[(at+i)>>3] >> ((at + i) & 7) & 1
		}
		n.values.write(buf[:k])
		at, rows = at+k, rows-k
	}
}

// addViews adds strings that lie in views: a length, then the bytes themselves
// up to 12, or the number of a buffer and an offset in it.
func (n *node) addViews(d arrow.ArrayData, at, rows int) {
	table := content(d.Buffers()[1])
	for r := at; r < at+rows; r++ {
		v := table[r*16 : r*16+16]
		size := int(binary.LittleEndian.Uint32(v))
		n.lengths.write(v[:4])
		if size <= 12 {
			n.values.write(v[4 : 4+size])
			continue
		}
		buffer := int(binary.LittleEndian.Uint32(v[8:]))
		offset := int(binary.LittleEndian.Uint32(v[12:]))
		n.values.write(content(d.Buffers()[2+buffer])[offset : offset+size])
	}
}
