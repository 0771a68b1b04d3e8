package meta

import (
	"context"

	"github.com/weir-data/weir/internal/store"
)

// windowSize is the most of a footer that is in memory at a time: some 500
// row groups of a table with a few columns, one request to S3.
const windowSize = 256 << 10

// window is a part of the footer. It belongs to one decoder at a time.
type window struct {
	ctx    context.Context // of the decoder at work
	r      store.Reader
	start  int64  // where the footer begins in the file
	length int64  // of the whole footer
	buf    []byte // footer[base : base+len(buf)]; its capacity is the window's size
	base   int64
}

// load makes buf begin at off, if off is not in it already.
func (w *window) load(off int64) error {
	if off >= w.base && off < w.base+int64(len(w.buf)) {
		return nil
	}
	n := min(int64(cap(w.buf)), w.length-off)
	w.base, w.buf = off, w.buf[:0]
	if err := readAll(w.ctx, w.r, w.buf[:n], w.start+off); err != nil {
		return err
	}
	w.buf = w.buf[:n]
	return nil
}

// at is what is in memory, with the place of off in it. If off is not in the
// window, that is an empty window that begins there.
func (w *window) at(off int64) ([]byte, int) {
	if off < w.base || off > w.base+int64(len(w.buf)) {
		w.base, w.buf = off, w.buf[:0]
	}
	return w.buf, int(off - w.base)
}

// decoder starts to read at off.
func (w *window) decoder(ctx context.Context, off int64) *decoder {
	w.ctx = ctx
	d := &decoder{win: w}
	d.buf, d.pos = w.at(off)
	return d
}
