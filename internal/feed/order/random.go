package order

import "math/bits"

// The generator is written out here, and not taken from a library, because
// the order of a dataset must be the same for as long as checkpoints live.

// gamma is the odd number nearest to 2^64 divided by the golden ratio.
const gamma = 0x9E3779B97F4A7C15

// scramble is a bijection of 64-bit numbers in which every bit of x changes
// about half of the bits of the result.
func scramble(x uint64) uint64 {
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// key derives a number from others, each of which matters.
func key(parts ...uint64) uint64 {
	k := uint64(0)
	for _, p := range parts {
		k = scramble((k ^ p) + gamma)
	}
	return k
}

// draws is a sequence of random numbers; its value is where it stands.
type draws uint64

func (d *draws) next() uint64 {
	*d += gamma
	return scramble(uint64(*d))
}

// deal fills dst with base, base+1, … in an order drawn from d. The chance of
// each order differs from the others' by less than n/2^64.
func deal[T int32 | uint32](dst []T, base T, d draws) {
	for i := range dst {
		j, _ := bits.Mul64(d.next(), uint64(i)+1)
		dst[i] = dst[j]
		dst[j] = base + T(i)
	}
}
