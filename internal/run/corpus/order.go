package corpus

import (
	"context"
	"errors"
	"io"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/shuffle"
	"github.com/weir-data/weir/internal/stream"
)

// order is the third pass: the rows of one partition after the other.
func (w *work) order(ctx context.Context) (run.Report, error) {
	o := &ordering{work: w, ctx: ctx}
	defer o.close()
	if err := o.open(); err != nil {
		return run.Report{}, err
	}
	meter := run.Measure(w.Run, w.state.Scattered.Rows())
	defer meter.Stop()
	err := o.all(meter)
	return meter.Report(), damaged(err)
}

// ordering is the third pass under way.
type ordering struct {
	*work
	ctx    context.Context
	packed compressor
	from   *shuffle.Partitions
	shares []*mem.Budget
	shelf  *shelf
	lease  *mem.Lease
	rows   []int32 // 0, 1, 2 and so on
	weigh  []int32
	scale  *weight.Scales
	weight int64 // of the part

	in   stream.Stream  // the partition at hand
	wait *stream.Future // opens the next
	next stream.Stream

	waits stream.Waits
}

// open divides the budget: the shelf's, and one for each partition in memory.
func (o *ordering) open() error {
	size, each, err := o.orderShares()
	if err != nil {
		return err
	}
	budget := o.Run.Budget
	if o.packed, err = o.openCompressor(o.ctx, budget, o.orderCoders()); err != nil {
		return err
	}
	if o.from, err = shuffle.Open(o.shuffling(o.packed.scratch), *o.state.Scattered); err != nil {
		return err
	}
	for _, n := range []int64{size, each, each} {
		s, err := budget.Carve("ordering", n)
		if err != nil {
			return err
		}
		o.shares = append(o.shares, s)
	}
	if o.lease, err = o.shares[0].Acquire(o.ctx, 8*lineRows); err != nil {
		return err
	}
	o.rows = identity()
	o.weigh, o.scale = make([]int32, lineRows), weight.New(o.out, o.out)
	o.shelf, err = o.openShelf(o.ctx, o.shares[0])
	return err
}

// orderShares is what the third pass has for its shelf, and for each partition in
// memory.
func (w *work) orderShares() (shelf, each int64, err error) {
	least, most, err := w.shelfMemory()
	if err != nil {
		return 0, 0, err
	}
	least, most = least+8*lineRows, most+8*lineRows
	limit := w.Run.Budget.Limit() - codersCost(w.orderCoders())
	rest := limit - least
	shelf = least + max(0, min(most-least, rest/4))
	return shelf, (limit - shelf) / orders, nil
}

// orderCoders is how many coders the third pass has: one for each partition that
// is in memory, where there is room.
func (w *work) orderCoders() int { return w.coderCount(w.Run.Budget.Limit(), orders) }

// all writes all partitions that are left.
func (o *ordering) all(m *run.Meter) error {
	first := o.state.Partition
	o.ahead(first, o.state.Ordered)
	for p := first; p < o.from.Len(); p++ {
		err := o.wait.Wait()
		o.in, o.next = o.next, nil
		if err != nil {
			return err
		}
		o.ahead(p+1, 0)
		if err := o.partition(p, m); err != nil {
			return err
		}
	}
	o.state.Partition, o.state.Ordered = o.from.Len(), 0
	if err := o.shelf.end(o.ctx, dataset.Checkpoint{Pass: passOrder}); err != nil {
		return err
	}
	return o.shelf.settle()
}

// ahead opens a partition while the one before is written, without its first
// rows. Then its next batches are made while one is written: at least for two there
// is room.
func (o *ordering) ahead(p int, from int64) {
	o.wait = stream.Async(func() error {
		if p == o.from.Len() {
			return nil
		}
		s, err := o.from.Open(o.ctx, p, from, o.shares[1+p%orders])
		if err == nil {
			o.next = stream.Prefetch(s, 0, &o.waits)
		}
		return err
	})
}

// partition writes the rows of one.
func (o *ordering) partition(p int, m *run.Meter) error {
	defer func() { o.in.Close(); o.in = nil }()
	done := int64(0)
	if p == o.state.Partition {
		done = o.state.Ordered
	}
	for {
		b, err := o.in.Next(o.ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		n := b.Rows()
		err = o.batch(b, p, done)
		m.Add(n, layout.Size(b.Record))
		b.Release()
		if err != nil {
			return err
		}
		done += n
	}
}

// batch writes a batch of a partition, behind rows that are done.
func (o *ordering) batch(b *stream.Batch, p int, done int64) error {
	size := o.chapterSize()
	for from := int64(0); from < b.Rows(); {
		rec := b.Record.NewSlice(from, min(b.Rows(), from+lineRows))
		o.scale.Rows(o.weigh, rec)
		n, full := 0, false
		for rows := int(rec.NumRows()); !full && n < rows; n++ {
			o.weight += int64(o.weigh[n])
			full = o.weight >= size
		}
		err := o.shelf.add(rec, o.rows[:n], o.weigh)
		rec.Release()
		if err != nil {
			return err
		}
		if from += int64(n); full {
			o.weight, o.state.Partition, o.state.Ordered = 0, p, done+from
			if err := o.shelf.end(o.ctx, dataset.Checkpoint{Pass: passOrder}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *ordering) close() {
	o.wait.Wait() // its error, if any, is known or of no use
	for _, s := range []stream.Stream{o.in, o.next} {
		if s != nil {
			s.Close()
		}
	}
	if o.shelf != nil {
		o.shelf.abort()
	}
	o.lease.Release()
	for _, s := range o.shares {
		s.Close()
	}
	o.packed.close()
}
