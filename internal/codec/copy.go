package codec

import "encoding/binary"

// wide is how far past its end copyWide may write.
const wide = 16

// copyMatch copies n bytes to dst[d:] from off bytes before, which may
// overlap them, and writes nothing else. 1 <= off <= d, d+n <= len(dst).
func copyMatch(dst []byte, d, off, n int) {
	for n > 0 {
		m := copy(dst[d:d+n], dst[d-off:d])
		d += m
		n -= m
		off += m // what was copied repeats the pattern: twice as much at a time
	}
}

// copyWide does what copyMatch does and may write up to wide bytes more.
// d+n+wide <= len(dst).
func copyWide(dst []byte, d, off, n int) {
	end := d + n
	from := d - off
	switch {
	case off >= 16 && n > 256 && off >= n:
		copy(dst[d:end], dst[from:])
	case off >= 16:
		for d < end {
			*(*[16]byte)(dst[d:]) = *(*[16]byte)(dst[from:])
			d += 16
			from += 16
		}
	case off >= 8:
		for d < end {
			*(*[8]byte)(dst[d:]) = *(*[8]byte)(dst[from:])
			d += 8
			from += 8
		}
	default:
		// Repeat the pattern to 8 bytes and step by whole patterns.
		v := binary.LittleEndian.Uint64(dst[from:])
		bits := uint(off) * 8
		v &= 1<<bits - 1
		v |= v << bits
		v |= v << (2 * bits)
		v |= v << (4 * bits)
		step := int(strides[off&7])
		for d < end {
			binary.LittleEndian.PutUint64(dst[d:], v)
			d += step
		}
	}
}

// strides has the largest multiple of each offset that 8 bytes hold.
var strides = [8]uint8{8, 8, 8, 6, 8, 5, 6, 7}
