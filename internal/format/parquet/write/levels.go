package write

import (
	"encoding/binary"
	"math/bits"
)

// levels encodes repetition or definition levels as they come, in Parquet's
// hybrid of runs and packed bits, into memory that the owner sized with
// levelBytes.
type levels struct {
	buf    []byte
	n      int   // bytes of buf that are written
	width  uint8 // bits of a level
	val    uint8 // the run that is still open
	run    int
	acc    uint64 // values of an unfinished group, have of them
	have   int
	head   int // where the open packed run has its header
	groups int // in the open packed run; 0: none is open
}

// mostGroups is how many groups of 8 a packed run has at most, so that its
// header is one byte.
const mostGroups = 63

// levelBytes is the most that n levels of a width take.
func levelBytes(n int, width uint8) int {
	if width == 0 {
		return 0
	}
	return (n+7)/8*int(width) + n/256 + 16
}

// reset begins anew in buf.
func (e *levels) reset(buf []byte) {
	*e = levels{buf: buf, width: e.width}
}

// room says whether n more levels surely fit.
func (e *levels) room(n int) bool {
	return e.width == 0 || e.n+16+levelBytes(n, e.width) <= len(e.buf)
}

// repeat appends v n times.
func (e *levels) repeat(v uint8, n int) {
	if v == e.val {
		e.run += n
		return
	}
	if n > 0 {
		e.settle()
		e.val, e.run = v, n
	}
}

// settle writes the open run.
func (e *levels) settle() {
	if e.have > 0 {
		fill := min(8-e.have, e.run)
		e.push(fill)
	}
	// A run of less than 32 bits is no longer when it is packed.
	if e.run >= 8 && e.run*int(e.width) >= 32 {
		e.groups = 0
		e.n += binary.PutUvarint(e.buf[e.n:], uint64(e.run)<<1)
		e.buf[e.n] = e.val
		e.n++
		e.run = 0
	}
	for e.run > 0 {
		e.push(min(8-e.have, e.run))
	}
}

// push moves n values of the run, which fit, to the unfinished group.
func (e *levels) push(n int) {
	for range n {
		e.acc |= uint64(e.val) << (uint(e.have) * uint(e.width))
		e.have++
	}
	e.run -= n
	if e.have == 8 {
		e.open()
		binary.LittleEndian.PutUint64(e.buf[e.n:], e.acc)
		e.n += int(e.width)
		e.acc, e.have = 0, 0
	}
}

// open counts one more group in the packed run, or begins a new run.
func (e *levels) open() {
	if e.groups == 0 || e.groups == mostGroups {
		e.head, e.groups = e.n, 0
		e.n++
	}
	e.groups++
	e.buf[e.head] = byte(e.groups<<1 | 1)
}

// end completes the levels and returns them.
func (e *levels) end() []byte {
	e.settle()
	if e.have > 0 {
		e.val, e.run = 0, 8-e.have
		e.push(8 - e.have)
	}
	return e.buf[:e.n]
}

// bitmap appends n bits of valid from bit at on, as null (0) or not.
// The width is 1.
func (e *levels) bitmap(valid []byte, at, n int) {
	for ; n >= 64; at, n = at+64, n-64 {
		w := word(valid, at)
		if w == 0 || w == ^uint64(0) {
			e.repeat(uint8(w&1), 64)
			continue
		}
		e.settle()
		have := uint(e.have)
		low := e.acc | w<<have
		for range 8 {
			e.open()
			e.buf[e.n] = byte(low)
			e.n++
			low >>= 8
		}
		e.acc = 0
		if have > 0 {
			e.acc = w >> (64 - have)
		}
	}
	for end := at + n; at < end; {
		bit, next := bitRun(valid, at, end)
		e.repeat(bit, next-at)
		at = next
	}
}

// word is the 64 bits from bit at on, all of which are there.
func word(b []byte, at int) uint64 {
	i, shift := at>>3, uint(at&7)
	w := binary.LittleEndian.Uint64(b[i:])
	if shift > 0 {
		w = w>>shift | uint64(b[i+8])<<(64-shift)
	}
	return w
}

// bitRun is the bit at a place and where the next different one is, end at
// most. at is before end.
func bitRun(b []byte, at, end int) (bit uint8, next int) {
	bit = b[at>>3] >> (at & 7) & 1
	flip := -uint64(bit) // makes the bits that go on zeros
	for at < end {
		if end-at >= 64 {
			if w := word(b, at) ^ flip; w != 0 {
				return bit, at + bits.TrailingZeros64(w)
			}
			at += 64
			continue
		}
		w := uint64(b[at>>3]) ^ flip&0xff
		w >>= at & 7
		if w != 0 {
			return bit, min(end, at+bits.TrailingZeros64(w))
		}
		at = min(end, at&^7+8)
	}
	return bit, end
}

// packIndices encodes the indices of a dictionary page, of a width up to 32
// bits, behind dst. It needs no more than levelBytes says and 16 bytes.
func packIndices(dst []byte, idx []uint32, width uint8) []byte {
	head, groups := 0, 0
	for i := 0; i < len(idx); {
		run := 1
		for i+run < len(idx) && idx[i+run] == idx[i] {
			run++
		}
		if run >= 8 && run*int(width) >= 32 {
			dst = binary.AppendUvarint(dst, uint64(run)<<1)
			for shift := 0; shift < int(width); shift += 8 {
				dst = append(dst, byte(idx[i]>>shift))
			}
			i, groups = i+run, 0
			continue
		}
		if groups == 0 || groups == mostGroups {
			head, groups = len(dst), 0
			dst = append(dst, 0)
		}
		groups++
		dst[head] = byte(groups<<1 | 1)
		var last [8]uint32 // the end of the page, filled up with zeros
		group := idx[i:]
		if len(group) < 8 {
			copy(last[:], group)
			group = last[:]
		}
		dst = packGroup(dst, (*[8]uint32)(group), width)
		i += 8
	}
	return dst
}

// packGroup appends eight values of a width.
func packGroup(dst []byte, v *[8]uint32, width uint8) []byte {
	var acc uint64
	have := uint(0)
	for _, x := range v {
		acc |= uint64(x) << have
		if have += uint(width); have >= 32 {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(acc))
			acc >>= 32
			have -= 32
		}
	}
	for ; have > 0; have -= 8 {
		dst = append(dst, byte(acc))
		acc >>= 8
	}
	return dst
}
