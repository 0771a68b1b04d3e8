package arrow

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// offset is what lists and texts point with.
type offset interface{ int32 | int64 }

// ascending says that the offsets, at least one, begin at 0 or above and never
// go back. It is a sum without branches: every offset is read once.
func ascending[T offset](o []T) bool {
	prev := o[0]
	bad := prev
	for _, v := range o[1:] {
		// v alone catches a difference that is out of range.
		bad |= (v - prev) | v
		prev = v
	}
	return bad >= 0
}

// rebase moves all offsets down.
func rebase[T offset](o []T, by T) {
	for i := range o {
		o[i] -= by
	}
}

// bounds is the range that offsets point to; false if they go back. Unless
// they are to stay as they are, the range begins with the first of them, which
// becomes 0.
func bounds[T offset](o []T, stay bool) (lo, hi int64, ok bool) {
	if !ascending(o) {
		return 0, 0, false
	}
	hi = int64(o[len(o)-1])
	if first := o[0]; !stay && first > 0 {
		rebase(o, first)
		lo = int64(first)
	}
	return lo, hi, true
}

// viewRange is the part of a child that list views point to; false if one
// points outside of its rows.
func viewRange[T offset](offs, sizes []T, rows int64) (lo, hi int64, ok bool) {
	lo = math.MaxInt64
	for i, o := range offs {
		n := sizes[i]
		if o < 0 || n < 0 || int64(o) > rows || int64(n) > rows-int64(o) {
			return 0, 0, false
		}
		if n > 0 {
			lo, hi = min(lo, int64(o)), max(hi, int64(o)+int64(n))
		}
	}
	return min(lo, hi), hi, true
}

// rebaseViews moves list views down; one of no rows points to the first.
func rebaseViews[T offset](offs, sizes []T, by T) {
	for i := range offs {
		if offs[i] -= by; sizes[i] == 0 {
			offs[i] = 0
		}
	}
}

// inside says that every index that is not null is below n. An index that is
// null and not below n becomes 0.
func inside(idx []byte, width int, valid []byte, n int) bool {
	switch width {
	case 1:
		return below(idx, valid, n)
	case 2:
		return below(arrow.Uint16Traits.CastFromBytes(idx), valid, n)
	case 4:
		return below(arrow.Uint32Traits.CastFromBytes(idx), valid, n)
	}
	return below(arrow.Uint64Traits.CastFromBytes(idx), valid, n)
}

// below reads signed indices as unsigned ones: those less than 0 are then at
// least as large as n, which is no more than the type can count.
func below[T uint8 | uint16 | uint32 | uint64](idx []T, valid []byte, n int) bool {
	var most T
	for _, v := range idx {
		most = max(most, v)
	}
	if len(idx) == 0 || uint64(most) < uint64(n) {
		return true
	}
	for i, v := range idx {
		if uint64(v) < uint64(n) {
			continue
		}
		if valid == nil || bitutil.BitIsSet(valid, i) {
			return false
		}
		idx[i] = 0
	}
	return true
}

// shiftBits moves bits to the front, dropping the first by, which are fewer
// than 8.
func shiftBits(b []byte, by uint) {
	i := 0
	for ; i+9 <= len(b); i += 8 {
		v := binary.LittleEndian.Uint64(b[i:])>>by | uint64(b[i+8])<<(64-by)
		binary.LittleEndian.PutUint64(b[i:], v)
	}
	for ; i < len(b); i++ {
		b[i] >>= by
		if i+1 < len(b) {
			b[i] |= b[i+1] << (8 - by)
		}
	}
}

// extent is a part of a data buffer.
type extent struct{ lo, hi int64 }

func (e *extent) add(lo, hi int64) {
	if e.hi == 0 {
		e.lo = lo
	}
	e.lo, e.hi = min(e.lo, lo), max(e.hi, hi)
}

const inlineMost = 12 // bytes of a text that lies in its view

// checkViews adds up which parts of the data buffers are pointed to. A view
// that is null and points nowhere becomes an empty one; another one is false.
func checkViews(v []byte, valid []byte, parts []part, used []extent) bool {
	for i := 0; i+16 <= len(v); i += 16 {
		n := int32(binary.LittleEndian.Uint32(v[i:]))
		if uint32(n) <= inlineMost {
			continue
		}
		buf, off := int32(binary.LittleEndian.Uint32(v[i+8:])), int32(binary.LittleEndian.Uint32(v[i+12:]))
		null := valid != nil && !bitutil.BitIsSet(valid, i/16)
		if null || n < 0 || buf < 0 || int(buf) >= len(parts) || off < 0 || int64(off)+int64(n) > parts[buf].size {
			if !null {
				return false
			}
			clear(v[i : i+16])
			continue
		}
		used[buf].add(int64(off), int64(off)+int64(n))
	}
	return true
}

// moveViews points views to data buffers that begin later.
func moveViews(v []byte, used []extent) {
	for i := 0; i+16 <= len(v); i += 16 {
		if binary.LittleEndian.Uint32(v[i:]) > inlineMost {
			buf, off := binary.LittleEndian.Uint32(v[i+8:]), binary.LittleEndian.Uint32(v[i+12:])
			binary.LittleEndian.PutUint32(v[i+12:], off-uint32(used[buf].lo))
		}
	}
}

// runEnd is the i-th number of width bytes.
func runEnd(b []byte, width int, i int) int64 {
	switch width {
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b[2*i:])))
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return int64(binary.LittleEndian.Uint64(b[8*i:]))
}

// setRunEnd is runEnd's other direction.
func setRunEnd(b []byte, width int, i int, v int64) {
	switch width {
	case 2:
		binary.LittleEndian.PutUint16(b[2*i:], uint16(v))
	case 4:
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	default:
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}
