package feed

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// slot is memory of a batch.
type slot interface{ Bytes() []byte }

// outlet is where batches go.
type outlet interface {
	Reserve(n int) (slot, error)
	Discard(slot)
	Send(slot, wire.Batch) error
	End(epoch, position int64) error
}

// maker makes batches of windows.
type maker interface {
	holder
	windowBytes(rows int64) int64
	batchBytes(rows int) int64
	// make makes a batch of so many rows, which next hands over in runs until
	// the last. The windows of all runs stay until letGo is called.
	make(out outlet, rows int, next func() (run picked, ok bool, err error), letGo func()) (slot, wire.Layout, error)
}

// picked is rows of a window, in the order of the batch.
type picked struct {
	w    *loaded
	rows []int32
}

// consecutive says that the rows follow each other from first on.
func (p *picked) consecutive() (first int, ok bool) {
	for i, r := range p.rows {
		if int(r) != int(p.rows[0])+i {
			return 0, false
		}
	}
	return int(p.rows[0]), true
}

// stats are what the report is made of.
type stats struct {
	reading, making, waiting atomic.Int64 // nanoseconds; waiting: for room
	late                     atomic.Int64 // for windows
	batches, rows, bytes     atomic.Int64
}

// sent counts a batch.
func (s *stats) sent(rows, bytes int64) {
	s.batches.Add(1)
	s.rows.Add(rows)
	s.bytes.Add(bytes)
}

// loader is a configuration under way.
type loader struct {
	*Config
	env     Env
	memory  int64
	threads int
	budget  *mem.Budget
	stats   stats

	maker   maker
	copying *stream.Pool[struct{}] // of matrices; nil: there are none
	tracks  []*track
	readers []*reader
	arena   *mem.Budget // of batches
	windows int64       // bytes
	mix     *order.Mix  // nil: there is one track
	total   int64       // rows of an epoch
	digest  uint64
	names   []string // of features or columns
	started bool     // a run has been begun
	last    place    // of the run before
}

// place is where a run began.
type place struct{ epoch, position int64 }

// sequence is the order of an epoch.
func (l *loader) sequence(epoch int64) order.Sequence {
	if l.mix != nil {
		return l.mix.Epoch(int(epoch))
	}
	return l.tracks[0].epoch(int(epoch))
}

// begin makes tracks ready for a run. What was read ahead for the beginning of
// the next epoch is kept if that is what is wanted.
func (l *loader) begin(ctx context.Context, epoch, position int64) {
	goesOn := l.started && l.mix == nil && epoch == l.last.epoch+1 && position == 0
	l.last, l.started = place{epoch, position}, true
	share := l.share()
	for _, t := range l.tracks {
		if !goesOn {
			t.reset()
		} else if t.next != nil {
			t.next.Wait() // its error is seen when the window is wanted
		}
		t.ctx = ctx
		t.narrow = func(e *order.Epoch, w *order.Window) {
			if l.mix != nil {
				return
			}
			from := int64(0)
			if e == t.epochs[int(epoch)] {
				from = position
			}
			e.Narrow(w, share, from)
		}
	}
}

// within refuses a position that an epoch has not.
func (l *loader) within(position int64) error {
	if position < 0 || position > l.total {
		return fmt.Errorf("position %d of %d samples", position, l.total)
	}
	return nil
}

// run makes the batches of an epoch from a position on.
func (l *loader) run(ctx context.Context, out outlet, epoch, position int64) error {
	if err := l.within(position); err != nil {
		return err
	}
	l.begin(ctx, epoch, position)
	share, seq := l.share(), l.sequence(epoch)
	steps := share.Steps(l.total, position)
	b := &batcher{loader: l, epoch: epoch, seq: seq}
	for t := share.Next(0); t < steps; t = share.Next(t + 1) {
		positions, repeated := share.Positions(b.positions[:0], seq, position, t)
		b.positions = positions
		batch := wire.Batch{Rows: int64(len(positions)), Epoch: epoch, Position: share.After(l.total, position, t)}
		if repeated > 0 {
			batch.Extra = fmt.Appendf(nil, `{"repeated": %d}`, repeated)
		}
		if err := b.send(out, batch); err != nil {
			return err
		}
	}
	return out.End(epoch, l.total)
}

// batcher makes one batch after the other.
type batcher struct {
	*loader
	epoch     int64
	seq       order.Sequence
	positions []int64
	places    []order.Place
	at        int // the next of places
	own       []int64
	numbers   []int32
}

// send makes a batch of the positions and sends it.
func (b *batcher) send(out outlet, batch wire.Batch) error {
	began := time.Now()
	waited := b.stats.waiting.Load() + b.stats.late.Load()
	b.locate()
	s, layout, err := b.maker.make(timed{out, &b.stats}, len(b.positions), b.next, b.letGo)
	b.letGo()
	if err != nil {
		return err
	}
	batch.Layout = layout
	n := int64(len(s.Bytes()))
	if err := out.Send(s, batch); err != nil {
		return err
	}
	b.stats.sent(batch.Rows, n)
	b.stats.making.Add(int64(time.Since(began)) - (b.stats.waiting.Load() + b.stats.late.Load() - waited))
	return nil
}

// locate finds the places of the positions.
func (b *batcher) locate() {
	b.at, b.numbers = 0, b.numbers[:0]
	if m, ok := b.seq.(*order.MixEpoch); ok {
		b.places = m.Places(b.places[:0], b.positions)
		return
	}
	b.places = b.places[:0]
	for _, p := range b.positions {
		b.places = append(b.places, order.Place{Epoch: int(b.epoch), Position: p})
	}
}

// next is the rows of the batch that follow and are in one window.
func (b *batcher) next() (picked, bool, error) {
	if b.at == len(b.places) {
		return picked{}, false, nil
	}
	p := b.places[b.at]
	began := time.Now()
	w, err := b.tracks[p.Set].at(p.Epoch, p.Position)
	b.stats.late.Add(int64(time.Since(began)))
	if err != nil {
		return picked{}, false, err
	}
	b.own = b.own[:0]
	for ; b.at < len(b.places); b.at++ {
		q := b.places[b.at]
		if q.Set != p.Set || q.Epoch != p.Epoch || q.Position < w.First || q.Position >= w.First+w.Rows {
			break
		}
		b.own = append(b.own, q.Position)
	}
	from := len(b.numbers)
	b.numbers = w.Numbers(b.numbers, w.deck, b.own)
	return picked{w, b.numbers[from:]}, true, nil
}

// letGo gives up the windows that no row is left in.
func (b *batcher) letGo() {
	for _, t := range b.tracks {
		t.letGo()
	}
}

// timed counts how long room is waited for.
type timed struct {
	outlet
	stats *stats
}

func (t timed) Reserve(n int) (slot, error) {
	began := time.Now()
	defer func() { t.stats.waiting.Add(int64(time.Since(began))) }()
	return t.outlet.Reserve(n)
}

// report is what the parent is told when it asks.
func (l *loader) report() []byte {
	sec := func(n *atomic.Int64) float64 { return time.Duration(n.Load()).Seconds() }
	s := &l.stats
	slow := "reading"
	switch room, made := sec(&s.waiting), sec(&s.making); {
	case l.Mode == scanning:
		if room > sec(&s.reading) {
			slow = "the model"
		}
	case room > sec(&s.late) && room > made:
		slow = "the model"
	case made > sec(&s.late):
		slow = "making batches"
	}
	text, err := json.Marshal(map[string]any{
		"read_seconds": sec(&s.reading), "make_seconds": sec(&s.making), "wait_for_room_seconds": sec(&s.waiting),
		"batches": s.batches.Load(), "rows": s.rows.Load(), "bytes": s.bytes.Load(), "bottleneck": slow, "peak_memory": l.budget.Peak(),
	})
	if err != nil {
		return []byte("{}")
	}
	return text
}
