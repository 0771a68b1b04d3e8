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
			if w.wr >= fastStart {
				// What is made ends before the slack.
				w.wr, w.r = snappyFast(w.buf[:len(w.buf)-slack], w.in[:w.n], w.wr, w.r)
			}
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
