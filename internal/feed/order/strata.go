package order

// strata is how many layers a window's rows have. Sixty-four, so that the rows
// of up to that many ranks lie apart, and a rank that needs a few rows of the
// layer beside its own reads little more for them.
const strata = 64

// tally counts positions by their stratum.
type tally [strata]int64

// throw is how one round, strata positions in a row, visits every stratum
// once: position t of the round visits (t^turn)*stride+start.
type throw struct{ turn, stride, start uint8 }

// natural is the key of an epoch that is not shuffled.
const natural = 0

// throwOf is the throw of a round of the epoch whose key is k.
func throwOf(k uint64, round int64) throw {
	if k == natural {
		return throw{stride: 1}
	}
	h := scramble(k + uint64(round)*gamma)
	return throw{turn: uint8(h) & (strata - 1), stride: uint8(h>>8) | 1, start: uint8(h >> 16)}
}

func (w throw) stratum(t int64) uint8 {
	return ((uint8(t)^w.turn)*w.stride + w.start) & (strata - 1)
}

// stratumOf is the stratum of a position.
func stratumOf(k uint64, pos int64) uint8 {
	return throwOf(k, pos/strata).stratum(pos % strata)
}

// fillStrata puts the strata of the positions from pos on into dst.
func fillStrata(dst []uint8, k uint64, pos int64) {
	for len(dst) > 0 {
		w, t := throwOf(k, pos/strata), pos%strata
		n := min(int(strata-t), len(dst))
		for i := range dst[:n] {
			dst[i] = w.stratum(t + int64(i))
		}
		dst, pos = dst[n:], pos+int64(n)
	}
}

// add counts the positions [lo, hi): each whole round has one in every
// stratum, only the two at the ends are looked at.
func (c *tally) add(k uint64, lo, hi int64) {
	for lo < hi && lo%strata != 0 {
		c[stratumOf(k, lo)]++
		lo++
	}
	for lo < hi && hi%strata != 0 {
		hi--
		c[stratumOf(k, hi)]++
	}
	for s := range c {
		c[s] += (hi - lo) / strata
	}
}
