package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

var (
	errLZ4Sum   = errors.New("checksum differs")
	errLZ4Frame = errors.New("frame header is damaged or of an unknown version")
)

// lz4Header is what an LZ4 frame says of itself.
type lz4Header struct {
	linked     bool // blocks copy from those before them
	blockSum   bool
	contentSum bool
	size       int64 // of the content; -1 when not told
	blockMax   int
}

// lz4HeaderMax is the size of the longest frame header.
const lz4HeaderMax = 19

// parseLZ4Header reads a frame header, magic and all, and reports its length.
func parseLZ4Header(src []byte) (h lz4Header, n int, err error) {
	if len(src) < 7 {
		return h, 0, io.ErrUnexpectedEOF
	}
	if binary.LittleEndian.Uint32(src) != lz4Magic {
		return h, 0, errLZ4Frame
	}
	flags, max := src[4], src[5]>>4
	if flags>>6 != 1 || max < 4 || max > 7 {
		return h, 0, errLZ4Frame
	}
	h = lz4Header{
		linked:     flags&0x20 == 0,
		blockSum:   flags&0x10 != 0,
		contentSum: flags&0x04 != 0,
		size:       -1,
		blockMax:   1 << (8 + 2*max),
	}
	n = 6
	if flags&0x08 != 0 {
		n += 8
	}
	if flags&0x01 != 0 {
		return h, 0, errors.New("frame needs a dictionary")
	}
	if n >= len(src) {
		return h, 0, io.ErrUnexpectedEOF
	}
	if n > 6 {
		h.size = int64(binary.LittleEndian.Uint64(src[6:]))
		if h.size < 0 {
			return h, 0, errLZ4Frame
		}
	}
	if byte(xxh32Of(src[4:n])>>8) != src[n] {
		return h, 0, errLZ4Frame
	}
	return h, n + 1, nil
}

// check compares a finished frame's content with what its header said.
func (h lz4Header) check(made int64) error {
	if h.size >= 0 && made != h.size {
		return fmt.Errorf("frame of %d bytes, its header says %d", made, h.size)
	}
	return nil
}

// lz4FrameWhole decodes frames one after another.
func lz4FrameWhole(dst, src []byte) error {
	d, used := 0, 0
	for len(src) > 0 {
		var err error
		if d, used, err = lz4Frame(dst, d, src); err != nil {
			return LZ4.damage(err)
		}
		src = src[used:]
	}
	if d != len(dst) {
		return wrongSize(LZ4, d, len(dst))
	}
	return nil
}

// lz4Frame decodes the frame that src begins with to dst[d:] and returns the
// ends of its output and of its input.
func lz4Frame(dst []byte, d int, src []byte) (int, int, error) {
	if len(src) >= 8 && binary.LittleEndian.Uint32(src)&^15 == lz4Skippable {
		n := 8 + int64(binary.LittleEndian.Uint32(src[4:]))
		if n > int64(len(src)) {
			return d, 0, io.ErrUnexpectedEOF
		}
		return d, int(n), nil
	}
	h, s, err := parseLZ4Header(src)
	if err != nil {
		return d, 0, err
	}
	start := d
	for {
		word, err := le32(src, s)
		if err != nil {
			return d, s, err
		}
		s += 4
		if word == 0 {
			break
		}
		if d, s, err = lz4FrameBlock(h, word, dst, d, start, src, s); err != nil {
			return d, s, err
		}
	}
	if h.contentSum {
		sum, err := le32(src, s)
		if err != nil {
			return d, s, err
		}
		if s += 4; sum != xxh32Of(dst[start:d]) {
			return d, s, errLZ4Sum
		}
	}
	return d, s, h.check(int64(d - start))
}

// lz4FrameBlock decodes the block of the given size word at src[s].
func lz4FrameBlock(h lz4Header, word uint32, dst []byte, d, start int, src []byte, s int) (int, int, error) {
	n := int(word & (1<<31 - 1))
	if n > h.blockMax {
		return d, s, errLZ4Long
	}
	if n > len(src)-s {
		return d, s, io.ErrUnexpectedEOF
	}
	data := src[s : s+n]
	s += n
	end := min(len(dst), d+h.blockMax)
	if !h.linked {
		start = d
	}
	var err error
	if word>>31 == 0 {
		d, err = lz4Block(dst[:end:end], d, start, data)
	} else if n > end-d {
		err = errLZ4Long
	} else {
		d += copy(dst[d:], data)
	}
	if err != nil || !h.blockSum {
		return d, s, err
	}
	sum, err := le32(src, s)
	if err == nil && sum != xxh32Of(data) {
		err = errLZ4Sum
	}
	return d, s + 4, err
}

func le32(src []byte, s int) (uint32, error) {
	if len(src)-s < 4 {
		return 0, io.ErrUnexpectedEOF
	}
	return binary.LittleEndian.Uint32(src[s:]), nil
}
