package mds

import (
	"encoding/binary"
	"hash"
	"math/bits"
)

// blake2 is BLAKE2b or BLAKE2s (RFC 7693) without a key, its sum as long as
// can be. T is the word that they reckon with.
type blake2[T uint32 | uint64] struct {
	h      [8]T
	total  uint64 // bytes taken into h; BLAKE2b's upper half stays 0
	buf    []byte // a block that may be the last
	block  int
	rounds int
	rotate [4]int
	iv     [8]T
}

func newBlake2b() hash.Hash {
	h := &blake2[uint64]{block: 128, rounds: 12, rotate: [4]int{32, 24, 16, 63}, iv: [8]uint64{
		0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
		0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}}
	h.Reset()
	return h
}

func newBlake2s() hash.Hash {
	h := &blake2[uint32]{block: 64, rounds: 10, rotate: [4]int{16, 12, 8, 7}, iv: [8]uint32{
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19}}
	h.Reset()
	return h
}

// blakeOrder is the order of a block's words in each round.
var blakeOrder = [10][16]byte{
	{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
	{14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
	{11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
	{7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
	{9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
	{2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
	{12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
	{13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
	{6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
	{10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
}

func (b *blake2[T]) Size() int      { return b.block / 2 }
func (b *blake2[T]) BlockSize() int { return b.block }

func (b *blake2[T]) Reset() {
	b.h = b.iv
	b.h[0] ^= 0x01010000 ^ T(b.Size())
	b.total, b.buf = 0, make([]byte, 0, b.block)
}

func (b *blake2[T]) Write(p []byte) (int, error) {
	n := len(p)
	if k := b.block - len(b.buf); k < len(p) && len(b.buf) > 0 {
		b.buf = append(b.buf, p[:k]...)
		p = p[k:]
		b.compress(b.buf, b.block, 0)
		b.buf = b.buf[:0]
	}
	for len(b.buf) == 0 && len(p) > b.block {
		b.compress(p[:b.block], b.block, 0)
		p = p[b.block:]
	}
	b.buf = append(b.buf, p...)
	return n, nil
}

// compress takes in a block, of which n bytes count; last is all ones for the
// last one.
func (b *blake2[T]) compress(block []byte, n int, last T) {
	var m, v [16]T
	for i := range m {
		if b.block == 128 {
			m[i] = T(binary.LittleEndian.Uint64(block[8*i:]))
		} else {
			m[i] = T(binary.LittleEndian.Uint32(block[4*i:]))
		}
	}
	b.total += uint64(n)
	copy(v[:], b.h[:])
	copy(v[8:], b.iv[:])
	v[12] ^= T(b.total)
	if b.block == 64 {
		v[13] ^= T(b.total >> 32)
	}
	v[14] ^= last
	for r := range b.rounds {
		s := &blakeOrder[r%10]
		for i := range 4 {
			b.mix(&v[i], &v[4+i], &v[8+i], &v[12+i], m[s[2*i]], m[s[2*i+1]])
		}
		for i := range 4 {
			b.mix(&v[i], &v[4+(i+1)%4], &v[8+(i+2)%4], &v[12+(i+3)%4], m[s[8+2*i]], m[s[9+2*i]])
		}
	}
	for i := range b.h {
		b.h[i] ^= v[i] ^ v[i+8]
	}
}

func (b *blake2[T]) mix(a, c, d, e *T, x, y T) {
	*a += *c + x
	*e = b.right(*e^*a, b.rotate[0])
	*d += *e
	*c = b.right(*c^*d, b.rotate[1])
	*a += *c + y
	*e = b.right(*e^*a, b.rotate[2])
	*d += *e
	*c = b.right(*c^*d, b.rotate[3])
}

func (b *blake2[T]) right(v T, n int) T {
	if b.block == 128 {
		return T(bits.RotateLeft64(uint64(v), -n))
	}
	return T(bits.RotateLeft32(uint32(v), -n))
}

func (b *blake2[T]) Sum(out []byte) []byte {
	d := *b
	last := make([]byte, d.block)
	copy(last, d.buf)
	d.compress(last, len(d.buf), ^T(0))
	for _, w := range d.h {
		if d.block == 128 {
			out = binary.LittleEndian.AppendUint64(out, uint64(w))
		} else {
			out = binary.LittleEndian.AppendUint32(out, uint32(w))
		}
	}
	return out
}
