package digest

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// chunk is how many bytes are hashed at a time: small, because 10,000 columns
// each keep an unfinished one.
const chunk = 512

// byteSum hashes a stream of bytes that arrives in any pieces.
type byteSum struct {
	chain chain
	n     int // bytes in tail
	tail  [chunk]byte
}

// write adds p.
func (s *byteSum) write(p []byte) {
	if s.n > 0 {
		n := copy(s.tail[s.n:], p)
		s.n += n
		p = p[n:]
		if s.n < chunk {
			return
		}
		s.chain.add(xxh3.Hash128(s.tail[:]))
		s.n = 0
	}
	for len(p) >= chunk {
		s.chain.add(xxh3.Hash128(p[:chunk]))
		p = p[chunk:]
	}
	s.n = copy(s.tail[:], p)
}

// sum is that of all bytes so far; the stream may go on.
func (s *byteSum) sum() (hi, lo uint64) {
	c := s.chain
	c.add(xxh3.Hash128(s.tail[:s.n]))
	return c.sum(uint64(s.n))
}

// chain makes one hash of a sequence of hashes; their order matters.
type chain struct{ hi, lo, n uint64 }

// Two odd constants with well spread bits: the fractions of the golden ratio
// and of the square root of two.
const (
	golden = 0x9e3779b97f4a7c15
	root2  = 0x6a09e667f3bcc909
)

func (c *chain) add(h xxh3.Uint128) {
	c.lo = bits.RotateLeft64(c.lo^h.Lo, 29) * golden
	c.hi = bits.RotateLeft64(c.hi^h.Hi, 31) * root2
	c.n++
}

func (c *chain) sum(tail uint64) (hi, lo uint64) {
	n := c.n*chunk + tail
	return c.hi ^ bits.RotateLeft64(n*golden, 32), c.lo ^ n*root2
}

// runSum hashes a sequence of valid and null rows as runs of equal ones, so
// that a column without nulls costs one addition a batch.
type runSum struct {
	chain chain
	valid bool
	n     uint64 // length of the unfinished run
}

// add adds n rows.
func (s *runSum) add(valid bool, n int) {
	if n == 0 {
		return
	}
	if valid != s.valid && s.n > 0 {
		s.chain.add(s.run())
		s.n = 0
	}
	s.valid = valid
	s.n += uint64(n)
}

// run is the unfinished run as a hash.
func (s *runSum) run() xxh3.Uint128 {
	v := s.n << 1
	if s.valid {
		v |= 1
	}
	hi, lo := bits.Mul64(v^root2, golden)
	return xxh3.Uint128{Hi: hi ^ v, Lo: lo}
}

func (s *runSum) sum() (hi, lo uint64) {
	c := s.chain
	c.add(s.run())
	return c.sum(0)
}
