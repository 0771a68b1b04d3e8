package split

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"
)

// gamma is the odd number next to 2^64 divided by the golden ratio: its
// multiples are spread evenly over all words.
const gamma = 0x9e3779b97f4a7c15

// mix is a permutation of words after which every bit depends on every bit
// (the finisher of SplitMix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// limits are the words at which the splits but the first begin, when all words
// are divided as the weights say. They depend on the proportions only.
func limits(weights []int) []uint64 {
	var total, sum uint64
	for _, w := range weights {
		total += uint64(w)
	}
	out := make([]uint64, 0, len(weights))
	for _, w := range weights[:len(weights)-1] {
		sum += uint64(w)
		limit, _ := bits.Div64(sum, 0, total)
		out = append(out, limit)
	}
	return out
}

// place sets dst[i] to the number of limits that are not above words[i].
func place(dst []uint8, words, limits []uint64) {
	dst = dst[:len(words)]
	switch len(limits) {
	case 1:
		for i, w := range words {
			dst[i] = uint8(reached(w, limits[0]))
		}
	case 2:
		a, b := limits[0], limits[1]
		for i, w := range words {
			dst[i] = uint8(reached(w, a) + reached(w, b))
		}
	default:
		for i, w := range words {
			var n uint64
			for _, l := range limits {
				n += reached(w, l)
			}
			dst[i] = uint8(n)
		}
	}
}

// reached is 1 where w >= limit, else 0, without a branch that nobody could
// predict.
func reached(w, limit uint64) uint64 {
	_, below := bits.Sub64(w, limit, 0)
	return 1 - below
}

// positions decides by object and row.
type positions struct {
	source Source
	roots  []string
	seed   uint64
	limits []uint64
}

func newPositions(c Config, source Source) *positions {
	return &positions{source: source, roots: roots(source.Paths), seed: c.Seed, limits: limits(c.Weights)}
}

func (p *positions) assign(dst []uint8, _ arrow.RecordBatch, object int, first int64) error {
	name := relative(p.roots, p.source.Objects[object])
	hashRows(dst, xxh3.HashStringSeed(name, p.seed), uint64(first), p.limits)
	return nil
}

// hashRows places rows from first on of an object by its key.
func hashRows(dst []uint8, key, first uint64, limits []uint64) {
	x := mix(key) + gamma*first
	switch len(limits) {
	case 1:
		a := limits[0]
		for i := range dst {
			x += gamma
			dst[i] = uint8(reached(mix(x), a))
		}
	case 2:
		a, b := limits[0], limits[1]
		for i := range dst {
			x += gamma
			w := mix(x)
			dst[i] = uint8(reached(w, a) + reached(w, b))
		}
	default:
		var words [64]uint64
		for at := 0; at < len(dst); at += len(words) {
			n := min(len(words), len(dst)-at)
			for i := range n {
				x += gamma
				words[i] = mix(x)
			}
			place(dst[at:at+n], words[:n], limits)
		}
	}
}
