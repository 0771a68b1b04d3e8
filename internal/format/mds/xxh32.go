package mds

import (
	"encoding/binary"
	"math/bits"
)

const (
	xxhPrime1 uint32 = 2654435761
	xxhPrime2 uint32 = 2246822519
	xxhPrime3 uint32 = 3266489917
	xxhPrime4 uint32 = 668265263
	xxhPrime5 uint32 = 374761393
)

// xxh32 is XXH32 with seed 0. Its sum is big-endian, as people write it.
type xxh32 struct {
	v     [4]uint32
	total uint64
	buf   [16]byte // the bytes behind the last 16
}

func newXXH32() *xxh32 {
	x := new(xxh32)
	x.Reset()
	return x
}

func (x *xxh32) Size() int      { return 4 }
func (x *xxh32) BlockSize() int { return 16 }

func (x *xxh32) Reset() {
	p1, p2 := xxhPrime1, xxhPrime2 // variables: the sums wrap around
	*x = xxh32{v: [4]uint32{p1 + p2, p2, 0, -p1}}
}

func (x *xxh32) Write(p []byte) (int, error) {
	n, held := len(p), int(x.total%16)
	x.total += uint64(n)
	if held > 0 {
		k := copy(x.buf[held:], p)
		p = p[k:]
		if held+k < 16 {
			return n, nil
		}
		x.blocks(x.buf[:])
	}
	copy(x.buf[:], x.blocks(p))
	return n, nil
}

// blocks takes in all whole 16 bytes of p and returns the rest.
func (x *xxh32) blocks(p []byte) []byte {
	a, b, c, d := x.v[0], x.v[1], x.v[2], x.v[3]
	for ; len(p) >= 16; p = p[16:] {
		a = bits.RotateLeft32(a+binary.LittleEndian.Uint32(p)*xxhPrime2, 13) * xxhPrime1
		b = bits.RotateLeft32(b+binary.LittleEndian.Uint32(p[4:])*xxhPrime2, 13) * xxhPrime1
		c = bits.RotateLeft32(c+binary.LittleEndian.Uint32(p[8:])*xxhPrime2, 13) * xxhPrime1
		d = bits.RotateLeft32(d+binary.LittleEndian.Uint32(p[12:])*xxhPrime2, 13) * xxhPrime1
	}
	x.v = [4]uint32{a, b, c, d}
	return p
}

func (x *xxh32) Sum(out []byte) []byte {
	h := xxhPrime5
	if x.total >= 16 {
		h = bits.RotateLeft32(x.v[0], 1) + bits.RotateLeft32(x.v[1], 7) +
			bits.RotateLeft32(x.v[2], 12) + bits.RotateLeft32(x.v[3], 18)
	}
	h += uint32(x.total)
	rest := x.buf[:x.total%16]
	for ; len(rest) >= 4; rest = rest[4:] {
		h = bits.RotateLeft32(h+binary.LittleEndian.Uint32(rest)*xxhPrime3, 17) * xxhPrime4
	}
	for _, c := range rest {
		h = bits.RotateLeft32(h+uint32(c)*xxhPrime5, 11) * xxhPrime1
	}
	h = (h ^ h>>15) * xxhPrime2
	h = (h ^ h>>13) * xxhPrime3
	return binary.BigEndian.AppendUint32(out, h^h>>16)
}
