package feed

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// held is the rows of a window, in memory.
type held interface {
	free()
}

// holder makes room for rows and takes them in; several goroutines may do that
// for other rows at the same time.
type holder interface {
	// hold makes room for the rows of pieces.
	hold(share *mem.Budget, pieces []order.Piece, rows int64) (held, error)
	// put takes in the next rows of a piece, which begin at a row of the window.
	put(h held, piece int, at int, rec arrow.RecordBatch) error
	// ready is called when all rows are there.
	ready(h held) error
}

// loaded is a window whose rows are in memory.
type loaded struct {
	epoch  int
	number int
	*order.Window
	deck  []int32
	lease *mem.Lease // of the deck
	rows  held
}

func (w *loaded) free() {
	if w != nil {
		w.lease.Release()
		w.rows.free()
	}
}

// track is one dataset's way through its windows: the one at hand, and the one
// after it that is being read meanwhile.
type track struct {
	ctx    context.Context
	plan   *order.Plan
	narrow func(e *order.Epoch, w *order.Window) // leaves out what is not needed; set at every begin
	pool   *stream.Pool[reader]
	share  *mem.Budget // of windows
	holder holder

	epochs map[int]*order.Epoch // those in use
	now    *loaded
	old    []*loaded      // before it, of which rows were asked for since letGo
	fresh  bool           // nothing was read ahead since now became it
	next   *stream.Future // reads ahead
	ahead  *loaded        // by it
}

// noRoom says what windows lack.
func noRoom(share *mem.Budget, size int) error {
	return &mem.TooSmallError{Share: "a window", Need: share.Used() + int64(size), Limit: share.Limit()}
}

// epoch computes an epoch's order, and forgets those before the last.
func (t *track) epoch(n int) *order.Epoch {
	e := t.epochs[n]
	if e == nil {
		for k := range t.epochs {
			if k < n-1 || k > n {
				delete(t.epochs, k)
			}
		}
		e = t.plan.Epoch(n)
		t.epochs[n] = e
	}
	return e
}

// at is the window of a position, with its rows in memory. It stays until
// letGo is called after another one was asked for.
func (t *track) at(epoch int, pos int64) (*loaded, error) {
	if w := t.now; w != nil && w.epoch == epoch && pos >= w.First && pos < w.First+w.Rows {
		return w, nil
	}
	if t.now != nil {
		t.old = append(t.old, t.now)
		t.now = nil
	}
	if err := t.wait(); err != nil {
		return nil, err
	}
	number := t.epoch(epoch).At(pos)
	if w := t.ahead; w != nil && w.epoch == epoch && w.number == number {
		t.now, t.ahead = w, nil
	} else {
		t.ahead.free()
		t.ahead = nil
		var err error
		if t.now, err = t.load(t.ctx, epoch, number); err != nil {
			return nil, err
		}
	}
	t.fresh = true
	return t.now, nil
}

// letGo gives up windows before the one at hand, and begins to read the one
// after it.
func (t *track) letGo() {
	for _, w := range t.old {
		w.free()
	}
	t.old = t.old[:0]
	if t.fresh && t.now != nil {
		t.fresh = false
		t.readAhead(t.now.epoch, t.now.number)
	}
}

// readAhead begins to read the window after one that has rows to read, which
// may be the first of the next epoch.
func (t *track) readAhead(epoch, number int) {
	e := t.epoch(epoch)
	for number++; number < e.Windows(); number++ {
		w := e.Window(number)
		if t.narrow(e, w); w.Held > 0 {
			break
		}
	}
	if number == e.Windows() {
		epoch, number = epoch+1, 0
		t.epoch(epoch)
	}
	t.next = stream.Async(func() (err error) {
		if t.ahead, err = t.load(t.ctx, epoch, number); errors.Is(err, mem.ErrTooSmall) {
			return nil // it is tried again when the one at hand is gone
		}
		return err
	})
}

// wait waits for what is being read ahead.
func (t *track) wait() error {
	if t.next == nil {
		return nil
	}
	err := t.next.Wait()
	t.next = nil
	return err
}

// load reads a window.
func (t *track) load(ctx context.Context, epoch, number int) (*loaded, error) {
	e := t.epochs[epoch]
	w := &loaded{epoch: epoch, number: number, Window: e.Window(number)}
	t.narrow(e, w.Window)
	pieces := w.Pieces()
	var err error
	var ok bool
	if w.lease, ok = t.share.TryAcquire(4 * w.Held); !ok {
		return nil, noRoom(t.share, int(4*w.Held))
	}
	w.deck = w.Deck(nil)
	if w.rows, err = t.holder.hold(t.share, pieces, w.Held); err != nil {
		w.lease.Release()
		return nil, err
	}
	first := make([]int, len(pieces))
	at := 0
	for i, p := range pieces {
		first[i] = at
		at += int(p.Rows)
	}
	err = t.pool.Each(len(pieces), func(i int, r *reader) error {
		at := first[i]
		return r.read(ctx, pieces[i].From.Row+pieces[i].Skip, pieces[i].Rows, func(rec arrow.RecordBatch) error {
			n := int(rec.NumRows())
			at += n
			return t.holder.put(w.rows, i, at-n, rec)
		})
	})
	if err == nil {
		err = t.holder.ready(w.rows)
	}
	if err != nil {
		w.free()
		return nil, err
	}
	return w, nil
}

// reset gives up what is read ahead: another place is wanted.
func (t *track) reset() {
	t.wait() // its error is of what nobody wants
	t.now.free()
	t.ahead.free()
	t.now, t.ahead, t.fresh = nil, nil, false
	t.letGo()
	clear(t.epochs)
}
