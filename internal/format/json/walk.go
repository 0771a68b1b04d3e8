package json

import (
	"bytes"
	"math/bits"
)

// walk goes over JSON by its strings and brackets alone, piece by piece.
type walk struct {
	depth   int
	quoted  bool // in a string
	escaped bool // behind a backslash
}

// step goes on from data[i] to the next comma or closing bracket that is not
// within brackets, or to the end of data. A bracket is not gone over.
func (w *walk) step(data []byte, i int) int {
	for {
		if w.quoted {
			i = w.quote(data, i)
		}
		if w.depth > 0 {
			i = outside(data, i)
		}
		if i >= len(data) {
			return len(data)
		}
		switch data[i] {
		case '"':
			w.quoted = true
		case '{', '[':
			w.depth++
		case '}', ']':
			if w.depth == 0 {
				return i
			}
			w.depth--
		case ',':
			if w.depth == 0 {
				return i
			}
		}
		i++
	}
}

// quote goes on in a string to behind its end.
func (w *walk) quote(data []byte, i int) int {
	if w.escaped && i < len(data) {
		w.escaped = false
		i++
	}
	start := i
	for i < len(data) {
		k := bytes.IndexByte(data[i:], '"')
		if k < 0 {
			w.escaped = escapes(data[start:])
			break
		}
		if i += k + 1; !escapes(data[start : i-1]) {
			w.quoted = false
			return i
		}
	}
	return len(data)
}

// escapes says whether what comes behind p, the beginning of a string, is
// escaped.
func escapes(p []byte) bool {
	n := len(p)
	for n > 0 && p[n-1] == '\\' {
		n--
	}
	return (len(p)-n)&1 != 0
}

// outside is the place of the first quote or bracket from i on.
func outside(data []byte, i int) int {
	for ; len(data)-i >= 8; i += 8 {
		x := load(data, i)
		// Brackets and braces differ by one bit.
		y := x | 0x20*ones
		m := ((x ^ '"'*ones - ones) | (y ^ '{'*ones - ones) | (y ^ '}'*ones - ones)) & ^x & highs
		if m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
	}
	for ; i < len(data); i++ {
		if c := data[i] | 0x20; data[i] == '"' || c == '{' || c == '}' {
			break
		}
	}
	return i
}

// close goes on to the end of data and stops where something stands behind
// the last closing bracket.
func (w *walk) close(data []byte) int {
	i := 0
	for ; i < len(data) && !w.closed(); i++ {
		w.depth-- // commas at the depth of one are not in the way
		i = w.step(data, i)
		w.depth++
		if i < len(data) && data[i] != ',' {
			w.depth--
		}
	}
	for ; i < len(data); i++ {
		if c := data[i]; c > ' ' || inDocument>>c&1 == 0 {
			return i
		}
	}
	return min(i, len(data))
}

// closed says that no bracket is open.
func (w *walk) closed() bool { return w.depth == 0 && !w.quoted }
