// Package number reads decimal numbers from the bytes of a text, exactly and
// without an allocation.
//
// A number is an optional sign, digits with at most one point among, before or
// behind them, and an optional exponent: what CSV files have, and more than
// JSON allows, which JSON tells.
package number

import (
	"encoding/binary"
	"math"
	"math/bits"
)

// ahead is how many bytes the fast paths look at without asking for the end.
const ahead = 48

// longest is the most bytes of a number; more is none.
const longest = 64 << 10

// small are the powers of ten that a uint64 has.
var small = func() (t [20]uint64) {
	t[0] = 1
	for i := 1; i < len(t); i++ {
		t[i] = 10 * t[i-1]
	}
	return t
}()

var tens = [8]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7}

// Float64 parses the longest number at the front of b, n bytes, to the bits
// that strconv.ParseFloat gives; what is too large is an infinity. Not ok: b
// does not begin with a number, or with one of more than 64 KiB.
func Float64(b []byte) (v float64, n int, ok bool) {
	if len(b) < ahead {
		return slow(b)
	}
	neg := uint64(0)
	if b[0] == '-' {
		neg = 1
	}
	i := int(neg)
	w := uint64(b[i&1] - '0')
	if w > 9 {
		return slow(b)
	}
	i++
	width := 1
	for b[i] != '.' {
		d := uint64(b[i] - '0')
		if d > 9 {
			break
		}
		if width == 18 {
			return slow(b)
		}
		w = 10*w + d
		i++
		width++
	}
	var frac int
	if b[i] == '.' {
		i++
		w, frac = fraction(w, (*[24]byte)(b[i:]))
		i += frac
		if frac+width > 19 && (frac > 19 || width > 1 || b[neg] != '0') {
			return slow(b)
		}
	}
	if b[i]|0x20 == 'e' {
		return slow(b)
	}
	if frac < 8 && w < 1<<53 {
		// Both are exact, and so is what dividing rounds once.
		u := math.Float64bits(float64(w) / tens[frac&7])
		return math.Float64frombits(u | neg<<63), i, true
	}
	if w == 0 {
		return math.Float64frombits(neg << 63), i, true
	}
	u, ok := nearest(w, -frac)
	if !ok {
		return slow(b)
	}
	return math.Float64frombits(u | neg<<63), i, true
}

// fraction appends the digits at the front of p to w; more than 19 in all, or
// 24 of p, are too many.
func fraction(w uint64, p *[24]byte) (uint64, int) {
	x := binary.LittleEndian.Uint64(p[0:8]) ^ zeros
	if k := digits(x); k < 8 {
		return w*small[k] + eight(first(x, k)), k
	}
	w = w*1e8 + eight(x)
	x = binary.LittleEndian.Uint64(p[8:16]) ^ zeros
	if k := digits(x); k < 8 {
		return w*small[k] + eight(first(x, k)), 8 + k
	}
	w = w*1e8 + eight(x)
	x = binary.LittleEndian.Uint64(p[16:24]) ^ zeros
	k := digits(x)
	return w*small[k] + eight(first(x, k&7)), 16 + k
}

// Int64 parses the longest run of digits with an optional sign at the front of
// b, n bytes. Not ok: there is none, or an int64 does not hold it.
func Int64(b []byte) (v int64, n int, ok bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg || len(b) > 0 && b[0] == '+' {
		n = 1
	}
	start := n
	u := uint64(0)
	for len(b)-n >= 8 {
		x := binary.LittleEndian.Uint64(b[n:]) ^ zeros
		k := digits(x)
		n += k
		if n-start > 18 {
			break // it may not fit
		}
		if k < 8 {
			return signed(u*small[k]+eight(first(x, k)), neg), n, n > start
		}
		u = u*1e8 + eight(x)
	}
	return slowInt(b, start, neg)
}

// signed is u, which is at most 1<<63 where neg.
func signed(u uint64, neg bool) int64 {
	if neg {
		return -int64(u)
	}
	return int64(u)
}

// slowInt is Int64 a digit at a time from start on.
func slowInt(b []byte, start int, neg bool) (int64, int, bool) {
	u, n, fits := uint64(0), start, true
	for ; n < len(b) && b[n]-'0' <= 9; n++ {
		hi, lo := bits.Mul64(u, 10)
		sum, carry := bits.Add64(lo, uint64(b[n]-'0'), 0)
		fits = fits && hi == 0 && carry == 0
		u = sum
	}
	most := uint64(math.MaxInt64)
	if neg {
		most++
	}
	if !fits || u > most || n == start {
		return 0, n, false
	}
	return signed(u, neg), n, true
}

// JSON says whether b, which Float64 or Int64 took whole, is a number that
// JSON allows: no plus, no needless zero, digits on both sides of a point.
func JSON(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	i := 0
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	if i == 0 || i > 1 && b[0] == '0' {
		return false
	}
	return i == len(b) || b[i] != '.' || i+1 < len(b) && b[i+1]-'0' <= 9
}

const (
	zeros = 0x3030303030303030
	highs = 0x8080808080808080
)

// digits is how many of the bytes of x, lowest first, are digits before one is
// not; x is text ^ zeros.
func digits(x uint64) int {
	// A byte above 9 gets its highest bit by adding 0x76, or has it. What one
	// byte carries into the next comes behind the first that is no digit.
	return bits.TrailingZeros64((x+0x7676767676767676|x)&highs) >> 3
}

// first is the k first digits of x, fewer than eight, behind zeros.
func first(x uint64, k int) uint64 { return x << 8 << (uint(56-8*k) & 63) }

// eight is the number of eight digits, the first in the lowest byte.
func eight(x uint64) uint64 {
	x = 10*x + x>>8 // pairs, in every other byte
	const pairs = 0x000000ff000000ff
	return ((x&pairs)*(100+1000000<<32) + (x>>16&pairs)*(1+10000<<32)) >> 32
}
