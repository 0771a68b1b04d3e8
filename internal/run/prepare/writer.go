package prepare

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// writer deals the rows of spans out to lanes, one for each split.
type writer struct {
	*writing
	ctx       context.Context
	heap      *mem.Lease // of parameters, and of what is looked at
	batches   *mem.Budget
	transform *scale.Transform
	deal      *dealer
	scales    *weight.Scales
	lanes     []*parts.Lane
	look      *looking // of the span under way
}

// open divides the share.
func (w *writer) open(share *mem.Budget, threads int) error {
	n := w.needs(w.out, w.params, w.state.Group, threads)
	opts, bytes, err := w.laneOptions(w.out, w.state.Group, threads)
	if err != nil {
		return err
	}
	lanes := int64(len(opts))
	spare := share.Limit() - n.sum(len(opts)) - total(bytes)
	outs := n.out + min(n.outMost-n.out, max(0, spare)/2/lanes)
	for i, name := range w.assign.Names() {
		made := parts.Maker{Store: w.Store, Prefix: strings.TrimRight(w.Out, "/") + "/" + name + "/", Split: i, Schema: w.out, Writer: w.Writer, Options: opts[i]}
		l := &parts.Lane{Maker: made, Ctx: w.ctx, Idle: w.idle, Batch: int64(parts.BatchBytes(w.state.Group))}
		w.lanes = append(w.lanes, l)
		if l.Files, err = share.Carve("writing "+name, bytes[i]); err != nil {
			return err
		}
		if l.Outs, err = share.Carve("output "+name, outs); err != nil {
			return err
		}
	}
	if w.deal, err = newDealer(w.ctx, w.assign, share); err != nil {
		return err
	}
	if w.heap, err = share.Acquire(w.ctx, w.params.Size()+w.lookCost(w.out)); err != nil {
		return err
	}
	if w.transform, err = w.design.NewTransform(w.params, share, threads); err != nil {
		return err
	}
	if w.batches, err = share.Carve("batches", share.Free()); err != nil {
		return err
	}
	for _, l := range w.lanes {
		l.Batches, l.Rows, l.Block = w.batches, w.transform.Gather(n.rows), n.block
	}
	w.scales = weight.New(w.reading.Schema(), w.out)
	return nil
}

// Begin begins a span.
func (w *writer) Begin(piece int) error {
	w.look = w.another(w.out)
	for i, l := range w.lanes {
		look := w.look
		l.Next, l.Wrote = w.first[piece][i], func(rec arrow.RecordBatch) { look.wrote(i, rec) }
	}
	return nil
}

// Write deals out rows of a batch.
func (w *writer) Write(b *stream.Batch, before stream.Cursor, from, n int) error {
	return runs(b, before, from, n, func(from, n, object int, row int64) error {
		rec := b.Record.NewSlice(int64(from), int64(from+n))
		defer rec.Release()
		return w.rows(rec, object, row)
	})
}

func (w *writer) rows(rec arrow.RecordBatch, object int, row int64) error {
	w.scales.Rows(w.deal.weights, rec)
	if err := w.deal.deal(rec, object, row); err != nil {
		return err
	}
	w.look.read(rec, w.deal.of(w.train))
	for i, l := range w.lanes {
		if err := l.Add(rec, w.deal.of(i), w.deal.weights); err != nil {
			return err
		}
	}
	return nil
}

// End ends the parts of a span.
func (w *writer) End() (r result, err error) {
	for _, l := range w.lanes {
		e, err := l.End()
		if err != nil {
			r.drop()
			return result{}, err
		}
		if e != nil {
			r.parts = append(r.parts, e)
		}
	}
	r.look, r.assign = w.look, w.assign.State()
	return r, nil
}

// idle waits until nothing is being written.
func (w *writer) idle() error {
	for _, l := range w.lanes {
		if err := l.Wait(); err != nil {
			return err
		}
	}
	return nil
}

// Close gives all memory back; parts under way are left out.
func (w *writer) Close() {
	for _, l := range w.lanes {
		l.Close()
	}
	if w.transform != nil {
		w.transform.Close()
	}
	w.batches.Close()
	w.heap.Release()
	if w.deal != nil {
		w.deal.close()
	}
}
