package prepare

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// A batch that is written ends with the row that makes it so many rows, or so
// many bytes by weight: the Parquet file depends on where batches end, and so
// these must not depend on where those of the reader do.
const (
	batchRows = 16 << 10
	mostBatch = 2 << 20 // of batchBytes
)

// lane is what one split's rows go through: pieces, batches, parts.
type lane struct {
	parts.Maker
	next int64 // number of the next part

	ctx     context.Context
	batches *mem.Budget  // all lanes'
	idle    func() error // waits until nothing is being written
	look    *looking

	rows   *scale.Gathered // of the batch being gathered
	block  int             // bytes that are planned for a batch
	batch  int64           // the weight that ends one
	weight int64           // of its rows
	part   *parts.Part     // nil: none is begun
	busy   *stream.Future  // what is being written, beside the gathering; nil: nothing
}

// add takes rows of rec. Weights are those of all of its rows.
func (l *lane) add(rec arrow.RecordBatch, rows, weights []int32) error {
	for len(rows) > 0 {
		n, full := l.take(rows, weights)
		if err := l.apply(rec, rows[:n], full); err != nil {
			return err
		}
		rows = rows[n:]
		if full {
			if err := l.flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// take counts the rows that the batch takes; full: it ends behind them.
func (l *lane) take(rows, weights []int32) (n int, full bool) {
	for !full && n < len(rows) {
		l.weight += int64(weights[rows[n]])
		n++
		full = l.rows.Rows()+n == batchRows || l.weight >= l.batch
	}
	return n, full
}

// apply transforms rows, behind those of the batch that are there; last: there
// will be no more.
func (l *lane) apply(rec arrow.RecordBatch, rows []int32, last bool) error {
	if len(rows) == int(rec.NumRows()) {
		rows = nil
	}
	size, fits, err := l.rows.Want(rec, rows)
	if err != nil {
		return err
	}
	if !fits {
		if size > l.block && !last {
			size += l.block / 4 // where rows are not like those weighed, they are not moved again and again
		}
		block, err := l.memory(max(size, l.block))
		if err != nil {
			return err
		}
		if err := l.rows.Move(block); err != nil {
			return err
		}
	}
	return l.rows.Add()
}

// memory is a block for a batch. If there is none, batches that are being
// written are waited for.
func (l *lane) memory(size int) (*mem.Block, error) {
	block, ok := l.batches.TryMap(size)
	if !ok {
		if err := l.idle(); err != nil {
			return nil, err
		}
		block, ok = l.batches.TryMap(size)
	}
	if !ok {
		return nil, tooSmall("a batch of rows", int64(mem.BlockSize(size))+l.batches.Used(), l.batches.Limit())
	}
	return block, nil
}

// flush has the batch written while the next one is gathered.
func (l *lane) flush() error {
	if l.rows.Rows() == 0 {
		return nil
	}
	if err := l.wait(); err != nil {
		return err
	}
	if l.part == nil {
		var err error
		if l.part, err = l.Begin(l.ctx, l.next); err != nil {
			return err
		}
	}
	rec, part := l.rows.Record(), l.part
	l.weight = 0
	l.busy = stream.Async(func() error {
		defer rec.Release()
		l.look.wrote(l.Split, rec)
		return part.Add(&stream.Batch{Record: rec})
	})
	return nil
}

// wait waits for what is being written.
func (l *lane) wait() error {
	if l.busy == nil {
		return nil
	}
	return l.busy.Wait()
}

// end has the part completed; nil: there is none.
func (l *lane) end() (*parts.Ended, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	if err := l.wait(); err != nil || l.part == nil {
		return nil, err
	}
	e := l.part.End()
	l.part, l.busy = nil, e.Closed
	return e, nil
}

// close gives all memory back; a part under way is left out.
func (l *lane) close() {
	l.wait() // its error, if any, is known or of no use
	if l.rows != nil {
		l.rows.Drop()
	}
	if l.part != nil {
		l.part.Abort()
		l.part = nil
	}
	l.Files.Close()
	l.Outs.Close()
}
