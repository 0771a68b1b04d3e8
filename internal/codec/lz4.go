package codec

import (
	"encoding/binary"
	"io"
)

// lz4Kind is a dialect of Parquet's LZ4.
type lz4Kind uint8

const (
	lz4Bare lz4Kind = iota
	lz4Hadoop
	lz4Framed
)

const (
	lz4Magic     = 0x184D2204
	lz4Skippable = 0x184D2A50 // and the 15 after it
)

// lz4Detect tells the dialects apart by the first bytes of a block of the
// given uncompressed size. A bare block cannot begin with a match, so its
// first byte is at least 0x10, unless it is the one byte of an empty block:
// that leaves Hadoop's sizes of under 256 MiB and the magic of a frame
// without doubt.
func lz4Detect(head []byte, size int64) lz4Kind {
	if len(head) < 8 {
		return lz4Bare
	}
	if m := binary.LittleEndian.Uint32(head); m == lz4Magic || m&^15 == lz4Skippable {
		return lz4Framed
	}
	if head[0] < 0x10 {
		return lz4Hadoop
	}
	made, used := int64(binary.BigEndian.Uint32(head)), int64(binary.BigEndian.Uint32(head[4:]))
	if made <= size && used <= made+made/255+16 {
		return lz4Hadoop
	}
	return lz4Bare
}

// lz4Any decodes a block of any dialect.
func lz4Any(dst, src []byte) error {
	switch lz4Detect(src, int64(len(dst))) {
	case lz4Hadoop:
		return lz4HadoopWhole(dst, src)
	case lz4Framed:
		return lz4FrameWhole(dst, src)
	}
	return lz4Whole(LZ4, dst, src)
}

// lz4Whole decodes one bare block.
func lz4Whole(c Codec, dst, src []byte) error {
	d, err := lz4Block(dst, 0, 0, src)
	if err != nil {
		return c.damage(err)
	}
	if d != len(dst) {
		return wrongSize(c, d, len(dst))
	}
	return nil
}

// lz4HadoopWhole decodes Hadoop's framing: the size of some output, then
// blocks, each behind its own size, until that output is made. Sizes are big
// endian. Arrow writes one block for each size, Hadoop as many as it needs.
func lz4HadoopWhole(dst, src []byte) error {
	d := 0
	for len(src) > 0 {
		if len(src) < 4 {
			return LZ4.damage(io.ErrUnexpectedEOF)
		}
		want := int64(binary.BigEndian.Uint32(src))
		src = src[4:]
		if want > int64(len(dst)-d) {
			return LZ4.damage(errLZ4Long)
		}
		// An empty output has one empty block, or none at all.
		end := d + int(want)
		for first := true; d < end || first && len(src) > 0; first = false {
			if len(src) < 4 {
				return LZ4.damage(io.ErrUnexpectedEOF)
			}
			n := int64(binary.BigEndian.Uint32(src))
			if src = src[4:]; n > int64(len(src)) {
				return LZ4.damage(io.ErrUnexpectedEOF)
			}
			var err error
			if d, err = lz4Block(dst[:end:end], d, d, src[:n]); err != nil {
				return LZ4.damage(err)
			}
			src = src[n:]
		}
	}
	if d != len(dst) {
		return wrongSize(LZ4, d, len(dst))
	}
	return nil
}
