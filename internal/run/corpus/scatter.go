package corpus

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/shuffle"
	"github.com/weir-data/weir/internal/stream"
)

// orders is how many partitions are in memory at once in the third pass: one is
// written while the next is put in order.
const orders = 2

// outletMemory is what the outlet of the second pass cannot do without, and what
// makes it faster.
func (w *work) outletMemory() (least, most int64, err error) {
	switch {
	case w.Out == "":
		return 0, 0, nil
	case !w.Shuffle:
		return w.shelfMemory()
	}
	return shuffle.Least(w.out, orders) + w.coderLeast(), 1 << 40, nil
}

func (w *work) openOutlet(ctx context.Context, share *mem.Budget) (outlet, error) {
	if w.Out == "" {
		return nowhere{}, nil
	}
	if !w.Shuffle {
		s, err := w.openShelf(ctx, share)
		if err != nil {
			return nil, err
		}
		return shelved{s, ctx}, nil
	}
	return w.openScattered(ctx, share)
}

func (w *work) openScattered(ctx context.Context, share *mem.Budget) (_ outlet, err error) {
	s := &scattered{work: w, ctx: ctx, last: time.Now()}
	defer func() {
		if err != nil {
			s.abort()
		}
	}()
	if w.state.Partitions == 0 {
		layout, err := w.layout(share.Free())
		if err != nil {
			return nil, err
		}
		if err := w.roomFor(layout); err != nil {
			return nil, err
		}
		w.state.Partitions = layout.Partitions
	}
	if s.packed, err = w.openCompressor(ctx, share, w.scatterCoders(share.Free())); err != nil {
		return nil, err
	}
	if s.share, err = share.Carve("scatter", share.Free()); err != nil {
		return nil, err
	}
	if s.to, err = shuffle.NewScatter(ctx, w.shuffling(s.packed.scratch), s.share, w.state.Scattered); err != nil {
		return nil, damaged(err)
	}
	return s, nil
}

// scatterCoders is how many coders the second pass has, of a share: one a thread
// that writes, where there is room.
func (w *work) scatterCoders(share int64) int {
	return w.coderCount(share, max(1, w.Run.Options.Threads))
}

// layout is how rows are shuffled by a second pass with such a share: into
// partitions that fit what the third one has, too.
func (w *work) layout(share int64) (shuffle.Layout, error) {
	share -= codersCost(w.scatterCoders(share))
	_, each, err := w.orderShares()
	if err != nil {
		return shuffle.Layout{}, err
	}
	info := w.reading.Info()
	in := shuffle.Input{Schema: w.out, Bytes: info.InMemory, Rows: info.Rows}
	if w.Tokenize != nil || w.Pack != nil {
		in.Rows = -1
	}
	return shuffle.Plan(in, min(share, orders*each), orders)
}

// shuffling is what both halves of the shuffle have in common.
func (w *work) shuffling(scratch *spill.Dir) shuffle.Config {
	return shuffle.Config{Schema: w.out, Seed: w.Seed, Scratch: scratch, Name: "rows", Partitions: w.state.Partitions, Threads: max(1, w.Run.Options.Threads)}
}

// scattered is the outlet of rows that are shuffled.
type scattered struct {
	*work
	ctx    context.Context
	packed compressor
	share  *mem.Budget // of to
	to     *shuffle.Scatter
	last   time.Time // of the last checkpoint
}

func (s *scattered) add(rec arrow.RecordBatch, rows, _ []int32) error {
	if err := s.to.AddRows(s.ctx, rec, rows, s.state.Done); err != nil {
		return err
	}
	s.state.Done += int64(len(rows))
	return nil
}

// chapter makes a checkpoint now and then.
func (s *scattered) chapter(at stream.Cursor) error {
	if time.Since(s.last) < s.Every {
		return nil
	}
	state, err := s.to.Checkpoint()
	if err != nil {
		return err
	}
	s.last, s.state.Scattered = time.Now(), &state
	return s.checkpoint(s.ctx, dataset.Checkpoint{Pass: passWrite, Cursor: at})
}

func (s *scattered) close() error {
	state, err := s.to.Checkpoint()
	if err != nil {
		return err
	}
	s.state.Scattered = &state
	if err := s.checkpoint(s.ctx, dataset.Checkpoint{Pass: passOrder}); err != nil {
		return err
	}
	if s.packed.coders != nil {
		s.scratchPlain, s.scratchStored = s.packed.coders.Written()
	}
	_, err = s.to.Close()
	return err
}

func (s *scattered) abort() {
	if s.to != nil {
		s.to.Discard()
	}
	s.share.Close()
	s.packed.close()
}

// nowhere is the outlet of rows that are only looked at.
type nowhere struct{}

func (nowhere) add(arrow.RecordBatch, []int32, []int32) error { return nil }
func (nowhere) chapter(stream.Cursor) error                   { return nil }
func (nowhere) close() error                                  { return nil }
func (nowhere) abort()                                        {}
