package feed

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/run"
)

// straight says that batches are made of all rows as they lie: they go from the
// reader to the batch at once, without a window.
func (l *loader) straight() bool {
	return l.Mode == matrix && !l.Shuffle && len(l.Sources) == 1 && l.World <= 1 && l.Workers <= 1
}

// prepareStraight divides the memory between the reader and batches.
func (l *loader) prepareStraight(r *run.Reading, x *index) (feeder, error) {
	heap := run.HeapNeed()
	m := l.maker.(*matrices)
	arena := l.arenaBytes(m.batchBytes(l.BatchSize)) / pageBytes * pageBytes
	floor := max(r.Data().Floor(), 1<<20)
	rest := l.budget.Limit() - heap - arena
	if rest < floor {
		return nil, l.tooSmall(floor, 0, arena, heap)
	}
	rest -= run.Settle(heap, rest-floor, l.threads)
	var err error
	if l.arena, err = l.budget.Carve("batches", arena); err != nil {
		return nil, err
	}
	if l.readers, err = l.newReaders(r.Data(), x, rest); err != nil {
		return nil, err
	}
	s := &lane{l, m, l.readers[0]}
	return s.run, nil
}

// lane is a straight way from a reader to batches.
type lane struct {
	*loader
	batches *matrices
	reader  *reader
}

// run makes the batches of an epoch from a position on, which is a row.
func (s *lane) run(ctx context.Context, out outlet, epoch, position int64) error {
	if err := s.within(position); err != nil {
		return err
	}
	share := s.share()
	for t := range share.Steps(s.total, position) {
		row := position + t*share.Stride()
		after := share.After(s.total, position, t)
		if err := s.send(ctx, out, row, wire.Batch{Rows: min(share.Stride(), s.total-row), Epoch: epoch, Position: after}); err != nil {
			return err
		}
	}
	// The next epoch's first rows are read while the last batches are used.
	if err := s.reader.seek(ctx, 0); err != nil {
		return err
	}
	return out.End(epoch, s.total)
}

// send makes a batch of the rows from one on and sends it.
func (s *lane) send(ctx context.Context, out outlet, row int64, batch wire.Batch) error {
	var err error
	if batch.Layout, err = s.batches.describe(int(batch.Rows)); err != nil {
		return err
	}
	slot, err := timed{out, &s.stats}.Reserve(s.batches.layout.BatchSize(int(batch.Rows)))
	if err != nil {
		return err
	}
	if err := s.fill(ctx, slot, row, int(batch.Rows)); err != nil {
		out.Discard(slot)
		return err
	}
	bytes := int64(len(slot.Bytes()))
	if err := out.Send(slot, batch); err != nil {
		return err
	}
	s.stats.sent(batch.Rows, bytes)
	return nil
}

// fill makes n rows from one on the rows of a batch.
func (s *lane) fill(ctx context.Context, to slot, row int64, n int) error {
	b, err := s.batches.layout.NewBatch(to.Bytes(), n)
	if err != nil {
		return err
	}
	at, began, making := 0, time.Now(), time.Duration(0)
	err = s.reader.read(ctx, row, int64(n), func(rec arrow.RecordBatch) error {
		began := time.Now()
		err := s.batches.layout.Direct(b, at, rec)
		at += int(rec.NumRows())
		making += time.Since(began)
		return err
	})
	s.stats.making.Add(int64(making))
	s.stats.late.Add(int64(time.Since(began) - making))
	return err
}
