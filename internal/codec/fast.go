package codec

import "unsafe"

// This file has the loops that most bytes go through, and all of the package
// that reads and writes past the checks of Go: each stays so far from the
// ends of its slices that whatever the input says lies between them.

const (
	// fastRead is how far from the end of its input snappyFast stops: a round
	// moves 64 bytes behind a tag and looks at what follows the last of them.
	fastRead = 64 + 16
	// fastMade is how far from the end of its output it stops: a round moves
	// 64 bytes twice.
	fastMade = 2 * 64
	// fastStart is how many bytes must have been made before it starts: the
	// shortest distance that it copies from at once.
	fastStart = 8
	// fastLiteral is the longest literal whose tag says its length.
	fastLiteral = 60
)

// fastCopies describes the tags of copies: bits 0 to 15 keep the bytes behind
// the tag that belong to the distance, bits 16 to 23 are the length, and what
// lies above is the part of the distance that the tag has. It is 0 for other
// tags and for copies from anywhere, and 0 is no distance.
var fastCopies = func() (t [256]uint64) {
	for tag := range uint64(256) {
		switch tag & 3 {
		case tagCopy1:
			t[tag] = 0xff | (4+tag>>2&7)<<16 | tag>>5<<8<<24
		case tagCopy2:
			t[tag] = 0xffff | (1+tag>>2)<<16
		}
	}
	return t
}()

// snappyFast decodes elements from src[s:] to dst[d:] until one is near an
// end, long, far or wrong, and returns where it stands. fastStart <= d.
func snappyFast(dst, src []byte, d, s int) (int, int) {
	for {
		d, s = snappyRounds(dst, src, d, s)
		if d > len(dst)-fastMade || s > len(src)-fastRead {
			return d, s
		}
		_, n, off, used := snappyElement(src[s:])
		if off == 0 || off >= 16 || off > d {
			return d, s
		}
		copyWide(dst, d, off, n)
		d += n
		s += used
	}
}

// snappyRounds is snappyFast up to the next copy that repeats itself: those
// need a call, and with one in its loop too little would stay in registers. A
// round is a copy and the literal before it, if there is one: a literal is
// followed by a copy, so that of two elements at most one has to be guessed.
func snappyRounds(dst, src []byte, d, s int) (int, int) {
	if s > len(src)-fastRead {
		return d, s
	}
	out, in := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	dEnd, inEnd := len(dst)-fastMade, unsafe.Add(in, len(src)-fastRead)
	at := unsafe.Add(in, s)
	tag := int(*(*uint8)(at))
	for d <= dEnd && uintptr(at) <= uintptr(inEnd) {
		if tag&3 == tagLiteral {
			n := tag>>2 + 1
			to, from := unsafe.Add(out, d), unsafe.Add(at, 1)
			tag = int(*(*uint8)(unsafe.Add(from, n)))
			*(*[16]byte)(to) = *(*[16]byte)(from)
			if n > 16 {
				if n > fastLiteral {
					break
				}
				move48(unsafe.Add(to, 16), unsafe.Add(from, 16), n)
			}
			d += n
			at = unsafe.Add(from, n)
		}
		e := fastCopies[uint8(tag)]
		off := int(uint64(*(*uint16)(unsafe.Add(at, 1)))&e + e>>24)
		if uint(off-8) > uint(d-8) {
			break
		}
		to, from := unsafe.Add(out, d), unsafe.Add(out, d-off)
		*(*uint64)(to) = *(*uint64)(from)
		*(*uint64)(unsafe.Add(to, 8)) = *(*uint64)(unsafe.Add(from, 8))
		n := int(e >> 16 & 0xff)
		if n > 16 {
			if off < 16 {
				break
			}
			move48(unsafe.Add(to, 16), unsafe.Add(from, 16), n)
		}
		d += n
		at = unsafe.Add(at, tag&3+1)
		tag = int(*(*uint8)(at))
	}
	return d, int(uintptr(at) - uintptr(in))
}

// move48 moves what an element of n bytes has behind its first 16, up to 48
// bytes.
func move48(to, from unsafe.Pointer, n int) {
	*(*[16]byte)(to) = *(*[16]byte)(from)
	if n > 32 {
		*(*[16]byte)(unsafe.Add(to, 16)) = *(*[16]byte)(unsafe.Add(from, 16))
		*(*[16]byte)(unsafe.Add(to, 32)) = *(*[16]byte)(unsafe.Add(from, 32))
	}
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
