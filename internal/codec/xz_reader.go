package codec

import (
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc64"
	"io"
	"sync"
)

const (
	// xzInput holds an LZMA2 chunk, of 64 KiB at most, and its header.
	xzInput = 96 << 10
	// xzPart is how much is decoded before it is given out: it is then still
	// near the processor.
	xzPart = 128 << 10
	// xzState covers the probabilities.
	xzState = 48 << 10
)

func xzCost(class uint8) int64 { return int64(xzDict(class)) + wide + xzInput + lzmaRead + xzState }

type xzStage uint8

const (
	xzStream xzStage = iota // the header of a stream
	xzHeader                // of a block, or the index
	xzChunk                 // the head of a chunk
	xzCoded
	xzStored
	xzEnd // of a block
)

// xzReader decodes xz streams one after another. Of its window it uses the
// input; the window's buffer is a ring of the dictionary.
type xzReader struct {
	w      window
	z      lzma
	stage  xzStage
	failed error
	at     int64 // bytes of input used
	made   int   // bytes since the dictionary was last emptied
	left   int   // bytes of the chunk still to be made

	wantDict, wantState bool // the next chunk must begin anew with them

	streams int
	check   byte
	sum     hash.Hash // nil for none
	block   xzBlock
	header  int64  // bytes of the block's header,
	data    int64  // where its data began in the input,
	size    int64  // and bytes made of them
	sizes   uint64 // checksum of the sizes of a stream's blocks,
	blocks  int64  // and their number
}

// xzPools has readers by the class of their dictionary.
var xzPools [xzClasses]sync.Pool

func openXZ(f *feed) error {
	class, err := xzClass(f.src.peek())
	if err != nil {
		return err
	}
	dict := xzDict(class)
	if dict > xzMaxDict {
		return fmt.Errorf("xz: dictionary of %d bytes: %w", dict, ErrWindow)
	}
	x, _ := xzPools[class].Get().(*xzReader)
	if x == nil {
		x = new(xzReader)
		x.z.src = make([]byte, xzInput+lzmaRead)
		x.z.dict = int(dict)
		x.w.buf = make([]byte, dict+wide)
	}
	x.reset(&f.src)
	f.r = x
	f.free = func() {
		if x.reset(nil); dict <= xzPoolDict {
			xzPools[class].Put(x)
		}
	}
	return nil
}

func (x *xzReader) reset(src io.Reader) {
	x.w = window{src: src, in: x.z.src[:xzInput], buf: x.w.buf}
	x.stage, x.failed, x.at, x.streams = xzStream, nil, 0, 0
}

func (x *xzReader) Read(p []byte) (int, error) {
	for x.w.out == x.w.wr {
		if x.failed != nil {
			return 0, x.failed
		}
		if x.w.wr == len(x.w.buf) {
			x.w.out, x.w.wr = 0, 0
		}
		x.failed = x.step()
	}
	n := copy(p, x.w.buf[x.w.out:x.w.wr])
	x.w.out += n
	return n, nil
}

func (x *xzReader) step() error {
	switch x.stage {
	case xzStream:
		return x.openStream()
	case xzHeader:
		return x.openBlock()
	case xzChunk:
		return x.openChunk()
	case xzEnd:
		return x.closeBlock()
	}
	return x.decode()
}

// take uses n bytes of the input, which stay where they are until the next.
func (x *xzReader) take(n int) ([]byte, error) {
	have, err := x.w.need(n)
	if err != nil {
		return nil, err
	}
	if have < n {
		return nil, io.ErrUnexpectedEOF
	}
	b := x.w.in[x.w.r : x.w.r+n]
	x.w.r += n
	x.at += int64(n)
	return b, nil
}

// openStream passes over the padding before a stream and reads its header;
// io.EOF comes behind the last.
func (x *xzReader) openStream() error {
	for x.streams > 0 {
		have, err := x.w.need(1)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.EOF
		}
		if x.w.in[x.w.r] != 0 {
			break
		}
		if err := x.zeros(4); err != nil {
			return err
		}
	}
	b, err := x.take(xzStreamHeader)
	if err != nil {
		return err
	}
	if x.check, err = xzStreamFlags(b); err != nil {
		return err
	}
	if x.sum, err = newXZCheck(x.check); err != nil {
		return err
	}
	x.streams++
	x.sizes, x.blocks = 0, 0
	x.stage = xzHeader
	return nil
}

// zeros takes padding of n bytes.
func (x *xzReader) zeros(n int) error {
	b, err := x.take(n)
	if err != nil {
		return err
	}
	for _, c := range b {
		if c != 0 {
			return errXZPadding
		}
	}
	return nil
}

func (x *xzReader) openChunk() error {
	b, err := x.take(1)
	if err != nil {
		return err
	}
	control := b[0]
	if control == 0 {
		x.stage = xzEnd
		return nil
	}
	if control == 1 || control >= 0xe0 {
		x.wantDict, x.wantState = false, true
		x.made = 0
	}
	if x.wantDict || control > 2 && control < 0x80 {
		return errLZMAData
	}
	if b, err = x.take(2); err != nil {
		return err
	}
	x.left = int(binary.BigEndian.Uint16(b)) + 1
	x.stage = xzStored
	if control >= 0x80 {
		x.left += int(control&0x1f) << 16
		return x.openCoded(control)
	}
	return nil
}

// openCoded reads the rest of a coded chunk's head and has all of its data in
// the input.
func (x *xzReader) openCoded(control byte) error {
	b, err := x.take(2)
	if err != nil {
		return err
	}
	packed := int(binary.BigEndian.Uint16(b)) + 1
	switch {
	case control >= 0xc0:
		if b, err = x.take(1); err == nil {
			err = x.z.resetState(b[0])
		}
		if err != nil {
			return err
		}
		x.wantState = false
	case x.wantState:
		return errLZMAData
	case control >= 0xa0:
		x.z.reset()
	}
	if _, err := x.take(packed); err != nil {
		return err
	}
	x.stage = xzCoded
	return x.z.open(x.w.r-packed, x.w.r)
}

// decode makes what it can of a chunk.
func (x *xzReader) decode() error {
	w := &x.w
	from := w.wr
	stop := min(len(w.buf), from+min(x.left, xzPart))
	if x.stage == xzCoded {
		if err := x.z.decode(w.buf, from, stop, x.made); err != nil {
			return err
		}
	} else {
		b, err := x.take(stop - from)
		if err != nil {
			return err
		}
		copy(w.buf[from:stop], b)
	}
	w.wr = stop
	x.made += stop - from
	x.size += int64(stop - from)
	x.left -= stop - from
	if x.sum != nil {
		x.sum.Write(w.buf[from:stop])
	}
	if x.left == 0 {
		if x.stage == xzCoded && (x.z.n > 0 || !x.z.finish()) {
			return errLZMAData
		}
		x.stage = xzChunk
	}
	return nil
}

// countXZ adds the sizes of a block to those of the stream.
func countXZ(sum uint64, unpadded, size int64) uint64 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(unpadded))
	binary.LittleEndian.PutUint64(b[8:], uint64(size))
	return crc64.Update(sum, crcECMA, b[:])
}
