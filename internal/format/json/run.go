package json

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// plainRun copies the plain text at the front of src to dst: up to the first
// byte that special marks, or, where none is in reach, as many bytes as it
// could look at, a multiple of 16, which are all of src but the last 15 at
// most if dst is as long. What it copied has some bit of high set in a byte
// above 0x7f if it is not ASCII. Up to 15 bytes of dst behind it are spoiled.
func plainRun(dst, src []byte) (n int, high uint64) {
	most := min(len(dst), len(src)) - 16
	if most < 0 {
		return 0, 0
	}
	from, to := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dst))
	// Both have 16 bytes at every n up to most.
	for n <= most {
		src, dst := (*[16]byte)(unsafe.Add(from, n)), (*[16]byte)(unsafe.Add(to, n))
		x, y := binary.LittleEndian.Uint64(src[:8]), binary.LittleEndian.Uint64(src[8:])
		binary.LittleEndian.PutUint64(dst[:8], x)
		binary.LittleEndian.PutUint64(dst[8:], y)
		a, b := special(x), special(y)
		if a|b == 0 {
			high |= x | y
			n += 16
			continue
		}
		if a != 0 {
			return n + bits.TrailingZeros64(a)>>3, high | x&(a&-a-1)
		}
		return n + 8 + bits.TrailingZeros64(b)>>3, high | x | y&(b&-b-1)
	}
	return n, high
}

// plainLength is plainRun without the copy.
func plainLength(src []byte) (n int, high uint64) {
	most := len(src) - 16
	if most < 0 {
		return 0, 0
	}
	from := unsafe.Pointer(unsafe.SliceData(src))
	// It has 16 bytes at every n up to most.
	for n <= most {
		src := (*[16]byte)(unsafe.Add(from, n))
		x, y := binary.LittleEndian.Uint64(src[:8]), binary.LittleEndian.Uint64(src[8:])
		a, b := special(x), special(y)
		if a|b == 0 {
			high |= x | y
			n += 16
			continue
		}
		if a != 0 {
			return n + bits.TrailingZeros64(a)>>3, high | x&(a&-a-1)
		}
		return n + 8 + bits.TrailingZeros64(b)>>3, high | x | y&(b&-b-1)
	}
	return n, high
}
