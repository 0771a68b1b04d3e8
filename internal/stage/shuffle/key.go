// Package shuffle puts rows in a random order, a function of a seed and of the
// rows' numbers alone, however many there are.
//
// Every row has a key. Rows are scattered to partitions by ranges of keys, on
// scratch disk; each partition is then read into memory and its rows are given
// in the order of their keys. One partition after the other is thus the order
// of all keys, for any number of partitions; one that is too large for memory is
// scattered again.
package shuffle

import "math/bits"

// Keys gives every row number a key of its own: no two rows have the same.
type Keys struct{ first, second uint64 }

// NewKeys makes the keys of a seed.
func NewKeys(seed uint64) Keys {
	const step uint64 = 0x9e3779b97f4a7c15 // of the golden ratio: states that have little in common
	return Keys{mix(mix(seed+step) + step), mix(mix(seed-step) ^ step)}
}

// Key is that of a row. Both steps can be undone, which is why keys differ.
func (k Keys) Key(row int64) uint64 { return mix(mix(uint64(row)+k.first) ^ k.second) }

// mix changes every bit with about half of the others, and can be undone.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// zone is a range of keys: the whole range divided in fans[0] equal parts, one of
// these in fans[1], and so on.
type zone []uint64

// within is where in its zone a key lies, as a fraction of 2^64. It rises with
// the key, and no two keys of a zone have the same.
func (z zone) within(key uint64) uint64 {
	for _, fan := range z {
		_, key = bits.Mul64(key, fan)
	}
	return key
}

// part is in which of n equal parts a fraction lies.
func part(fraction, n uint64) uint64 {
	p, _ := bits.Mul64(fraction, n)
	return p
}
