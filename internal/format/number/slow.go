package number

import (
	"math"
	"strconv"
	"unsafe"
)

// slow is Float64 a byte at a time: for the end of a text, exponents, and
// more digits than 64 bits hold.
func slow(b []byte) (float64, int, bool) {
	t, ok := scan(b)
	if !ok {
		return 0, 0, false
	}
	sign := uint64(0)
	if b[0] == '-' {
		sign = 1 << 63
	}
	if t.w == 0 {
		return math.Float64frombits(sign), t.n, true
	}
	u, ok := nearest(t.w, t.exp)
	if ok && t.cut {
		// Between w and the next lies the number; where both give the same,
		// so does it.
		var above uint64
		above, ok = nearest(t.w+1, t.exp)
		ok = ok && above == u
	}
	if ok {
		return math.Float64frombits(u | sign), t.n, true
	}
	// The error is ErrRange, which comes with an infinity: scan knows the rest.
	v, _ := strconv.ParseFloat(unsafe.String(&b[0], t.n), 64)
	return v, t.n, true
}

// text is a number taken apart: w * 10^exp, or a little more where cut.
type text struct {
	w   uint64 // the first 19 digits that count
	exp int
	n   int // bytes
	cut bool
}

// scan takes the number at the front of b apart.
func scan(b []byte) (t text, ok bool) {
	if len(b) > longest {
		b = b[:longest]
	}
	i, kept, seen, point := 0, 0, 0, -1
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		i = 1
	}
loop:
	for ; i < len(b); i++ {
		c := b[i]
		switch {
		case c == '.' && point < 0:
			point = seen
			continue
		case c-'0' > 9:
			break loop
		}
		seen++
		switch {
		case kept < 19:
			t.w = 10*t.w + uint64(c-'0')
			if t.w > 0 {
				kept++
			}
		default:
			t.cut = t.cut || c != '0'
			t.exp++
		}
	}
	if point >= 0 {
		t.exp -= seen - point
	}
	e, width := exponent(b[i:])
	t.exp += e
	t.n = i + width
	return t, seen > 0 && t.n < longest
}

// exponent is that at the front of b and its width; one that is out of any
// float64's reach is some large one.
func exponent(b []byte) (e, width int) {
	if len(b) < 2 || b[0]|0x20 != 'e' {
		return 0, 0
	}
	i, neg := 1, b[1] == '-'
	if neg || b[1] == '+' {
		i = 2
	}
	start := i
	for ; i < len(b) && b[i]-'0' <= 9; i++ {
		if e < 10*longest {
			e = 10*e + int(b[i]-'0')
		}
	}
	if i == start {
		return 0, 0
	}
	if neg {
		e = -e
	}
	return e, i
}
