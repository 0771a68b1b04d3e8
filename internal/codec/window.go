package codec

import (
	"encoding/binary"
	"io"
	"sync"
)

const (
	// history is how far back a stream can copy from: all that LZ4 can say,
	// and all that snappy encoders do, who work in blocks of 64 KiB.
	history = 64 << 10
	// fresh is what is decoded between two moves of the history.
	fresh = 64 << 10
	// slack lets wide copies write past the end of what they copy, and
	// inflate finish a copy.
	slack     = 320
	inputSize = 32 << 10
	// lookahead is asked for before the fast loops are entered: more than
	// they want to see of an element.
	lookahead = 96

	windowCost = history + fresh + inputSize
)

// elements decodes one format's literals and copies.
type elements interface {
	// decode appends to the window until it is full (nil) or the block ends
	// (io.EOF). It resumes where it stopped.
	decode(w *window) error
}

// window is the input and the output of a stream of literals and copies.
type window struct {
	src  io.Reader
	in   []byte
	r, n int // in[r:n] is still to be used
	err  error
	sum  *xxh32 // of input from summed on, when a block has a checksum
	from int

	buf     []byte // history, then what is decoded, then slack
	lo      int    // copies reach back to here
	out, wr int    // buf[out:wr] is still to be given out
	limit   int    // of wr
	moved   int64  // bytes decoded before buf[0]
}

// room is how many bytes may still be decoded before the history moves.
func (w *window) room() int { return w.limit - w.wr }

// slide moves the history to the front once everything was given out.
func (w *window) slide() {
	if w.room() > 0 {
		return
	}
	cut := w.wr - history
	copy(w.buf, w.buf[cut:w.wr])
	w.lo = max(0, w.lo-cut)
	w.out, w.wr = history, history
	w.moved += int64(cut)
}

// need tries to have k bytes of input and reports how many there are; fewer
// than k means that the source has ended.
func (w *window) need(k int) (int, error) {
	if w.n-w.r >= k || w.err == io.EOF {
		return w.n - w.r, nil
	}
	w.hashInput()
	w.n = copy(w.in, w.in[w.r:w.n])
	w.r, w.from = 0, 0
	for empty := 0; w.n < k && w.err == nil; {
		var n int
		n, w.err = w.src.Read(w.in[w.n:])
		w.n += n
		if n > 0 {
			empty = 0
		} else if empty++; empty == 100 && w.err == nil {
			w.err = io.ErrNoProgress
		}
	}
	if w.err != nil && w.err != io.EOF {
		return w.n, w.err
	}
	return w.n, nil
}

func (w *window) hashInput() {
	if w.sum != nil {
		w.sum.write(w.in[w.from:w.r])
	}
	w.from = w.r
}

// literal copies up to n bytes of input to the output and reports how many.
func (w *window) literal(n int) (int, error) {
	have, err := w.need(1)
	if err != nil {
		return 0, err
	}
	if have == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	n = copy(w.buf[w.wr:w.wr+min(n, w.room())], w.in[w.r:w.n])
	w.r += n
	w.wr += n
	return n, nil
}

// match copies up to n bytes from off back and reports how many. The caller
// has checked off.
func (w *window) match(off, n int) int {
	n = min(n, w.room())
	copyMatch(w.buf, w.wr, off, n)
	w.wr += n
	return n
}

// windowReader gives out what elements decode.
type windowReader struct {
	window
	elements
	failed error
}

func (r *windowReader) Read(p []byte) (int, error) {
	for {
		if r.out < r.wr {
			n := copy(p, r.buf[r.out:r.wr])
			r.out += n
			return n, nil
		}
		if r.failed != nil {
			return 0, r.failed
		}
		r.slide()
		r.failed = r.decode(&r.window)
	}
}

var windowPool = sync.Pool{New: func() any {
	w := &windowReader{}
	w.in = make([]byte, inputSize)
	w.buf = make([]byte, history+fresh+slack)
	return w
}}

func openWindow(f *feed, e elements) {
	w := windowPool.Get().(*windowReader)
	w.window = window{src: &f.src, in: w.in, buf: w.buf, limit: history + fresh}
	w.elements, w.failed = e, nil
	f.r = w
	f.free = func() {
		w.window = window{in: w.in, buf: w.buf}
		w.elements = nil
		windowPool.Put(w)
	}
}

// le32 takes four bytes of input.
func (w *window) le32() (uint32, error) {
	have, err := w.need(4)
	if err != nil {
		return 0, err
	}
	if have < 4 {
		return 0, io.ErrUnexpectedEOF
	}
	v := binary.LittleEndian.Uint32(w.in[w.r:])
	w.r += 4
	return v, nil
}

// skip passes over n bytes of input.
func (w *window) skip(n int64) error {
	for n > 0 {
		have, err := w.need(1)
		if err != nil {
			return err
		}
		if have == 0 {
			return io.ErrUnexpectedEOF
		}
		k := min(n, int64(have))
		w.r += int(k)
		n -= k
	}
	return nil
}
