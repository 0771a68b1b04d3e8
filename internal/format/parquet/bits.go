package parquet

import (
	"encoding/binary"
	"math/bits"
)

// unpack reads len(dst) values of width bits (at most 57) that begin bit bits
// into src. src must reach to slack bytes behind the last value.
func unpack[T uint8 | uint32 | uint64](dst []T, src []byte, bit, width uint) {
	mask := uint64(1)<<width - 1
	for i := range dst {
		dst[i] = T(binary.LittleEndian.Uint64(src[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}

// unpackWide is unpack for widths up to 64.
func unpackWide(dst []uint64, src []byte, bit, width uint) {
	if width <= 57 {
		unpack(dst, src, bit, width)
		return
	}
	mask := ^uint64(0) >> (64 - width)
	for i := range dst {
		at, off := bit>>3, bit&7
		v := binary.LittleEndian.Uint64(src[at:]) >> off
		if off > 0 {
			v |= uint64(src[at+8]) << (64 - off)
		}
		dst[i] = v & mask
		bit += width
	}
}

// addUp is unpackWide for differences: each value is the one before it, the
// first one's is last, and least and what is stored more. It returns the last.
func addUp[T uint32 | uint64](dst []T, src []byte, bit, width uint, last, least T) T {
	if width <= 57 {
		mask := uint64(1)<<width - 1
		for i := range dst {
			last += T(binary.LittleEndian.Uint64(src[bit>>3:])>>(bit&7)&mask) + least
			dst[i] = last
			bit += width
		}
		return last
	}
	var one [1]uint64
	for i := range dst {
		unpackWide(one[:], src, bit, width)
		last += T(one[0]) + least
		dst[i] = last
		bit += width
	}
	return last
}

// setBits sets n bits of m from bit at on.
func setBits(m []byte, at, n int) {
	for n > 0 && at&7 != 0 {
		m[at>>3] |= 1 << (at & 7)
		at++
		n--
	}
	for ; n >= 8; n -= 8 {
		m[at>>3] = 0xff
		at += 8
	}
	for ; n > 0; n-- {
		m[at>>3] |= 1 << (at & 7)
		at++
	}
}

// orBits copies n bits of src, from bit from on, to m at bit at, where m is
// zero, and returns how many are set.
func orBits(m []byte, at int, src []byte, from, n int) int {
	ones := 0
	for n > 0 {
		k := min(n, 8-at&7, 8)
		v := bitsAt(src, from, k)
		m[at>>3] |= v << (at & 7)
		ones += bits.OnesCount8(v)
		at, from, n = at+k, from+k, n-k
		if at&7 == 0 && from&7 == 0 && n >= 64 {
			words := n / 64
			d, s := m[at>>3:], src[from>>3:]
			for i := range words {
				x := binary.LittleEndian.Uint64(s[i*8:])
				binary.LittleEndian.PutUint64(d[i*8:], x)
				ones += bits.OnesCount64(x)
			}
			at, from, n = at+words*64, from+words*64, n-words*64
		}
	}
	return ones
}

// bitsAt returns k ≤ 8 bits of src from bit at on.
func bitsAt(src []byte, at, k int) byte {
	v := uint(src[at>>3]) >> (at & 7)
	if at&7+k > 8 {
		v |= uint(src[at>>3+1]) << (8 - at&7)
	}
	return byte(v & (1<<k - 1))
}

// countBits counts the set bits among n from bit at on.
func countBits(m []byte, at, n int) int {
	ones := 0
	for n > 0 && at&7 != 0 {
		ones += int(m[at>>3] >> (at & 7) & 1)
		at++
		n--
	}
	for ; n >= 64; n -= 64 {
		ones += bits.OnesCount64(binary.LittleEndian.Uint64(m[at>>3:]))
		at += 64
	}
	for ; n >= 8; n -= 8 {
		ones += bits.OnesCount8(m[at>>3])
		at += 8
	}
	for ; n > 0; n-- {
		ones += int(m[at>>3] >> (at & 7) & 1)
		at++
	}
	return ones
}

// expand writes the values of src, in order, to the places of dst whose bits,
// from bit at on, are set; the others get some value of src. src has one value
// more than bits are set.
func expand[T uint32 | uint64](dst, src []T, valid []byte, at int) {
	j := 0
	for len(dst) > 0 {
		// 56 bits are in a word, whatever the first one's place in its byte.
		w := binary.LittleEndian.Uint64(valid[at>>3:]) >> (at & 7)
		k := min(len(dst), 56)
		from := src[j:]
		n := bits.OnesCount64(w & (1<<k - 1))
		from = from[:n+1]
		i := 0
		for d := range dst[:k] {
			dst[d] = from[i]
			i += int(w & 1)
			w >>= 1
		}
		j += n
		dst, at = dst[k:], at+k
	}
}

// spread moves the first k of v's values up so that they stand where the n
// validity bits from bit at on are set; v has n values. The others are left as
// they are.
func spread[T number](v []T, valid []byte, at, n, k int) {
	for i, j := n, k; j < i && j > 0; {
		// The last values that are valid side by side.
		one, run := runBack(valid, at+i, i)
		if one {
			if run == 1 {
				v[i-1] = v[j-1]
			} else {
				copy(v[i-run:i], v[j-run:j])
			}
			j -= run
		}
		i -= run
	}
}

// runBack returns the bit before end and how many of the most bits before end
// are surely like it; at least one.
func runBack(m []byte, end, most int) (one bool, run int) {
	last := end - 1
	low := max(0, last>>3-7)
	w := binary.LittleEndian.Uint64(m[low:]) << (63 - uint(last-low*8))
	one = w>>63 == 1
	if one {
		w = ^w
	}
	run = bits.LeadingZeros64(w)
	return one, min(run, most, last-low*8+1)
}
