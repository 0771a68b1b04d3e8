package scale

import (
	"math"
	"math/big"
	"math/bits"
)

const (
	// exactLow is the weight of the lowest bit: the square of the least
	// float64, 2^-1074.
	exactLow = -2148
	// exactWords reach above 2^63 squares of the largest float64, and a sign.
	exactWords = 68
)

// exact is a sum without rounding: a two's complement number of fixed point.
// What was added in which order cannot be told from it.
type exact [exactWords]uint64

// parts gives a finite v as m * 2^e.
func parts(v float64) (m uint64, e int, negative bool) {
	b := math.Float64bits(v)
	m, e = b&(1<<52-1), int(b>>52&0x7ff)
	if e == 0 {
		e = 1
	} else {
		m |= 1 << 52
	}
	return m, e - 1075, b>>63 != 0
}

// add adds n times a times b, which are finite.
func (x *exact) add(a, b float64, n uint64) {
	ma, ea, sa := parts(a)
	mb, eb, sb := parts(b)
	hi, lo := bits.Mul64(ma, mb)
	w1, w0 := bits.Mul64(lo, n)
	w2, mid := bits.Mul64(hi, n)
	w1, carry := bits.Add64(w1, mid, 0)
	w2 += carry
	if w0|w1|w2 == 0 {
		return
	}
	at := ea + eb - exactLow
	x.addAt(at>>6, uint(at&63), w0, w1, w2, sa != sb)
}

// addAt adds or subtracts three words shifted left by a part of a word.
func (x *exact) addAt(word int, shift uint, w0, w1, w2 uint64, negative bool) {
	// A shift of 64 is 0 in Go, which is what is needed here.
	w := [4]uint64{w0 << shift, w1<<shift | w0>>(64-shift), w2<<shift | w1>>(64-shift), w2 >> (64 - shift)}
	var c uint64
	rest := x[word:]
	if negative {
		for i := range rest {
			var v uint64
			if i < len(w) {
				v = w[i]
			} else if c == 0 {
				return
			}
			rest[i], c = bits.Sub64(rest[i], v, c)
		}
		return
	}
	for i := range rest {
		var v uint64
		if i < len(w) {
			v = w[i]
		} else if c == 0 {
			return
		}
		rest[i], c = bits.Add64(rest[i], v, c)
	}
}

// join adds what y holds.
func (x *exact) join(y *exact) {
	var c uint64
	for i := range x {
		x[i], c = bits.Add64(x[i], y[i], c)
	}
}

// int is the number in units of 2^exactLow.
func (x *exact) int() *big.Int {
	y, negative := *x, x[exactWords-1]>>63 != 0
	if negative {
		c := uint64(1)
		for i := range y {
			y[i], c = bits.Add64(^y[i], 0, c)
		}
	}
	out, one := new(big.Int), new(big.Int)
	for i := exactWords - 1; i >= 0; i-- {
		out.Lsh(out, 64).Or(out, one.SetUint64(y[i]))
	}
	if negative {
		out.Neg(out)
	}
	return out
}

// spread is the mean of n values and the sum of the squares of their distances
// from it, of the sum of the values and that of their squares.
func spread(sum, squares *exact, n int64) (mean, m2 float64) {
	count, s := big.NewInt(n), sum.int()
	mean = quotient(s, count, exactLow)
	all := squares.int()
	all.Mul(all, count).Lsh(all, -exactLow)
	all.Sub(all, s.Mul(s, s))
	if all.Sign() < 0 { // roundings inside the blocks
		return mean, 0
	}
	return mean, quotient(all, count, 2*exactLow)
}

// quotient is a / b * 2^e.
func quotient(a, b *big.Int, e int) float64 {
	q := new(big.Float).SetPrec(128).Quo(new(big.Float).SetInt(a), new(big.Float).SetInt(b))
	out, _ := q.SetMantExp(q, e).Float64()
	return out
}
