package prepare

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// fitting is the sink of the first pass.
type fitting struct {
	*work
	ctx    context.Context
	shares [2]*mem.Budget // of the fit, and of its state while it is saved
	fit    *scale.Fit
	deal   *dealer
	at     stream.Cursor
	saved  time.Time
}

// stateExtra is what a saved fit has beside what the fit holds.
func (w *work) stateExtra() int64 {
	return 128<<10 + 1<<10*int64(w.reading.Schema().NumFields()) + w.assign.Cost()
}

// hungry says that the fit can use more memory than it needs.
func (w *work) hungry() bool {
	return w.Scale.Other ||
		slices.ContainsFunc(w.Scale.Scale, func(r scale.Rule) bool { return r.Do == "robust" }) ||
		slices.ContainsFunc(w.Scale.Impute, func(r scale.Rule) bool { return r.Do == "median" || r.Do == "most_frequent" })
}

// fitTarget prepares the first pass. A fit's share is followed by one as large
// to save it in.
func (w *work) fitTarget(_ context.Context, in *arrow.Schema) (run.Prepared, error) {
	floor := w.design.Floor(w.Run.Options.Threads)
	least := 2*(floor+floor/8) + 2*w.stateExtra() + dealBytes + 2*w.assign.Cost()
	// What is too little for the second pass is refused before the first: its
	// columns are about those of the source. Those that cannot be written as
	// they are will have been encoded by then.
	if second, err := w.writeMemory(in, w.needs(in, &scale.Params{})); err == nil {
		least = max(least, second.Least)
	}
	most := least
	if w.hungry() {
		most = 1 << 50
	}
	return run.Prepared{Least: least, Most: most, Open: w.openFit}, nil
}

func (w *work) openFit(ctx context.Context, share *mem.Budget) (run.Sink, error) {
	f := &fitting{work: w, ctx: ctx, at: w.from.Cursor, saved: time.Now()}
	err := f.open(share)
	if err != nil {
		f.Abort()
		return nil, err
	}
	return f, nil
}

func (f *fitting) open(share *mem.Budget) (err error) {
	if f.deal, err = newDealer(f.ctx, f.assign, share); err != nil {
		return err
	}
	extra := f.stateExtra()
	half := (share.Free() - extra) / 17 * 8
	if f.shares[0], err = share.Carve("fit", half); err != nil {
		return err
	}
	if f.shares[1], err = share.Carve("checkpoint", share.Free()); err != nil {
		return err
	}
	threads := f.Run.Options.Threads
	if !f.from.Going {
		f.fit, err = f.design.NewFit(f.shares[0], threads, nil)
		return err
	}
	return f.restore(threads)
}

// restore goes on with a fit that was saved: the length of the Assigner's
// state, that state, the fit's.
func (f *fitting) restore(threads int) error {
	block, err := f.block(f.from.StateBytes)
	if err != nil {
		return err
	}
	defer block.Free()
	text := block.Bytes()
	if err := f.data.State(f.ctx, text); err != nil {
		return err
	}
	n, k := binary.Uvarint(text)
	if k <= 0 || n > uint64(len(text)-k) {
		return format.Error(format.ErrData, "%s: the state of a checkpoint is damaged; --force begins anew", f.Out)
	}
	if n > 0 {
		if err := f.assign.Restore(text[k : k+int(n)]); err != nil {
			return err
		}
	}
	f.fit, err = f.design.Restore(bytes.NewReader(text[k+int(n):]), f.shares[0], threads, nil)
	return err
}

// block is memory for a state.
func (f *fitting) block(n int64) (*mem.Block, error) {
	b, ok := f.shares[1].TryMap(int(max(0, n)))
	if n < 0 || !ok {
		return nil, tooSmall("a checkpoint", n, f.shares[1].Limit())
	}
	return b, nil
}

// Write adds the train rows of a batch.
func (f *fitting) Write(b *stream.Batch) error {
	err := runs(b, f.at, func(from, n, object int, row int64) error {
		rec := b.Record.NewSlice(int64(from), int64(from+n))
		defer rec.Release()
		if err := f.deal.deal(rec, object, row); err != nil {
			return err
		}
		rows := f.deal.of(f.train)
		if len(rows) == n {
			rows = nil
		}
		return f.fit.Add(rec, object, row, rows)
	})
	if err != nil {
		return err
	}
	f.at = b.After
	if time.Since(f.saved) < f.Every {
		return nil
	}
	return f.save()
}

// save makes a checkpoint.
func (f *fitting) save() error {
	head := f.assign.State()
	head = append(binary.AppendUvarint(nil, uint64(len(head))), head...)
	count := format.Counter{Writer: io.Discard}
	if err := f.fit.Save(&count); err != nil {
		return err
	}
	block, err := f.block(int64(len(head)) + count.N)
	if err != nil {
		return err
	}
	defer block.Free()
	out := bytes.NewBuffer(block.Bytes()[:0])
	out.Write(head)
	if err := f.fit.Save(out); err != nil {
		return err
	}
	err = f.data.Checkpoint(f.ctx, dataset.Checkpoint{Pass: passFit, Cursor: f.at, State: out.Bytes()})
	f.saved = time.Now()
	return err
}

// Close ends the first pass and begins the second.
func (f *fitting) Close() error {
	defer f.Abort()
	var err error
	if f.params, err = f.fit.Params(); err != nil {
		return err
	}
	if f.state.Params, err = f.params.Encode(); err != nil {
		return err
	}
	text, err := json.Marshal(f.state)
	if err != nil {
		return err
	}
	return f.data.Checkpoint(f.ctx, dataset.Checkpoint{Pass: passWrite, State: text})
}

// Abort gives all memory back.
func (f *fitting) Abort() {
	if f.fit != nil {
		f.fit.Close()
	}
	for _, s := range f.shares {
		s.Close()
	}
	if f.deal != nil {
		f.deal.close()
	}
}
