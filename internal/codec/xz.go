package codec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

const (
	xzStreamHeader = 12
	xzFooter       = 12
	xzFilterLZMA2  = 0x21
	xzClasses      = 41
	// xzMaxDict is where a stream gives up: ErrWindow.
	xzMaxDict = 2 << 30
	// Larger dictionaries are not worth holding unpaid between files.
	xzPoolDict = 8 << 20
)

var (
	errXZHeader  = errors.New("header is damaged or of an unknown kind")
	errXZSum     = errors.New("checksum differs")
	errXZIndex   = errors.New("index differs from the blocks")
	errXZPadding = errors.New("padding is not zero")
	crcECMA      = crc64.MakeTable(crc64.ECMA)
)

// xzStreamFlags reads the header of a stream and gives the kind of its checks.
func xzStreamFlags(b []byte) (check byte, err error) {
	if len(b) < xzStreamHeader {
		return 0, io.ErrUnexpectedEOF
	}
	if string(b[:6]) != magicXZ || b[6] != 0 || b[7] > 15 ||
		crc32.ChecksumIEEE(b[6:8]) != binary.LittleEndian.Uint32(b[8:]) {
		return 0, errXZHeader
	}
	return b[7], nil
}

// newXZCheck gives the checksum of a kind; none for kind 0.
func newXZCheck(kind byte) (hash.Hash, error) {
	switch kind {
	case 0:
		return nil, nil
	case 1:
		return crc32.NewIEEE(), nil
	case 4:
		return crc64.New(crcECMA), nil
	case 10:
		return sha256.New(), nil
	}
	return nil, fmt.Errorf("check of kind %d is not supported", kind)
}

// xzBlock is what the header of a block says; sizes are -1 when not told.
type xzBlock struct {
	packed, size int64
	class        uint8 // of its dictionary, as the format writes it
}

// xzDict is the size of a class of dictionaries.
func xzDict(class uint8) uint64 {
	size := uint64(2|class&1) << (class/2 + 11)
	return min(size, 1<<32-1)
}

// parseXZBlock reads a block's header up to the size of its dictionary, and
// gives what follows that.
func parseXZBlock(b []byte) (h xzBlock, rest []byte, err error) {
	if len(b) < 2 {
		return h, nil, io.ErrUnexpectedEOF
	}
	flags := b[1]
	if flags&0x3c != 0 {
		return h, nil, errXZHeader
	}
	b = b[2:]
	h.packed, h.size = -1, -1
	if flags&0x40 != 0 {
		if h.packed, b, err = xzNumber(b); err != nil {
			return h, nil, err
		}
	}
	if flags&0x80 != 0 {
		if h.size, b, err = xzNumber(b); err != nil {
			return h, nil, err
		}
	}
	if len(b) < 3 {
		return h, nil, io.ErrUnexpectedEOF
	}
	if flags&3 != 0 || b[0] != xzFilterLZMA2 {
		return h, nil, errors.New("filters other than LZMA2 are not supported")
	}
	if b[1] != 1 || b[2] >= xzClasses {
		return h, nil, errXZHeader
	}
	h.class = b[2]
	return h, b[3:], nil
}

// xzNumber takes a number of one to nine bytes of seven bits off b.
func xzNumber(b []byte) (int64, []byte, error) {
	var v int64
	for i, c := range b[:min(9, len(b))] {
		v |= int64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if c == 0 && i > 0 {
				return 0, nil, errXZHeader
			}
			return v, b[i+1:], nil
		}
	}
	if len(b) < 9 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return 0, nil, errXZHeader
}

// xzClass finds the dictionary of the first block in a file's first bytes. A
// file without blocks has the smallest.
func xzClass(head []byte) (uint8, error) {
	if _, err := xzStreamFlags(head); err != nil {
		return 0, err
	}
	if head = head[xzStreamHeader:]; len(head) > 0 && head[0] == 0 {
		return 0, nil
	}
	h, _, err := parseXZBlock(head)
	return h.class, err
}

// xzCheckFooter compares the end of a stream with its beginning and with the
// size of its index.
func xzCheckFooter(b []byte, check byte, index int64) error {
	back := (int64(binary.LittleEndian.Uint32(b[4:])) + 1) * 4
	switch {
	case crc32.ChecksumIEEE(b[4:10]) != binary.LittleEndian.Uint32(b):
		return errXZSum
	case string(b[10:12]) != "YZ" || b[8] != 0 || b[9] != check || back != index:
		return errXZHeader
	}
	return nil
}

// sumIs compares a sum with how xz writes it: numbers with their lowest byte
// first.
func sumIs(h hash.Hash, want []byte) bool {
	sum := h.Sum(make([]byte, 0, sha256.Size))
	if len(sum) <= 8 {
		for i, j := 0, len(sum)-1; i < j; i, j = i+1, j-1 {
			sum[i], sum[j] = sum[j], sum[i]
		}
	}
	return bytes.Equal(sum, want)
}
