package records

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// task is one piece to be parsed.
type task struct {
	f     *feeder
	piece Piece
	raw   *raw
	block *mem.Block // for the first batch
	bad   *Bad       // what the cutter found instead of a piece
}

// result is what one step of a task gives.
type result struct {
	record arrow.RecordBatch // nil: no rows
	object int
	offset int64 // of the piece
	after  int64 // the offset behind the last record; less than 0: the object's end
	before int64 // lines of the piece before this step
	lines  int64 // lines that were passed in it
	bad    []*Bad
	err    *Bad // ends the reading
}

func (r *result) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Drop gives everything back.
func (t *task) Drop() {
	t.block.Free()
	t.raw.release()
	t.block, t.raw = nil, nil
}

// Step makes one batch.
func (t *task) Step(ctx context.Context, w *worker) (*result, bool, error) {
	p := &t.piece
	res := &result{object: p.Object, offset: p.Offset, before: p.Lines}
	if t.bad != nil {
		res.err = t.bad
		return res, true, nil
	}
	block := t.block
	t.block = nil
	for enlarged := false; ; enlarged = true {
		if block == nil {
			size := t.f.sizes.batch
			if enlarged {
				size *= 2
			}
			var err error
			if block, err = t.f.spare.Map(ctx, size); err != nil {
				return nil, false, t.f.at(t.piece.Object, err)
			}
		}
		w.batch.Reset(block, t.f.Options.BatchRows)
		if err := t.fill(w, res); err != nil {
			w.batch.Discard()
			return nil, false, err
		}
		res.lines = p.Lines - res.before
		if w.batch.Rows() > 0 {
			res.record = w.batch.Finish()
			break
		}
		w.batch.Discard()
		if res.err != nil || p.At == len(p.Data) {
			break
		}
		if enlarged {
			return nil, false, t.f.at(p.Object, fmt.Errorf("byte %d: a record: %w", p.Offset+int64(p.At),
				&mem.TooSmallError{Share: "reading", Need: 2 * t.f.limit, Limit: t.f.limit}))
		}
		block = nil
	}
	last := p.At == len(p.Data) || res.err != nil
	res.after = p.Offset + int64(p.At)
	if last && p.Last {
		res.after = -1
	}
	return res, last, nil
}

// fill parses until the batch is full or the piece ends. Bad records are
// passed over where that is wanted.
func (t *task) fill(w *worker, res *result) error {
	p := &t.piece
	for once := len(p.Data) == 0; (p.At < len(p.Data) || once) && !w.batch.Full(); once = false {
		err := w.parser.Parse(p)
		var bad *Bad
		switch {
		case err == nil && (p.At == len(p.Data) || w.batch.Full()):
			return nil
		case err == nil:
			return t.f.at(t.piece.Object, errStuck)
		case !errors.As(err, &bad):
			return t.f.at(t.piece.Object, err)
		case t.f.Options.Bad == nil || bad.Next == 0:
			res.err = bad
			return nil
		}
		w.batch.Undo()
		res.bad = append(res.bad, bad)
		p.At, p.Lines = bad.Next, bad.NextLines
	}
	return nil
}

var errStuck = errors.New("a bug in weir, please report it: a parser stopped before its piece ended")

// reading is the stream of batches.
type reading struct {
	*dataset
	feeder  *feeder
	results *stream.Ordered[worker, *result]
	spare   *mem.Budget
	cursor  stream.Cursor
	line    int64 // lines of the cursor's object before it
	known   bool  // line is right
}
