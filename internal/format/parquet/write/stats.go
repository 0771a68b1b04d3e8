package write

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"
)

// mostStat is how many bytes of a smallest or largest value are kept.
const mostStat = 64

// stats are the smallest and largest value of a page or chunk, as Parquet
// stores them.
type stats struct {
	known              bool // false: no value, only NaN, or no order
	cutMin, cutMax     bool // shortened: a bound, not a value
	minLen, maxLen     uint8
	minBytes, maxBytes [mostStat]byte
}

func (s *stats) min() []byte { return s.minBytes[:s.minLen] }
func (s *stats) max() []byte { return s.maxBytes[:s.maxLen] }

// setFixed sets values of a fixed size.
func (s *stats) setFixed(lo, hi []byte) {
	if len(lo) > mostStat {
		return
	}
	s.known = true
	s.minLen, s.maxLen = uint8(copy(s.minBytes[:], lo)), uint8(copy(s.maxBytes[:], hi))
}

// measure finds the smallest and largest of n plain values; n is not zero.
func (s *stats) measure(o order, values []byte, n, width int) {
	s.known, s.cutMin, s.cutMax = false, false, false
	le := binary.LittleEndian
	switch o {
	case byBool:
		s.bools(values, n)
	case byInt32:
		lo, hi := extent(arrow.Int32Traits.CastFromBytes(values))
		s.setFixed(le.AppendUint32(nil, uint32(lo)), le.AppendUint32(nil, uint32(hi)))
	case byUint32:
		lo, hi := extent(arrow.Uint32Traits.CastFromBytes(values))
		s.setFixed(le.AppendUint32(nil, lo), le.AppendUint32(nil, hi))
	case byInt64:
		lo, hi := extent(arrow.Int64Traits.CastFromBytes(values))
		s.setFixed(le.AppendUint64(nil, uint64(lo)), le.AppendUint64(nil, uint64(hi)))
	case byUint64:
		lo, hi := extent(arrow.Uint64Traits.CastFromBytes(values))
		s.setFixed(le.AppendUint64(nil, lo), le.AppendUint64(nil, hi))
	case byFloat16:
		s.halves(values)
	case byFloat32:
		if lo, hi, ok := realExtent(arrow.Float32Traits.CastFromBytes(values)); ok {
			s.setFixed(le.AppendUint32(nil, math.Float32bits(lo)), le.AppendUint32(nil, math.Float32bits(hi)))
		}
	case byFloat64:
		if lo, hi, ok := realExtent(arrow.Float64Traits.CastFromBytes(values)); ok {
			s.setFixed(le.AppendUint64(nil, math.Float64bits(lo)), le.AppendUint64(nil, math.Float64bits(hi)))
		}
	case byBytes, byText, bySigned:
		if width > 0 {
			s.setFixed(fixedExtent(o, values, width))
		} else {
			lo, hi := textExtent(values)
			s.setTexts(lo, hi, o == byText)
		}
	}
}

// extent is the smallest and largest of some integers, four at a time, so that
// those before are not waited for.
func extent[T int32 | uint32 | int64 | uint64](v []T) (lo, hi T) {
	lo, hi = v[0], v[0]
	for ; len(v) >= 4; v = v[4:] {
		x := (*[4]T)(v)
		a, b, c, d := x[0], x[1], x[2], x[3]
		lo, hi = min(lo, min(min(a, b), min(c, d))), max(hi, max(max(a, b), max(c, d)))
	}
	for _, x := range v {
		lo, hi = min(lo, x), max(hi, x)
	}
	return lo, hi
}

// realExtent is the smallest and largest of some numbers that are one; false:
// all are NaN. A zero is -0 as the smallest and +0 as the largest, as Parquet
// wants it.
func realExtent[T float32 | float64](v []T) (lo, hi T, ok bool) {
	for len(v) > 0 && v[0] != v[0] {
		v = v[1:]
	}
	if len(v) == 0 {
		return 0, 0, false
	}
	lo, hi = v[0], v[0]
	// Comparisons with NaN are false.
	for ; len(v) >= 8; v = v[8:] {
		x := (*[8]T)(v)
		lo, hi = widen(lo, hi, x[0], x[1])
		lo, hi = widen(lo, hi, x[2], x[3])
		lo, hi = widen(lo, hi, x[4], x[5])
		lo, hi = widen(lo, hi, x[6], x[7])
	}
	for _, x := range v {
		lo, hi = widen(lo, hi, x, x)
	}
	if lo == 0 {
		lo = T(math.Copysign(0, -1))
	}
	if hi == 0 {
		hi = 0
	}
	return lo, hi, true
}

func widen[T float32 | float64](lo, hi, a, b T) (T, T) {
	if a < lo {
		lo = a
	}
	if a > hi {
		hi = a
	}
	if b < lo {
		lo = b
	}
	if b > hi {
		hi = b
	}
	return lo, hi
}

// bools: n bits, of which the smallest is set if all are.
func (s *stats) bools(values []byte, n int) {
	all, any := true, false
	for i := 0; i < n && (all || !any); i++ {
		bit := values[i>>3]>>(i&7)&1 == 1
		all, any = all && bit, any || bit
	}
	var lo, hi [1]byte
	if all {
		lo[0] = 1
	}
	if any {
		hi[0] = 1
	}
	s.setFixed(lo[:], hi[:])
}

func (s *stats) halves(values []byte) {
	lo, hi, ok := float32(0), float32(0), false
	for ; len(values) >= 2; values = values[2:] {
		v := half(values)
		switch {
		case v != v:
		case !ok:
			lo, hi, ok = v, v, true
		default:
			lo, hi = widen(lo, hi, v, v)
		}
	}
	if !ok {
		return
	}
	a, b := float16.New(lo).Uint16(), float16.New(hi).Uint16()
	if lo == 0 {
		a = 1 << 15
	}
	if hi == 0 {
		b = 0
	}
	s.setFixed([]byte{byte(a), byte(a >> 8)}, []byte{byte(b), byte(b >> 8)})
}

func half(b []byte) float32 { return float16.FromBits(binary.LittleEndian.Uint16(b)).Float32() }

// fixedExtent is the smallest and largest of values of width bytes.
func fixedExtent(o order, values []byte, width int) (lo, hi []byte) {
	lo, hi = values[:width], values[:width]
	for ; len(values) >= width; values = values[width:] {
		v := values[:width]
		if o.compare(v, lo) < 0 {
			lo = v
		}
		if o.compare(v, hi) > 0 {
			hi = v
		}
	}
	return lo, hi
}

// textExtent is the smallest and largest of texts with their lengths before
// them. The first eight bytes decide nearly always.
func textExtent(values []byte) (lo, hi []byte) {
	var loHead, hiHead uint64
	for first := true; len(values) >= 4; first = false {
		n := 4 + int(binary.LittleEndian.Uint32(values))
		v := values[4:n]
		head := prefix(values[4:], n-4)
		values = values[n:]
		if first {
			lo, hi, loHead, hiHead = v, v, head, head
			continue
		}
		if head < loHead || head == loHead && bytes.Compare(v, lo) < 0 {
			lo, loHead = v, head
		}
		if head > hiHead || head == hiHead && bytes.Compare(v, hi) > 0 {
			hi, hiHead = v, head
		}
	}
	return lo, hi
}

// prefix is the first eight of n bytes as a number that compares like them; b
// may go on behind them.
func prefix(b []byte, n int) uint64 {
	if len(b) >= 8 {
		v := binary.BigEndian.Uint64(b)
		if n < 8 {
			v &= ^uint64(0) << (64 - 8*uint(n))
		}
		return v
	}
	var v uint64
	for i := range n {
		v |= uint64(b[i]) << (56 - 8*uint(i))
	}
	return v
}

// setTexts sets values of any length, shortened where they are long.
func (s *stats) setTexts(lo, hi []byte, text bool) {
	s.known = true
	s.cutMin, s.cutMax = len(lo) > mostStat, len(hi) > mostStat
	if s.cutMin {
		lo = cut(lo, text)
	}
	s.minLen = uint8(copy(s.minBytes[:], lo))
	if s.cutMax {
		hi, s.known = above(cut(hi, text), text)
	}
	s.maxLen = uint8(copy(s.maxBytes[:], hi))
}

// cut shortens b to what is kept, between two characters if it is text.
func cut(b []byte, text bool) []byte {
	n := mostStat
	for text && n > mostStat-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return b[:n]
}

// above is a short value that is larger than all that begin with b; false:
// there is none.
func above(b []byte, text bool) ([]byte, bool) {
	b = bytes.Clone(b)
	if text && utf8.Valid(b) {
		for len(b) > 0 {
			r, n := utf8.DecodeLastRune(b)
			b = b[:len(b)-n]
			r++
			if r == 0xD800 {
				r = 0xE000 // past the halves of pairs, which are no characters
			}
			if r <= utf8.MaxRune && len(b)+utf8.RuneLen(r) <= mostStat {
				return utf8.AppendRune(b, r), true
			}
		}
		return nil, false
	}
	for len(b) > 0 {
		if last := len(b) - 1; b[last] < 0xff {
			b[last]++
			return b, true
		}
		b = b[:len(b)-1]
	}
	return nil, false
}

// compare orders two values as stored.
func (o order) compare(a, b []byte) int {
	le := binary.LittleEndian
	switch o {
	case byBool:
		return int(a[0]) - int(b[0])
	case byInt32:
		return cmp.Compare(int32(le.Uint32(a)), int32(le.Uint32(b)))
	case byUint32:
		return cmp.Compare(le.Uint32(a), le.Uint32(b))
	case byInt64:
		return cmp.Compare(int64(le.Uint64(a)), int64(le.Uint64(b)))
	case byUint64:
		return cmp.Compare(le.Uint64(a), le.Uint64(b))
	case byFloat16:
		return cmp.Compare(half(a), half(b))
	case byFloat32:
		return cmp.Compare(math.Float32frombits(le.Uint32(a)), math.Float32frombits(le.Uint32(b)))
	case byFloat64:
		return cmp.Compare(math.Float64frombits(le.Uint64(a)), math.Float64frombits(le.Uint64(b)))
	case bySigned:
		if c := cmp.Compare(int8(a[0]), int8(b[0])); c != 0 {
			return c
		}
	}
	return bytes.Compare(a, b)
}

// join makes s the bounds of both.
func (s *stats) join(o order, t *stats) {
	if !s.known {
		*s = *t
		return
	}
	if o.compare(t.min(), s.min()) < 0 {
		s.minLen, s.minBytes, s.cutMin = t.minLen, t.minBytes, t.cutMin
	}
	if o.compare(t.max(), s.max()) > 0 {
		s.maxLen, s.maxBytes, s.cutMax = t.maxLen, t.maxBytes, t.cutMax
	}
}
