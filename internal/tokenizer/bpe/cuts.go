package bpe

// reach is how many bytes on each side of a place decide whether a merge may
// cross it.
const reach = 3

// cuts knows places in a text that no merge ever crosses: what stands before
// and behind such a place can be merged apart, with the same result. It errs on
// one side only: a place it does not call a cut may be one.
//
// A merge of A and B across a place needs A to end there and B to begin there.
// So a place is a cut if for no merge the last bytes of A (three, or all of a
// shorter A) are those before it and the first bytes of B those behind it.
type cuts struct {
	// lengths has, for the last byte before and the first byte behind, a bit
	// for every pair of lengths (1 to 3 each) of which there is a merge.
	lengths []uint16
	seen    []uint64 // bits by the hash of lengths and bytes
	shift   uint
}

func newCuts(count int) *cuts {
	c := &cuts{lengths: make([]uint16, 1<<16), shift: 64 - 12}
	for count*16 > 1<<(64-c.shift) {
		c.shift--
	}
	c.seen = make([]uint64, 1<<(64-c.shift)/64)
	return c
}

// add enters a merge of the tokens a and b, neither empty.
func (c *cuts) add(a, b []byte) {
	before, behind := min(len(a), reach), min(len(b), reach)
	bit := (before-1)*reach + behind - 1
	c.lengths[edge(a[len(a)-1], b[0])] |= 1 << bit
	h := c.hash(bit, last(a, before), first(b, behind))
	c.seen[h/64] |= 1 << (h % 64)
}

func edge(before, behind byte) int { return int(before)<<8 | int(behind) }

func last(a []byte, n int) (key uint64) {
	for _, b := range a[len(a)-n:] {
		key = key<<8 | uint64(b)
	}
	return key
}

func first(b []byte, n int) (key uint64) {
	for _, b := range b[:n] {
		key = key<<8 | uint64(b)
	}
	return key
}

func (c *cuts) hash(bit int, before, behind uint64) uint64 {
	return (uint64(bit)<<48 | before<<24 | behind) * 0x9E3779B97F4A7C15 >> c.shift
}

// at says that no merge crosses the place before text[at], 0 < at < len(text).
func (c *cuts) at(text []byte, at int) bool {
	lengths := c.lengths[edge(text[at-1], text[at])]
	if lengths == 0 {
		return true
	}
	if lengths&1 != 0 { // the two bytes merge as they are
		return false
	}
	for bit := 1; bit < reach*reach; bit++ {
		if lengths>>bit&1 == 0 {
			continue
		}
		before, behind := bit/reach+1, bit%reach+1
		if at < before || at+behind > len(text) {
			continue
		}
		h := c.hash(bit, last(text[:at], before), first(text[at:], behind))
		if c.seen[h/64]>>(h%64)&1 != 0 {
			return false
		}
	}
	return true
}
