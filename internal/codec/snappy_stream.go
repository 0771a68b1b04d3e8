package codec

import (
	"encoding/binary"
	"fmt"
	"io"
)

// snappyElements decodes a snappy block as it comes.
type snappyElements struct {
	size    int64
	started bool
	lit     int // bytes of a literal still to come
	n, off  int // bytes of a copy still to come, and from where
}

func (e *snappyElements) decode(w *window) error {
	if !e.started {
		if err := e.header(w); err != nil {
			return err
		}
		e.started = true
	}
	for w.room() > 0 {
		switch {
		case e.lit > 0:
			n, err := w.literal(e.lit)
			if err != nil {
				return err
			}
			e.lit -= n
		case e.n > 0:
			e.n -= w.match(e.off, e.n)
		default:
			if _, err := w.need(lookahead); err != nil {
				return err
			}
			w.wr, w.r = snappyRun(w.buf, w.wr, w.in[:w.n], w.r)
			if err := e.next(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// header checks the length that begins a block.
func (e *snappyElements) header(w *window) error {
	if _, err := w.need(lookahead); err != nil {
		return err
	}
	size, n := binary.Uvarint(w.in[w.r:w.n])
	if n <= 0 || n > 5 {
		return errSnappyHeader
	}
	if size != uint64(e.size) {
		return fmt.Errorf("snappy: %d bytes, want %d", size, e.size)
	}
	w.r += n
	return nil
}

// next reads one element's header, carefully.
func (e *snappyElements) next(w *window) error {
	have, err := w.need(5)
	if err != nil {
		return err
	}
	if have == 0 {
		return io.EOF
	}
	lit, n, off, used := snappyElement(w.in[w.r:w.n])
	switch {
	case used == 0:
		return io.ErrUnexpectedEOF
	case lit > 0:
	case off == 0 || int64(off) > w.moved+int64(w.wr):
		return fmt.Errorf("snappy: offset %d before start", off)
	case off > history:
		return fmt.Errorf("snappy: offset %d: %w", off, ErrWindow)
	}
	w.r += used
	e.lit, e.n, e.off = lit, n, off
	return nil
}

// snappyTags has, for each tag of a short copy, its length, the high bits of
// its offset shifted by 8, and in the top bits how many bytes of offset follow.
var snappyTags = func() (t [256]uint16) {
	for tag := range t {
		switch tag & 3 {
		case tagCopy1:
			t[tag] = uint16(4 + tag>>2&7 | tag>>5<<8 | 1<<14)
		case tagCopy2:
			t[tag] = uint16(1 + tag>>2 | 2<<14)
		}
	}
	return t
}()

// snappyRun decodes elements from src[s:] to dst[d:] for as long as they
// leave the fast path room: lookahead bytes of input, slack and an element of
// output. It stops before the first that does not, that is damaged, or that
// copies from over 64 KiB back, and returns how far it got.
func snappyRun(dst []byte, d int, src []byte, s int) (int, int) {
	dEnd, sEnd := len(dst)-slack-64, len(src)-64-5
	for d <= dEnd && s <= sEnd {
		tag := src[s]
		if tag&3 == tagLiteral {
			n := int(tag>>2) + 1
			if n <= 16 {
				*(*[16]byte)(dst[d:]) = *(*[16]byte)(src[s+1:])
				s += 1 + n
			} else if n <= 60 {
				to, from := (*[64]byte)(dst[d:]), (*[64]byte)(src[s+1:])
				*to = *from
				s += 1 + n
			} else {
				arg := binary.LittleEndian.Uint32(src[s+1:])
				used := n - 60
				n = int(arg&(1<<(8*used)-1)) + 1
				if n > len(src)-s-1-used || n > len(dst)-slack-d {
					return d, s
				}
				copy(dst[d:d+n], src[s+1+used:])
				s += 1 + used + n
			}
			d += n
			continue
		}
		entry := int(snappyTags[tag])
		used := entry >> 14
		off := entry&0x700 + int(binary.LittleEndian.Uint16(src[s+1:]))&snappyMasks[used]
		n := entry & 0xff
		if uint(off-1) >= uint(d) || used == 0 {
			return d, s
		}
		if off >= 16 {
			from := d - off
			*(*[16]byte)(dst[d:]) = *(*[16]byte)(dst[from:])
			for i := 16; i < n; i += 16 {
				*(*[16]byte)(dst[d+i:]) = *(*[16]byte)(dst[from+i:])
			}
		} else {
			copyWide(dst, d, off, n)
		}
		d += n
		s += 1 + used
	}
	return d, s
}

var snappyMasks = [4]int{0, 0xff, 0xffff, 0}
