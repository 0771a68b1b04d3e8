package codec

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

const (
	prime1 uint32 = 2654435761
	prime2 uint32 = 2246822519
	prime3 uint32 = 3266489917
	prime4 uint32 = 668265263
	prime5 uint32 = 374761393
)

// xxh32 is the checksum of LZ4 frames, with seed 0. Call reset first.
type xxh32 struct {
	v     [4]uint32
	total uint64
	buf   [16]byte
}

func (x *xxh32) reset() {
	p1, p2 := prime1, prime2 // variables: the sums wrap around
	*x = xxh32{v: [4]uint32{p1 + p2, p2, 0, -p1}}
}

// NewXXH32 is XXH32 with seed 0. Its sum is big-endian, as people write it.
func NewXXH32() hash.Hash {
	h := new(xxh32Hash)
	h.Reset()
	return h
}

type xxh32Hash struct{ x xxh32 }

func (h *xxh32Hash) Size() int      { return 4 }
func (h *xxh32Hash) BlockSize() int { return 16 }
func (h *xxh32Hash) Reset()         { h.x.reset() }

func (h *xxh32Hash) Write(p []byte) (int, error) {
	h.x.write(p)
	return len(p), nil
}

func (h *xxh32Hash) Sum(b []byte) []byte {
	return binary.BigEndian.AppendUint32(b, h.x.sum())
}

func (x *xxh32) write(b []byte) {
	held := int(x.total % 16)
	x.total += uint64(len(b))
	if held > 0 {
		n := copy(x.buf[held:], b)
		b = b[n:]
		if held+n < 16 {
			return
		}
		x.blocks(x.buf[:])
	}
	b = x.blocks(b)
	copy(x.buf[:], b)
}

// blocks takes all whole 16 bytes of b and returns the rest.
func (x *xxh32) blocks(b []byte) []byte {
	v0, v1, v2, v3 := x.v[0], x.v[1], x.v[2], x.v[3]
	for len(b) >= 16 {
		v0 = round32(v0, binary.LittleEndian.Uint32(b))
		v1 = round32(v1, binary.LittleEndian.Uint32(b[4:]))
		v2 = round32(v2, binary.LittleEndian.Uint32(b[8:]))
		v3 = round32(v3, binary.LittleEndian.Uint32(b[12:]))
		b = b[16:]
	}
	x.v = [4]uint32{v0, v1, v2, v3}
	return b
}

func (x *xxh32) sum() uint32 {
	h := prime5
	if x.total >= 16 {
		h = bits.RotateLeft32(x.v[0], 1) + bits.RotateLeft32(x.v[1], 7) +
			bits.RotateLeft32(x.v[2], 12) + bits.RotateLeft32(x.v[3], 18)
	}
	h += uint32(x.total)
	b := x.buf[:x.total%16]
	for ; len(b) >= 4; b = b[4:] {
		h += binary.LittleEndian.Uint32(b) * prime3
		h = bits.RotateLeft32(h, 17) * prime4
	}
	for _, c := range b {
		h += uint32(c) * prime5
		h = bits.RotateLeft32(h, 11) * prime1
	}
	h = (h ^ h>>15) * prime2
	h = (h ^ h>>13) * prime3
	return h ^ h>>16
}

func round32(v, in uint32) uint32 {
	return bits.RotateLeft32(v+in*prime2, 13) * prime1
}

func xxh32Of(b []byte) uint32 {
	var x xxh32
	x.reset()
	x.write(b)
	return x.sum()
}
