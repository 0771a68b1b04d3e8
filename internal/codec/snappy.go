package codec

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/s2"
)

// A snappy element begins with a tag byte, whose low bits are its kind.
const (
	tagLiteral = iota
	tagCopy1   // 4 to 11 bytes from at most 2 KiB back
	tagCopy2   // 1 to 64 bytes from at most 64 KiB back
	tagCopy4   // 1 to 64 bytes from anywhere
)

// snappyBlock decodes a block with s2's assembly. It takes whatever snappy's
// encoders write; s2's own extension, a copy of offset 0, passes too.
func snappyBlock(dst, src []byte) error {
	n, err := s2.DecodedLen(src)
	if err != nil {
		return errSnappyHeader
	}
	if n != len(dst) {
		return wrongSize(Snappy, n, len(dst))
	}
	if _, err := s2.Decode(dst, src); err != nil {
		return snappyCause(len(dst), src)
	}
	return nil
}

var errSnappyHeader = fmt.Errorf("snappy: length: %w", io.ErrUnexpectedEOF)

// snappyCause walks a block that the decoder refused and says what is wrong.
func snappyCause(size int, src []byte) error {
	_, s := binary.Uvarint(src)
	made := 0
	for s < len(src) {
		lit, n, off, used := snappyElement(src[s:])
		if used == 0 {
			return Snappy.damage(io.ErrUnexpectedEOF)
		}
		s += used
		switch {
		case lit > len(src)-s:
			return Snappy.damage(io.ErrUnexpectedEOF)
		case lit == 0 && (off == 0 || off > made):
			return fmt.Errorf("snappy: offset %d before start", off)
		}
		s += lit
		made += lit + n
		if made > size {
			return fmt.Errorf("snappy: more than %d bytes", size)
		}
	}
	if made < size {
		return fmt.Errorf("snappy: %d bytes, want %d: %w", made, size, io.ErrUnexpectedEOF)
	}
	return Snappy.damage(s2.ErrCorrupt)
}

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
