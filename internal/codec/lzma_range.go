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
	c.normalise()
	return c.s == c.end && c.code == 0
}

func (c *rangeCoder) normalise() {
	if c.rng < rangeTop {
		c.rng <<= 8
		c.code = c.code<<8 | uint32(c.src[c.s])
		c.s++
	}
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
		prob := uint32(probs[m])
		bound := rng >> probBits * prob
		if code < bound {
			rng = bound
			probs[m] = uint16(prob + (1<<probBits-prob)>>probMotion)
			m *= 2
		} else {
			rng, code = rng-bound, code-bound
			probs[m] = uint16(prob - prob>>probMotion)
			m = 2*m + 1
		}
	}
	c.rng, c.code, c.s = rng, code, s
	return m - 1<<n
}

// byte is tree for the eight bits of a literal.
func (c *rangeCoder) byte(probs *[lzmaLiteral]uint16) byte {
	return byte(c.tree(probs[:256], 8))
}

// matchedByte is byte for a literal behind a match: as long as its bits are
// those of the byte the match would have had next, they have probabilities of
// their own.
func (c *rangeCoder) matchedByte(probs *[lzmaLiteral]uint16, like int) byte {
	rng, code, s, src := c.rng, c.code, c.s, c.src
	same := 0x100
	for m := 1; ; {
		if m >= 0x100 {
			c.rng, c.code, c.s = rng, code, s
			return byte(m)
		}
		if rng < rangeTop {
			rng <<= 8
			code = code<<8 | uint32(src[s])
			s++
		}
		like <<= 1
		p := &probs[same+like&same+m]
		prob := uint32(*p)
		bound := rng >> probBits * prob
		if code < bound {
			rng = bound
			*p = uint16(prob + (1<<probBits-prob)>>probMotion)
			m *= 2
			same &^= like
		} else {
			rng, code = rng-bound, code-bound
			*p = uint16(prob - prob>>probMotion)
			m = 2*m + 1
			same &= like
		}
	}
}

// reverseTree is tree with the lowest bit first.
func (c *rangeCoder) reverseTree(probs []uint16, n int) int {
	v, m := 0, 1
	for i := range n {
		b := c.bit(&probs[m])
		m = 2*m + b
		v |= b << i
	}
	return v
}

// direct gives n bits of even odds.
func (c *rangeCoder) direct(n int) int {
	v := 0
	for range n {
		c.normalise()
		c.rng >>= 1
		b := 0
		if c.code >= c.rng {
			c.code -= c.rng
			b = 1
		}
		v = 2*v + b
	}
	return v
}
