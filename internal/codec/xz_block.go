package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// openBlock reads the header of a block, or the index and what follows it.
func (x *xzReader) openBlock() error {
	b, err := x.take(1)
	if err != nil {
		return err
	}
	if b[0] == 0 {
		return x.closeStream()
	}
	x.w.r-- // the header's checksum covers its size
	x.at--
	x.header = (int64(b[0]) + 1) * 4
	if b, err = x.take(int(x.header)); err != nil {
		return err
	}
	body := b[:len(b)-4]
	if crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(b[len(body):]) {
		return errXZSum
	}
	var rest []byte
	if x.block, rest, err = parseXZBlock(body); err != nil {
		return err
	}
	for _, c := range rest {
		if c != 0 {
			return errXZPadding
		}
	}
	if dict := xzDict(x.block.class); dict > uint64(x.z.dict) {
		return fmt.Errorf("xz: dictionary of %d bytes: %w", dict, ErrWindow)
	}
	if x.sum != nil {
		x.sum.Reset()
	}
	x.wantDict, x.wantState = true, true
	x.data, x.size = x.at, 0
	x.stage = xzChunk
	return nil
}

// closeBlock checks the end of a block.
func (x *xzReader) closeBlock() error {
	packed := x.at - x.data
	if x.block.packed >= 0 && x.block.packed != packed || x.block.size >= 0 && x.block.size != x.size {
		return errXZHeader
	}
	if err := x.zeros(int(-packed & 3)); err != nil {
		return err
	}
	unpadded := x.header + packed
	if x.sum != nil {
		b, err := x.take(x.sum.Size())
		if err != nil {
			return err
		}
		if !sumIs(x.sum, b) {
			return errXZSum
		}
		unpadded += int64(len(b))
	}
	x.sizes = countXZ(x.sizes, unpadded, x.size)
	x.blocks++
	x.stage = xzHeader
	return nil
}

// xzIndex reads an index, whose first byte was taken.
type xzIndex struct {
	*xzReader
	sum  uint32
	size int64
}

func (i *xzIndex) byte() (byte, error) {
	b, err := i.take(1)
	if err != nil {
		return 0, err
	}
	i.sum = crc32.Update(i.sum, crc32.IEEETable, b)
	i.size++
	return b[0], nil
}

func (i *xzIndex) number() (int64, error) {
	var b [9]byte
	for n := range b {
		c, err := i.byte()
		if err != nil {
			return 0, err
		}
		if b[n] = c; c < 0x80 {
			v, _, err := xzNumber(b[:n+1])
			return v, err
		}
	}
	return 0, errXZHeader
}

// closeStream compares the index with the blocks that were read, and reads
// the footer.
func (x *xzReader) closeStream() error {
	i := xzIndex{xzReader: x, sum: crc32.ChecksumIEEE([]byte{0}), size: 1}
	blocks, err := i.number()
	if err != nil {
		return err
	}
	if blocks != x.blocks {
		return errXZIndex
	}
	var sizes uint64
	for range blocks {
		unpadded, err := i.number()
		if err != nil {
			return err
		}
		size, err := i.number()
		if err != nil {
			return err
		}
		sizes = countXZ(sizes, unpadded, size)
	}
	if sizes != x.sizes {
		return errXZIndex
	}
	for i.size%4 != 0 {
		c, err := i.byte()
		if err != nil {
			return err
		}
		if c != 0 {
			return errXZPadding
		}
	}
	b, err := x.take(4 + xzFooter)
	if err != nil {
		return err
	}
	if binary.LittleEndian.Uint32(b) != i.sum {
		return errXZSum
	}
	x.stage = xzStream
	return xzCheckFooter(b[4:], x.check, i.size+4)
}
