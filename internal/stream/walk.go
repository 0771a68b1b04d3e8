package stream

import "context"

// Walk goes through a stream by rows, whatever its batches are, and stays
// between two of them.
type Walk struct {
	in   Stream
	at   Cursor // behind the batch before
	b    *Batch // with rows left; nil: none
	used int64  // of its rows
}

// NewWalk takes the stream over, which begins at a cursor.
func NewWalk(in Stream, from Cursor) *Walk { return &Walk{in: in, at: from} }

// Step goes on by rows of one batch: over those to skip, and with at most n
// behind them to use, which borrows the batch: n rows of it from a row on, and
// the batch begins behind a cursor. It returns the rows that it went on by, or
// what Next and use return: io.EOF at the end.
func (w *Walk) Step(ctx context.Context, skip, n int64, use func(b *Batch, before Cursor, from, n int) error) (int64, error) {
	if w.b == nil {
		b, err := w.in.Next(ctx)
		if err != nil {
			return 0, err
		}
		w.b, w.used = b, 0
	}
	left := w.b.Rows() - w.used
	k := min(left, skip+n)
	if over := min(skip, k); over < k {
		if err := use(w.b, w.at, int(w.used+over), int(k-over)); err != nil {
			return 0, err
		}
	}
	if w.used += k; k == left {
		w.at = w.b.After
		w.b.Release()
		w.b = nil
	}
	return k, nil
}

// Close ends the stream.
func (w *Walk) Close() error {
	if w.b != nil {
		w.b.Release()
		w.b = nil
	}
	return w.in.Close()
}
