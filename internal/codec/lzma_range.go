package codec

const (
	rangeTop   = 1 << 24
	probBits   = 11
	probMotion = 5
)

// rangeCoder gives bits of src by their probabilities. It may read lzmaRead
// bytes past end, which src has, and whose user sees that it did.
type rangeCoder struct {
	rng, code uint32
	src       []byte
	s, end    int
}

// open begins with src[s:end].
func (c *rangeCoder) open(s, end int) error {
	if end-s < 5 || c.src[s] != 0 {
		return errLZMAData
	}
	c.end = end
	c.rng, c.code = 1<<32-1, 0
	for _, b := range c.src[s+1 : s+5] {
		c.code = c.code<<8 | uint32(b)
	}
	c.s = s + 5
	return nil
}

// finish reports whether the input ends where the chunk does.
func (c *rangeCoder) finish() bool {
	if c.rng < rangeTop {
		c.code = c.code<<8 | uint32(c.src[c.s])
		c.s++
	}
	return c.s == c.end && c.code == 0
}

func (c *rangeCoder) bit(p *uint16) int {
	rng, code, prob := c.rng, c.code, uint32(*p)
	if rng < rangeTop {
		rng <<= 8
		code = code<<8 | uint32(c.src[c.s])
		c.s++
	}
	bound := rng >> probBits * prob
	if code < bound {
		c.rng, c.code = bound, code
		*p = uint16(prob + (1<<probBits-prob)>>probMotion)
		return 0
	}
	c.rng, c.code = rng-bound, code-bound
	*p = uint16(prob - prob>>probMotion)
	return 1
}

// split decides a bit: zero is all ones when it is 0. It comes without a
// branch, for these bits are what the encoder could not predict.
func split(rng, code uint32, p *uint16) (newRange, newCode, zero uint32) {
	prob := uint32(*p)
	bound := rng >> probBits * prob
	zero = uint32((int64(code) - int64(bound)) >> 63)
	rng -= bound
	*p = uint16(int32(prob) - (int32(prob)-int32(zero)&(1<<probBits-1<<probMotion+1))>>probMotion)
	return rng + (bound-rng)&zero, code - bound&^zero, zero
}

// tree gives n bits, the highest first, each by its place among those before.
func (c *rangeCoder) tree(probs []uint16, n int) int {
	rng, code, s, src := c.rng, c.code, c.s, c.src
	m := 1
	for range n {
		if rng < rangeTop {
			rng <<= 8
			code = code<<8 | uint32(src[s])
			s++
		}
		var zero uint32
		rng, code, zero = split(rng, code, &probs[m])
		m = 2*m + 1 + int(int32(zero))
	}
	c.rng, c.code, c.s = rng, code, s
	return m - 1<<n
}

// matchedByte is tree for the eight bits of a literal behind a match: as long
// as its bits are those of the byte the match would have had next, they have
// probabilities of their own.
func (c *rangeCoder) matchedByte(probs *[lzmaLiteral]uint16, like int) byte {
	rng, code, s, src := c.rng, c.code, c.s, c.src
	m, same := 1, 0x100
	for range 8 {
		if rng < rangeTop {
			rng <<= 8
			code = code<<8 | uint32(src[s])
			s++
		}
		like <<= 1
		var zero uint32
		rng, code, zero = split(rng, code, &probs[same+like&same+m])
		zeros := int(int32(zero))
		m = 2*m + 1 + zeros
		same &= like ^ zeros
	}
	c.rng, c.code, c.s = rng, code, s
	return byte(m)
}

// reverseTree is tree with the lowest bit first.
func (c *rangeCoder) reverseTree(probs []uint16, n int) int {
	rng, code, s, src := c.rng, c.code, c.s, c.src
	v, m := 0, 1
	for i := range n {
		if rng < rangeTop {
			rng <<= 8
			code = code<<8 | uint32(src[s])
			s++
		}
		var zero uint32
		rng, code, zero = split(rng, code, &probs[m])
		m = 2*m + 1 + int(int32(zero))
		v |= int(^zero&1) << i
	}
	c.rng, c.code, c.s = rng, code, s
	return v
}

// direct gives n bits of even odds, which nothing can predict.
func (c *rangeCoder) direct(n int) int {
	rng, code, s, src := c.rng, c.code, c.s, c.src
	v := 0
	for range n {
		if rng < rangeTop {
			rng <<= 8
			code = code<<8 | uint32(src[s])
			s++
		}
		rng >>= 1
		code -= rng
		less := uint32(int32(code) >> 31) // all ones where code was less than rng
		code += rng & less
		v = 2*v + 1 + int(int32(less))
	}
	c.rng, c.code, c.s = rng, code, s
	return v
}
