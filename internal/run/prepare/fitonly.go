package prepare

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
)

// Fit is the first pass alone: it writes the parameters that Run would, as
// JSON, to the file or object Out, which appears whole or not at all, or to
// pipe if that is not nil. Of c it uses what decides them.
func Fit(ctx context.Context, c Config, pipe io.Writer) (run.Report, *scale.Params, error) {
	c.Every = math.MaxInt64 // there is no directory to keep a checkpoint in
	w, err := plan(ctx, c)
	if err != nil {
		return run.Report{}, nil, err
	}
	w.from = &dataset.Resumed{}
	r := w.Run
	r.Sink = func(context.Context, *arrow.Schema) (run.Prepared, error) {
		p := w.fitMemory()
		if pipe == nil {
			least, _ := store.WriteCost(w.Out)
			p.Least += least
			p.Most += least
		}
		p.Open = func(ctx context.Context, share *mem.Budget) (run.Sink, error) { return w.openFitOnly(ctx, share, pipe) }
		return p, nil
	}
	rep, err := run.Scan(ctx, r)
	return rep, w.params, err
}

// fitMemory is what the first pass needs: a fit's share, and one as large to
// save it in.
func (w *work) fitMemory() run.Prepared {
	floor := w.design.Floor(w.Run.Options.Threads)
	least := 2*(floor+floor/8) + 2*w.stateExtra() + dealBytes + 2*w.assign.Cost()
	if w.hungry() {
		return run.Prepared{Least: least, Most: 1 << 50}
	}
	return run.Prepared{Least: least, Most: least}
}

// fitOnly is the sink of a first pass that no second follows.
type fitOnly struct {
	*fitting
	share *mem.Budget
	pipe  io.Writer    // nil: out
	out   store.Output // of the store, begun before data is read
	outs  *mem.Budget
}

func (w *work) openFitOnly(ctx context.Context, share *mem.Budget, pipe io.Writer) (run.Sink, error) {
	f := &fitOnly{share: share, pipe: pipe}
	if pipe == nil {
		least, _ := store.WriteCost(w.Out)
		var err error
		if f.outs, err = share.Carve("output", least); err != nil {
			return nil, err
		}
		if f.out, err = w.Store.Create(ctx, w.Out, f.outs); err != nil {
			f.Abort()
			return nil, outputError(err)
		}
	}
	inner, err := w.openFit(ctx, share)
	if err != nil {
		f.Abort()
		return nil, err
	}
	f.fitting = inner.(*fitting)
	return f, nil
}

// Close writes the parameters.
func (f *fitOnly) Close() error {
	defer f.Abort()
	p, err := f.fit.Params()
	if err != nil {
		return err
	}
	f.params = p
	ctx := f.ctx
	f.fitting.Abort()
	f.fitting = nil
	// The text lies on the heap, in the place of what the fit had there.
	lease, err := f.share.Acquire(ctx, min(4*p.Size(), f.share.Free()))
	if err != nil {
		return err
	}
	defer lease.Release()
	text, err := p.Encode()
	if err != nil {
		return err
	}
	if f.pipe != nil {
		_, err = f.pipe.Write(text)
		return outputError(err)
	}
	if _, err = f.out.Write(text); err == nil {
		err = f.out.Commit(ctx)
	}
	return outputError(err)
}

// Abort gives all memory back; there is no output but one that was committed.
func (f *fitOnly) Abort() {
	if f.out != nil {
		f.out.Abort()
	}
	f.outs.Close()
	if f.fitting != nil {
		f.fitting.Abort()
	}
}

// outputError makes err one of writing, not of what is read.
func outputError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", run.ErrOutput, err)
}
