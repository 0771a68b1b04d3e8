package prepare

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// Transform is a target that applies p to all rows, in their order, and hands
// them on to next: the values that Run writes for the same rows. A column of
// p that is not there is format.ErrUsage; those that p does not know pass
// through.
func Transform(p *scale.Params, threads int, next run.Target) run.Target {
	return func(ctx context.Context, in *arrow.Schema) (run.Prepared, error) {
		t := &transforming{params: p, threads: threads}
		var err error
		if t.design, err = p.Design(in); err != nil {
			return run.Prepared{}, err
		}
		out, err := t.design.Out(p)
		if err != nil {
			return run.Prepared{}, err
		}
		if t.after, err = next(ctx, out); err != nil {
			return run.Prepared{}, err
		}
		var block int
		block, t.most = parts.BatchSize(in, out, parts.MostBatch)
		t.own = t.design.TransformFloor(p, threads) + int64(mem.BlockSize(block))
		return run.Prepared{Least: t.after.Least + t.own, Most: t.after.Most + t.own + parts.MoreBatches, Open: t.open}, nil
	}
}

// transforming is the sink that Transform becomes.
type transforming struct {
	params  *scale.Params
	design  *scale.Design
	threads int
	after   run.Prepared
	own     int64 // bytes that it needs beside next
	most    int   // rows at a time

	transform *scale.Transform
	batches   *mem.Budget
	rest      *mem.Budget // next's
	next      run.Sink
}

// open gives what is there beyond the least to next, up to its most, and to
// the batches.
func (t *transforming) open(ctx context.Context, share *mem.Budget) (_ run.Sink, err error) {
	defer func() {
		if err != nil {
			t.giveBack()
		}
	}()
	spare := max(0, share.Limit()-t.after.Least-t.own)
	more := min(t.after.Most-t.after.Least, spare/4*3)
	if t.rest, err = share.Carve("output", t.after.Least+more); err != nil {
		return nil, err
	}
	if t.transform, err = t.design.NewTransform(t.params, share, t.threads); err != nil {
		return nil, err
	}
	if t.batches, err = share.Carve("batches", share.Free()); err != nil {
		return nil, err
	}
	if t.next, err = t.after.Open(ctx, t.rest); err != nil {
		return nil, err
	}
	return t, nil
}

// Write transforms a few rows at a time: a row may become much larger.
func (t *transforming) Write(b *stream.Batch) error {
	for from := int64(0); from < b.Rows(); {
		n := min(int64(t.most), b.Rows()-from)
		rec, err := t.apply(b.Record, from, &n)
		if err != nil {
			return err
		}
		from += n
		err = t.next.Write(&stream.Batch{Record: rec})
		rec.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// apply transforms up to n rows, as many as there is memory for.
func (t *transforming) apply(rec arrow.RecordBatch, from int64, n *int64) (arrow.RecordBatch, error) {
	for ; ; *n /= 2 {
		part := rec.NewSlice(from, from+*n)
		size := t.transform.Size(part, nil)
		block, ok := t.batches.TryMap(size)
		if ok {
			defer part.Release()
			return t.transform.Apply(part, nil, block)
		}
		part.Release()
		if *n == 1 {
			return nil, tooSmall("a row", int64(mem.BlockSize(size)), t.batches.Limit())
		}
	}
}

// Close closes next.
func (t *transforming) Close() error {
	defer t.giveBack()
	return t.next.Close()
}

// Abort aborts next.
func (t *transforming) Abort() {
	t.next.Abort()
	t.giveBack()
}

func (t *transforming) giveBack() {
	if t.transform != nil {
		t.transform.Close()
	}
	t.batches.Close()
	t.rest.Close()
}
