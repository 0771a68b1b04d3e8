package codec

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// A snappy element begins with a tag byte, whose low bits are its kind.
const (
	tagLiteral = iota
	tagCopy1   // 4 to 11 bytes from at most 2 KiB back
	tagCopy2   // 1 to 64 bytes from at most 64 KiB back
	tagCopy4   // 1 to 64 bytes from anywhere
)

// snappyBlock decodes a block: mostly by snappyFast, element by element where
// that stops.
func snappyBlock(dst, src []byte) error {
	size, s := binary.Uvarint(src)
	if s <= 0 || s > 5 || size > math.MaxUint32 {
		return errSnappyHeader
	}
	if int(size) != len(dst) {
		return wrongSize(Snappy, int(size), len(dst))
	}
	d := 0
	for {
		if d >= fastStart {
			d, s = snappyFast(dst, src, d, s)
		}
		if s >= len(src) {
			break
		}
		lit, n, off, used := snappyElement(src[s:])
		s += used
		switch {
		case used == 0 || lit > len(src)-s:
			return Snappy.damage(io.ErrUnexpectedEOF)
		case lit > len(dst)-d:
			return fmt.Errorf("snappy: more than %d bytes", len(dst))
		case lit > 0:
			copy(dst[d:], src[s:s+lit])
		default:
			if err := snappyCopy(dst, d, off, n); err != nil {
				return err
			}
		}
		s += lit
		d += lit + n
	}
	if d < len(dst) {
		return fmt.Errorf("snappy: %d bytes, want %d: %w", d, len(dst), io.ErrUnexpectedEOF)
	}
	return nil
}

// snappyCopy does one copy, whatever its distance.
func snappyCopy(dst []byte, d, off, n int) error {
	switch {
	case n > len(dst)-d:
		return fmt.Errorf("snappy: more than %d bytes", len(dst))
	case off == 0 || off > d:
		return fmt.Errorf("snappy: offset %d before start", off)
	case d+n+wide <= len(dst):
		copyWide(dst, d, off, n)
	default:
		copyMatch(dst, d, off, n)
	}
	return nil
}

var errSnappyHeader = fmt.Errorf("snappy: length: %w", io.ErrUnexpectedEOF)

// snappyElement reads an element's header: either lit bytes follow it, or n
// bytes are to be copied from off back. used is 0 when src is too short.
func snappyElement(src []byte) (lit, n, off, used int) {
	tag := int(src[0])
	var extra [4]byte
	have := copy(extra[:], src[1:])
	arg := binary.LittleEndian.Uint32(extra[:])
	switch tag & 3 {
	case tagLiteral:
		lit = tag >> 2
		if lit >= 60 {
			used = lit - 59
			lit = int(arg & (1<<(8*used) - 1))
		}
		lit++
	case tagCopy1:
		used = 1
		n = 4 + tag>>2&7
		off = tag>>5<<8 | int(extra[0])
	case tagCopy2:
		used = 2
		n = 1 + tag>>2
		off = int(arg & 0xffff)
	case tagCopy4:
		used = 4
		n = 1 + tag>>2
		off = int(arg)
	}
	if have < used {
		return 0, 0, 0, 0
	}
	return lit, n, off, 1 + used
}
