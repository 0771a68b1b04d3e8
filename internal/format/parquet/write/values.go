package write

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// append appends the values of places a to b, none of which is null, to the
// page that is being filled.
func (l *leaf) append(a, b int) error {
	if a >= b {
		return nil
	}
	if l.index == arrow.NULL {
		return l.convert(a, b)
	}
	for ; a < b; a++ {
		k := l.at(a)
		if err := l.convert(k, k+1); err != nil {
			return err
		}
	}
	return nil
}

// convert appends the values of places a to b as Parquet stores them.
func (l *leaf) convert(a, b int) error {
	n := b - a
	l.vals += n
	dst := l.buf[l.start+l.used:]
	src := l.src.data
	le := binary.LittleEndian
	switch l.form {
	case asIs:
		l.used += copy(dst, src[a*l.width:b*l.width])
	case fromInt8:
		for i, v := range src[a:b] {
			le.PutUint32(dst[4*i:], uint32(int32(int8(v))))
		}
		l.used += 4 * n
	case fromUint8:
		for i, v := range src[a:b] {
			le.PutUint32(dst[4*i:], uint32(v))
		}
		l.used += 4 * n
	case fromInt16:
		for i, v := range arrow.Int16Traits.CastFromBytes(src)[a:b] {
			le.PutUint32(dst[4*i:], uint32(int32(v)))
		}
		l.used += 4 * n
	case fromUint16:
		for i, v := range arrow.Uint16Traits.CastFromBytes(src)[a:b] {
			le.PutUint32(dst[4*i:], uint32(v))
		}
		l.used += 4 * n
	case fromBool:
		l.appendBits(src, a, b)
	case fromBytes32:
		l.used += prefixed(dst, src, l.src.off32[a:b+1])
	case fromBytes64:
		l.used += prefixed(dst, src, l.src.off64[a:b+1])
	case fromView:
		for ; a < b; a++ {
			v := l.src.view(a)
			le.PutUint32(dst, uint32(len(v)))
			n := 4 + copy(dst[4:], v)
			l.used += n
			dst = dst[n:]
		}
	case fromDecimal:
		l.used += shorten(dst, src[a*l.from:b*l.from], l.from, l.width)
	case fromBigDecimal:
		l.used += reverse(dst, src[a*l.from:b*l.from], l.from, l.width)
	default:
		return l.rescale(dst, a, b)
	}
	return nil
}

// prefixed writes the texts between the offsets with their lengths before
// them.
func prefixed[O int32 | int64](dst, src []byte, off []O) int {
	n := 0
	at := off[0]
	for _, end := range off[1:] {
		size := int(end - at)
		binary.LittleEndian.PutUint32(dst[n:], uint32(size))
		n += 4
		// Short ones are copied with a move of a fixed size where there is
		// room on both sides.
		if size <= 16 && int(at)+16 <= len(src) && n+16 <= len(dst) {
			*(*[16]byte)(dst[n:]) = *(*[16]byte)(src[at:])
		} else {
			copy(dst[n:], src[at:end])
		}
		n += size
		at = end
	}
	return n
}

// shorten keeps the low bytes of little-endian integers, which fit.
func shorten(dst, src []byte, from, to int) int {
	n := 0
	for ; len(src) > 0; src = src[from:] {
		n += copy(dst[n:n+to], src)
	}
	return n
}

// reverse keeps the low bytes of little-endian integers, the highest first.
func reverse(dst, src []byte, from, to int) int {
	n := 0
	for ; len(src) > 0; src = src[from:] {
		for i := range to {
			dst[n+i] = src[to-1-i]
		}
		n += to
	}
	return n
}

// appendBits appends bits a to b; the page's own number tells how many bits
// its last byte has.
func (l *leaf) appendBits(src []byte, a, b int) {
	dst := l.buf[l.start:]
	at := l.vals - (b - a)
	for ; a < b && at&7 != 0; a, at = a+1, at+1 {
		dst[at>>3] |= src[a>>3] >> (a & 7) & 1 << (at & 7)
	}
	for ; b-a >= 64; a, at = a+64, at+64 {
		binary.LittleEndian.PutUint64(dst[at>>3:], word(src, a))
	}
	for ; a < b; a, at = a+1, at+1 {
		if at&7 == 0 {
			dst[at>>3] = 0
		}
		dst[at>>3] |= src[a>>3] >> (a & 7) & 1 << (at & 7)
	}
	l.used = (at + 7) / 8
}

const msPerDay = 86_400_000

// rescale converts units of time.
func (l *leaf) rescale(dst []byte, a, b int) error {
	n := b - a
	switch l.form {
	case fromSeconds32:
		for i, v := range arrow.Int32Traits.CastFromBytes(l.src.data)[a:b] {
			if v > math.MaxInt32/1000 || v < math.MinInt32/1000 {
				return l.beyond(int64(v))
			}
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(v*1000))
		}
	case fromSeconds64:
		for i, v := range arrow.Int64Traits.CastFromBytes(l.src.data)[a:b] {
			if v > math.MaxInt64/1000 || v < math.MinInt64/1000 {
				return l.beyond(v)
			}
			binary.LittleEndian.PutUint64(dst[8*i:], uint64(v*1000))
		}
	case fromDate64:
		for i, v := range arrow.Int64Traits.CastFromBytes(l.src.data)[a:b] {
			day := v / msPerDay
			if v%msPerDay < 0 {
				day--
			}
			if day != int64(int32(day)) {
				return l.beyond(v)
			}
			binary.LittleEndian.PutUint32(dst[4*i:], uint32(day))
		}
	}
	l.used += n * l.width
	return nil
}

func (l *leaf) beyond(v int64) error {
	return format.Error(format.ErrData, "column %q: %d is beyond the times that Parquet stores", l.name, v)
}
