package number

import (
	"math"
	"math/big"
	"math/bits"
)

// The powers of ten that a float64 can have to do with: w * 10^q is zero for
// smaller q, infinite for larger ones, for every w of 64 bits.
const (
	leastPower = -342
	mostPower  = 308
)

const (
	fractionBits = 52
	bias         = 1023
	infinity     = 0x7ff << fractionBits
)

// power is the 128 highest bits of a power of five.
type power struct{ hi, lo uint64 }

// leastExact is the least q whose 1/5^q is below 2^64: a w that 5^-q divides is
// then told from others by a reciprocal that is rounded up.
const leastExact = -27

// powers are 5^q for q from leastPower on: rounded up from leastExact to -1, cut
// off elsewhere.
var powers = func() (t [mostPower - leastPower + 1]power) {
	one, five := big.NewInt(1), big.NewInt(5)
	word := new(big.Int).SetUint64(math.MaxUint64)
	put := func(q int, x *big.Int) {
		t[q-leastPower] = power{
			hi: new(big.Int).Rsh(x, 64).Uint64(),
			lo: new(big.Int).And(x, word).Uint64(),
		}
	}
	p, x := big.NewInt(1), new(big.Int)
	for q := 0; q <= -leastPower; q++ {
		n := uint(p.BitLen())
		if q <= mostPower {
			if n <= 128 {
				put(q, x.Lsh(p, 128-n))
			} else {
				put(q, x.Rsh(p, n-128))
			}
		}
		if q > 0 {
			// p is no power of two: the quotient has 128 bits.
			x.Quo(x.Lsh(one, n+127), p)
			if -q >= leastExact {
				x.Add(x, one)
			}
			put(-q, x)
		}
		p.Mul(p, five)
	}
	return t
}()

// nearest is the bits of the float64 nearest to w * 10^q, ties to even, for a
// w that is not 0. Not ok: that takes more than 128 bits, or the result is
// below the normal numbers.
//
// It is the method of Eisel and Lemire (Number Parsing at a Gigabyte per
// Second, 2021): w, shifted to 64 bits, times the highest bits of 5^q has
// more bits than are kept, and the rest of the product is too small to reach
// them unless all bits between are ones.
func nearest(w uint64, q int) (u uint64, ok bool) {
	if uint(q-leastPower) >= uint(len(powers)) {
		return infinity, q > mostPower
	}
	p := &powers[q-leastPower]
	zeros := bits.LeadingZeros64(w)
	w <<= uint(zeros)
	hi, lo := bits.Mul64(w, p.hi)
	// 55 bits count: 52, the one that is not stored, one to round by, and one
	// that is lost where the product has 127 bits.
	const rest = 1<<9 - 1
	if hi&rest == rest {
		more, _ := bits.Mul64(w, p.lo)
		var carry uint64
		lo, carry = bits.Add64(lo, more, 0)
		hi += carry
		if lo == math.MaxUint64 && (q < leastExact || q > 55) {
			return 0, false
		}
	}
	top := int(hi >> 63)
	shift := uint(top + 64 - fractionBits - 3)
	m := hi >> shift
	// 217706/65536 is a little more than log2(10): the exponent of two, exact
	// for all q here.
	e := (217706*q)>>16 + 63 + top - zeros + bias
	if e <= 0 {
		return 0, false
	}
	// Between two numbers: even only where the product is exact, which a
	// power of five in 64 bits, or a w that it divides, makes it.
	if lo <= 1 && q >= -4 && q <= 23 && m&3 == 1 && m<<shift == hi {
		m &^= 1
	}
	m = (m + m&1) >> 1
	if m >= 2<<fractionBits {
		m = 1 << fractionBits
		e++
	}
	if e >= 2*bias+1 {
		return infinity, true
	}
	return m&(1<<fractionBits-1) | uint64(e)<<fractionBits, true
}
