package codec

import (
	"encoding/binary"
	"fmt"
	"io"
)

// lz4Block decodes the block src to dst[d:], with copies reaching back to
// dst[lo], and returns where its output ends. It writes only to dst[d:].
func lz4Block(dst []byte, d, lo int, src []byte) (int, error) {
	s := 0
	for {
		var err error
		if d, s, err = lz4Run(dst, d, lo, src, s); err != nil {
			return d, err
		}
		if s >= len(src) {
			return d, io.ErrUnexpectedEOF
		}
		token := int(src[s])
		lit, s1 := lz4Length(src, s+1, token>>4)
		if s1 < 0 || lit > len(src)-s1 {
			return d, io.ErrUnexpectedEOF
		}
		if lit > len(dst)-d {
			return d, errLZ4Long
		}
		copy(dst[d:], src[s1:s1+lit])
		d += lit
		if s = s1 + lit; s == len(src) {
			return d, nil // a block ends with literals
		}
		if s+2 > len(src) {
			return d, io.ErrUnexpectedEOF
		}
		off := int(binary.LittleEndian.Uint16(src[s:]))
		n, s1 := lz4Length(src, s+2, token&15)
		if s1 < 0 {
			return d, io.ErrUnexpectedEOF
		}
		n, s = n+4, s1
		if err := lz4Offset(off, d-lo); err != nil {
			return d, err
		}
		if n > len(dst)-d {
			return d, errLZ4Long
		}
		copyMatch(dst, d, off, n)
		d += n
	}
}

var errLZ4Long = fmt.Errorf("more bytes than the block should have")

func lz4Offset(off, made int) error {
	if off == 0 || off > made {
		return fmt.Errorf("offset %d before start", off)
	}
	return nil
}

// lz4Length completes a length whose token nibble is n with the bytes from
// src[s] on. It returns where they end, or -1 when they do not.
func lz4Length(src []byte, s, n int) (int, int) {
	if n < 15 {
		return n, s
	}
	for s < len(src) {
		b := src[s]
		s++
		n += int(b)
		if b != 255 {
			return n, s
		}
	}
	return 0, -1
}

// lz4Run decodes sequences from src[s:] to dst[d:] for as long as they leave
// wide copies room, stops before the first that does not, and returns how far
// it got. It may write anywhere in dst[d:].
func lz4Run(dst []byte, d, lo int, src []byte, s int) (int, int, error) {
	// A short sequence: a token, 14 literals copied as 16, an offset, 18
	// bytes copied as 24.
	dEnd, sEnd := len(dst)-48, len(src)-24
	for d <= dEnd && s <= sEnd {
		token := int(src[s])
		p, e := s+1, d
		if lit := token >> 4; lit < 15 {
			*(*[16]byte)(dst[e:]) = *(*[16]byte)(src[p:])
			p, e = p+lit, e+lit
		} else {
			lit, p = lz4Length(src, p, 15)
			if p < 0 || lit > dEnd-e || lit > len(src)-8-p {
				break
			}
			copy(dst[e:e+lit], src[p:])
			p, e = p+lit, e+lit
		}
		off := int(binary.LittleEndian.Uint16(src[p:]))
		p += 2
		if uint(off-1) >= uint(e-lo) {
			return d, s, lz4Offset(off, e-lo)
		}
		n := token & 15
		if n < 15 && off >= 8 {
			from := e - off
			*(*[8]byte)(dst[e:]) = *(*[8]byte)(dst[from:])
			*(*[8]byte)(dst[e+8:]) = *(*[8]byte)(dst[from+8:])
			*(*[8]byte)(dst[e+16:]) = *(*[8]byte)(dst[from+16:])
			d, s = e+n+4, p
			continue
		}
		n, p = lz4Length(src, p, n)
		if p < 0 || n+4 > len(dst)-wide-e {
			break
		}
		copyWide(dst, e, off, n+4)
		d, s = e+n+4, p
	}
	return d, s, nil
}
