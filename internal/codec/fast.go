package codec

import "unsafe"

// This file has the loops that most bytes go through, and all of the package
// that reads and writes past the checks of Go: each stays so far from the
// ends of its slices that whatever the input says lies between them.

const (
	// fastMove is the most bytes snappyFast moves at a time.
	fastMove = 64
	// fastMargin is how far from either end it stops: it moves fastMove bytes
	// and reads four behind a tag.
	fastMargin = fastMove + 16
	// fastStart is how many bytes must have been made before it starts, so
	// that every distance it handles without looking is inside the block.
	fastStart = 32
)

// fastTags describes every tag byte: its length in the low byte (0: handled
// elsewhere), for copies with 11-bit distances their high bits in bits 8 to
// 10, the number of bytes of distance behind the tag from bit 11 on, and from
// bit 16 on how far the next tag is.
var fastTags = func() (t [256]uint32) {
	for tag := range t {
		n := uint32(tag >> 2)
		switch tag & 3 {
		case tagLiteral:
			if n < 60 {
				t[tag] = n + 1 | (n+2)<<16
			}
		case tagCopy1:
			t[tag] = 4 + n&7 | uint32(tag>>5)<<8 | 1<<11 | 2<<16
		case tagCopy2:
			t[tag] = n + 1 | 2<<11 | 3<<16
		}
	}
	return t
}()

// argMasks keeps the bytes that belong to an element, by their number.
var argMasks = [4]uint32{0, 0xff, 0xffff, 0xffffff}

// snappyFast decodes elements from src[s:] to dst[d:] until one is near an
// end, long, far or wrong, and returns where it stands. fastStart <= d.
// Literals and copies take the same path, for which of the two comes next
// cannot be predicted; nor can, in columns of doubles, a distance of 8.
func snappyFast(dst, src []byte, d, s int) (int, int) {
	if len(dst) < fastMargin || len(src) < fastMargin {
		return d, s
	}
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	bases := [2]unsafe.Pointer{out, in}
	dEnd, sEnd := len(dst)-fastMargin, len(src)-fastMargin
	for d <= dEnd && s <= sEnd {
		tag := int(*(*uint8)(unsafe.Add(in, s)))
		e := int(fastTags[tag])
		n := e & 0xff
		off := int(*(*uint32)(unsafe.Add(in, s+1))&argMasks[e>>11&3]) + e&0x700
		// All ones for a literal, which is a copy from behind its tag.
		literal := (tag&3 - 1) >> 63
		off += (fastStart - off) & literal
		if n == 0 || uint(off-1) >= uint(d) {
			break
		}
		if off < 8 {
			copyWide(dst, d, off, n)
			d += n
			s += e >> 16
			continue
		}
		from := d - off
		from += (s + 1 - from) & literal
		to, src := unsafe.Add(out, d), unsafe.Add(bases[literal&1], from)
		*(*uint64)(to) = *(*uint64)(src)
		*(*uint64)(unsafe.Add(to, 8)) = *(*uint64)(unsafe.Add(src, 8))
		if n > 16 {
			if off < 16 {
				copyWide(dst, d, off, n)
			} else {
				*(*[16]byte)(unsafe.Add(to, 16)) = *(*[16]byte)(unsafe.Add(src, 16))
				if n > 32 {
					*(*[16]byte)(unsafe.Add(to, 32)) = *(*[16]byte)(unsafe.Add(src, 32))
					*(*[16]byte)(unsafe.Add(to, 48)) = *(*[16]byte)(unsafe.Add(src, 48))
				}
			}
		}
		d += n
		s += e >> 16
	}
	return d, s
}

const (
	// inflateMade is the most bytes a round of fast writes: three pairs of
	// literals, the longest copy, and what a wide copy writes behind it.
	inflateMade = 6 + 258 + 32
	// inflateRead is the most bytes of input a round of fast looks at.
	inflateRead = 24
)

// fast decodes symbols for as long as neither end of the input nor of the
// window is near, nor anything is wrong: symbol says what.
func (f *inflate) fast(w *window) {
	dst := w.buf
	dEnd := min(w.limit, len(dst)-inflateMade)
	sEnd := w.n - inflateRead
	d, s, lo := w.wr, w.r, w.lo
	if d >= dEnd || s > sEnd {
		return
	}
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(w.in))
	b, nb := f.bits, f.have
	lit, dist := &f.lit, &f.dist
	for d < dEnd && s <= sEnd {
		b |= *(*uint64)(unsafe.Add(in, s)) << (nb & 63)
		s += int((63 - nb) >> 3)
		nb |= 56
		e := lit[b&(1<<litBits-1)]
		if e&entryLiteral != 0 {
			b >>= e & 63
			nb -= uint(e & 63)
			*(*uint16)(unsafe.Add(out, d)) = uint16(e >> 16)
			d += int(e >> 8 & 3)
			e = lit[b&(1<<litBits-1)]
			if e&entryLiteral != 0 {
				b >>= e & 63
				nb -= uint(e & 63)
				*(*uint16)(unsafe.Add(out, d)) = uint16(e >> 16)
				d += int(e >> 8 & 3)
				e = lit[b&(1<<litBits-1)]
				if e&entryLiteral != 0 {
					b >>= e & 63
					nb -= uint(e & 63)
					*(*uint16)(unsafe.Add(out, d)) = uint16(e >> 16)
					d += int(e >> 8 & 3)
					continue
				}
			}
			b |= *(*uint64)(unsafe.Add(in, s)) << (nb & 63)
			s += int((63 - nb) >> 3)
			nb |= 56
		}
		if e&entryOther != 0 {
			if e&entrySecond == 0 {
				break
			}
			e = lit[e>>16+uint32(b>>litBits)&f.litMask]
			if e&entryLiteral != 0 {
				b >>= e & 63
				nb -= uint(e & 63)
				*(*uint8)(unsafe.Add(out, d)) = byte(e >> 16)
				d++
				continue
			}
			if e&entryOther != 0 {
				break
			}
		}
		n := int(e>>16) + int(b&(1<<(e&63)-1)>>(e>>8&15))
		then := b >> (e & 63)
		back := dist[then&(1<<distBits-1)]
		if back&entrySecond != 0 {
			back = dist[back>>16+uint32(then>>distBits)&f.distMask]
		}
		off := int(back>>16) + int(then&(1<<(back&63)-1)>>(back>>8&15))
		if back&entryOther != 0 || off > d-lo {
			break
		}
		b = then >> (back & 63)
		nb -= uint(e&63) + uint(back&63)
		if off < 16 {
			copyWide(dst, d, off, n)
			d += n
			continue
		}
		to, from := unsafe.Add(out, d), unsafe.Add(out, d-off)
		d += n
		*(*[16]byte)(to) = *(*[16]byte)(from)
		for n > 16 {
			to, from = unsafe.Add(to, 16), unsafe.Add(from, 16)
			*(*[16]byte)(to) = *(*[16]byte)(from)
			n -= 16
		}
	}
	s -= int(nb >> 3)
	f.have = nb & 7
	f.bits = b & (1<<f.have - 1)
	w.wr, w.r = d, s
}
