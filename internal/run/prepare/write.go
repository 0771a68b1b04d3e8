package prepare

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// writing is the sink of the second pass. Parts of all splits end together, at
// the row that makes their rows weigh PartSize; then there is a checkpoint.
type writing struct {
	*work
	ctx       context.Context
	out       *arrow.Schema
	needs     needs
	heap      *mem.Lease // of parameters
	batches   *mem.Budget
	transform *scale.Transform
	deal      *dealer
	scales    *scales
	lanes     []*lane

	at     stream.Cursor  // behind the batch before the one at hand
	skip   int64          // rows to come that are done
	weight int64          // of the rows since the checkpoint
	ending *stream.Future // the parts before these become permanent; nil: none
}

// writeTarget prepares the second pass.
func (w *work) writeTarget(_ context.Context, in *arrow.Schema) (run.Prepared, error) {
	out, err := w.design.Out(w.params)
	if err != nil {
		return run.Prepared{}, err
	}
	n := w.needs(out, w.params)
	p, err := w.writeMemory(out, n)
	if err != nil {
		return p, err
	}
	p.Open = func(ctx context.Context, share *mem.Budget) (run.Sink, error) {
		s := &writing{work: w, ctx: ctx, out: out, needs: n, scales: newScales(in, out), at: w.from.Cursor, skip: w.state.Skip}
		if err := s.open(share); err != nil {
			s.Abort()
			return nil, err
		}
		return s, nil
	}
	return p, nil
}

// writeMemory is what the second pass needs in all.
func (w *work) writeMemory(out *arrow.Schema, n needs) (run.Prepared, error) {
	var least, most int64
	for _, g := range w.groupSizes() {
		_, bytes, err := w.laneOptions(out, g)
		if err != nil {
			return run.Prepared{}, err
		}
		files := total(bytes)
		if most = max(most, files); least == 0 || files < least {
			least = files
		}
	}
	lanes := len(w.assign.Names())
	sum := n.sum(lanes)
	return run.Prepared{Least: sum + least, Most: sum + most + int64(lanes)*(n.outMost-n.out) + moreBatches}, nil
}

func total(n []int64) (sum int64) {
	for _, v := range n {
		sum += v
	}
	return sum
}

// open chooses the largest row group that the share holds, and divides it.
func (s *writing) open(share *mem.Budget) (err error) {
	names := s.assign.Names()
	spare := int64(-1)
	for _, g := range s.groupSizes() {
		opts, bytes, err := s.laneOptions(s.out, g)
		if err != nil {
			return err
		}
		if spare = share.Limit() - s.needs.sum(len(names)) - total(bytes); spare < 0 {
			continue
		}
		s.state.Group = g
		outs := s.needs.out + min(s.needs.outMost-s.needs.out, spare/2/int64(len(names)))
		for i, name := range names {
			l := &lane{prefix: strings.TrimRight(s.Out, "/") + "/" + name + "/", next: s.from.Splits[i].Parts,
				schema: s.out, writer: s.Writer, opt: opts[i], ctx: s.ctx, store: s.Store}
			s.lanes = append(s.lanes, l)
			if l.files, err = share.Carve("writing "+name, bytes[i]); err != nil {
				return err
			}
			if l.outs, err = share.Carve("output "+name, outs); err != nil {
				return err
			}
		}
		break
	}
	if spare < 0 {
		return tooSmall("writing", share.Limit()-spare, share.Limit())
	}
	if s.deal, err = newDealer(s.ctx, s.assign, share); err != nil {
		return err
	}
	if s.heap, err = share.Acquire(s.ctx, s.params.Size()); err != nil {
		return err
	}
	if s.transform, err = s.design.NewTransform(s.params, share, s.Run.Options.Threads); err != nil {
		return err
	}
	if s.batches, err = share.Carve("batches", share.Free()); err != nil {
		return err
	}
	for _, l := range s.lanes {
		l.batches, l.transform, l.idle = s.batches, s.transform, s.idle
	}
	return nil
}

// Write deals out the rows of a batch.
func (s *writing) Write(b *stream.Batch) error {
	err := runs(b, s.at, func(from, n, object int, row int64) error {
		if k := int(min(s.skip, int64(n))); k > 0 {
			s.skip -= int64(k)
			from, n, row = from+k, n-k, row+int64(k)
		}
		for n > 0 {
			k, full, err := s.rows(b.Record, from, n, object, row)
			if err != nil {
				return err
			}
			from, n, row = from+k, n-k, row+int64(k)
			if !full {
				continue
			}
			at, skip := s.at, int64(from)
			if skip == b.Rows() {
				at, skip = b.After, 0
			}
			if err := s.end(at, skip); err != nil {
				return err
			}
		}
		return nil
	})
	s.at = b.After
	return err
}

// rows takes n rows, or as many as the parts still take; full: these end.
func (s *writing) rows(rec arrow.RecordBatch, from, n, object int, row int64) (took int, full bool, err error) {
	part := rec.NewSlice(int64(from), int64(from+n))
	defer func() { part.Release() }()
	weights := s.deal.weights
	s.scales.weigh(weights, part)
	for took < n && !full {
		s.weight += int64(weights[took])
		took++
		full = s.weight >= s.Config.Write.PartSize
	}
	if took < n {
		whole := part
		part = whole.NewSlice(0, int64(took))
		whole.Release()
	}
	if err := s.deal.deal(part, object, row); err != nil {
		return 0, false, err
	}
	for i, l := range s.lanes {
		if err := l.add(part, s.deal.of(i), weights); err != nil {
			return 0, false, err
		}
	}
	return took, full, nil
}

// end ends all parts, and has them made permanent and a checkpoint of it made
// while the next are written: reading goes on at a cursor, behind so many rows.
func (s *writing) end(at stream.Cursor, skip int64) error {
	if err := s.ended(); err != nil {
		return err
	}
	var parts []*ending
	for i, l := range s.lanes {
		e, err := l.end()
		if err != nil {
			s.ending = stream.Async(func() error { return commitAll(s.ctx, parts, err, nil) })
			return err
		}
		if e != nil {
			e.split = i
			parts = append(parts, e)
		}
	}
	s.weight, s.state.Skip = 0, skip
	state, err := s.encodeState()
	s.ending = stream.Async(func() error {
		return commitAll(s.ctx, parts, err, func(done []dataset.NewPart) error {
			return s.data.Checkpoint(s.ctx, dataset.Checkpoint{Pass: passWrite, Cursor: at, State: state, Parts: done})
		})
	})
	return err
}

// commitAll makes parts permanent and calls then; after an error, one there
// was before included, nothing is left of those that are not.
func commitAll(ctx context.Context, parts []*ending, err error, then func([]dataset.NewPart) error) error {
	var done []dataset.NewPart
	for _, e := range parts {
		if err != nil {
			e.closed.Wait()
			e.out.Abort()
			continue
		}
		var p dataset.NewPart
		p, err = e.commit(ctx)
		done = append(done, p)
	}
	if err != nil {
		return err
	}
	return then(done)
}

// ended waits for the parts that are becoming permanent.
func (s *writing) ended() error {
	if s.ending == nil {
		return nil
	}
	return s.ending.Wait()
}

// idle waits until nothing is being written.
func (s *writing) idle() error {
	for _, l := range s.lanes {
		if err := l.wait(); err != nil {
			return err
		}
	}
	return nil
}

// Close ends the last parts.
func (s *writing) Close() error {
	defer s.Abort()
	if s.weight > 0 {
		if err := s.end(s.at, 0); err != nil {
			return err
		}
	}
	return s.ended()
}

// Abort gives all memory back; parts under way are left out.
func (s *writing) Abort() {
	s.ended() // its error, if any, is known or of no use
	for _, l := range s.lanes {
		l.close()
	}
	if s.transform != nil {
		s.transform.Close()
	}
	s.batches.Close()
	s.heap.Release()
	if s.deal != nil {
		s.deal.close()
	}
}
