package codec

import (
	"encoding/binary"
	"io"
	"math"
)

// lz4Elements decodes LZ4 of any dialect as it comes: a framing (frame,
// Hadoop's, or none) around blocks.
type lz4Elements struct {
	kind    lz4Kind
	size    int64
	begun   bool
	inBlock bool
	block   lz4Sequences

	owed int64 // Hadoop: output still to be made by further blocks

	header   lz4Header // of the frame, while inFrame
	inFrame  bool
	made     int64 // bytes of the frame
	content  xxh32
	blockSum xxh32
	hashed   int // window position up to which content covers
}

func newLZ4Elements(c Codec, head []byte, size int64) *lz4Elements {
	e := &lz4Elements{kind: lz4Bare, size: size}
	if c == LZ4 {
		e.kind = lz4Detect(head, size)
	}
	return e
}

func (e *lz4Elements) decode(w *window) error {
	e.hashed = w.wr
	for w.room() > 0 {
		var err error
		if e.inBlock {
			before := w.wr
			e.inBlock, err = e.block.decode(w)
			e.made += int64(w.wr - before)
			e.owed -= int64(w.wr - before)
			if err == nil && !e.inBlock {
				err = e.blockEnd(w)
			}
		} else {
			err = e.next(w)
		}
		if err != nil {
			return err
		}
	}
	e.hash(w)
	return nil
}

// next reads what stands between blocks, up to the next block's data; io.EOF
// ends the last.
func (e *lz4Elements) next(w *window) error {
	switch e.kind {
	case lz4Hadoop:
		return e.nextHadoop(w)
	case lz4Framed:
		return e.nextFrame(w)
	}
	if e.begun {
		return io.EOF
	}
	e.begun = true
	e.start(math.MaxInt64, e.size, false)
	e.block.open = true
	return nil
}

// start begins a block of n bytes that may make as many as room.
func (e *lz4Elements) start(n, room int64, stored bool) {
	e.inBlock = true
	e.block = lz4Sequences{left: n, room: room}
	if stored {
		e.block = lz4Sequences{stage: lz4Stored, left: n, room: room}
	}
}

func (e *lz4Elements) nextHadoop(w *window) error {
	if e.owed == 0 {
		have, err := w.need(4)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.EOF
		}
		if have < 4 {
			return io.ErrUnexpectedEOF
		}
		e.owed = int64(binary.BigEndian.Uint32(w.in[w.r:]))
		w.r += 4
	}
	have, err := w.need(4)
	if err != nil {
		return err
	}
	if have == 0 && e.owed == 0 {
		return io.EOF
	}
	if have < 4 {
		return io.ErrUnexpectedEOF
	}
	n := binary.BigEndian.Uint32(w.in[w.r:])
	w.r += 4
	w.lo = w.wr
	e.start(int64(n), e.owed, false)
	return nil
}

func (e *lz4Elements) nextFrame(w *window) error {
	if !e.inFrame {
		return e.frame(w)
	}
	word, err := w.le32()
	if err != nil {
		return err
	}
	if word == 0 {
		return e.frameEnd(w)
	}
	n := int64(word & (1<<31 - 1))
	if n > int64(e.header.blockMax) {
		return errLZ4Long
	}
	if !e.header.linked {
		w.lo = w.wr
	}
	e.start(n, int64(e.header.blockMax), word>>31 == 1)
	if e.header.blockSum {
		e.blockSum.reset()
		w.sum, w.from = &e.blockSum, w.r
	}
	return nil
}

// frame reads a frame's header, or passes over a skippable frame.
func (e *lz4Elements) frame(w *window) error {
	have, err := w.need(lz4HeaderMax)
	if err != nil {
		return err
	}
	if have == 0 {
		return io.EOF
	}
	in := w.in[w.r:w.n]
	if have >= 8 && binary.LittleEndian.Uint32(in)&^15 == lz4Skippable {
		w.r += 8
		return w.skip(int64(binary.LittleEndian.Uint32(in[4:])))
	}
	h, n, err := parseLZ4Header(in)
	if err != nil {
		return err
	}
	w.r += n
	w.lo = w.wr
	e.header, e.inFrame, e.made = h, true, 0
	e.content.reset()
	e.hashed = w.wr
	return nil
}

func (e *lz4Elements) blockEnd(w *window) error {
	if w.sum == nil {
		return nil
	}
	w.hashInput()
	w.sum = nil
	sum, err := w.le32()
	if err == nil && sum != e.blockSum.sum() {
		err = errLZ4Sum
	}
	return err
}

func (e *lz4Elements) frameEnd(w *window) error {
	e.inFrame = false
	if e.header.contentSum {
		e.content.write(w.buf[e.hashed:w.wr])
		sum, err := w.le32()
		if err != nil {
			return err
		}
		if sum != e.content.sum() {
			return errLZ4Sum
		}
	}
	return e.header.check(e.made)
}

// hash takes up what was decoded before the window moves.
func (e *lz4Elements) hash(w *window) {
	if e.inFrame && e.header.contentSum {
		e.content.write(w.buf[e.hashed:w.wr])
	}
}
