package parts

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stream"
)

// A batch that is written ends with the row that makes it so many rows, or so
// many bytes by weight: the Parquet file depends on where batches end, and so
// these must not depend on where those of the reader do.
const (
	BatchRows = 16 << 10
	MostBatch = 2 << 20 // of BatchBytes
)

// A row group has MostGroup bytes where nobody asks for others, and LeastGroup
// where memory is short.
const (
	MostGroup  = 16 << 20
	LeastGroup = 1 << 20
)

// MoreBatches is what memory beyond the least is good for: rows of long texts.
const MoreBatches = 64 << 20

// BatchBytes is the weight of a batch where row groups have so many bytes.
func BatchBytes(group int64) int { return int(min(group/2, MostBatch)) }

// bufferAlign is what the buffers of a batch are rounded up to.
const bufferAlign = 64

// BatchSize is the bytes of a block for a batch of rows of a schema that become
// rows of another, and the most rows of one.
func BatchSize(in, out *arrow.Schema, most int) (bytes, rows int) {
	s := weight.New(in, out)
	row, fields := int(s.Fixed), 0
	for _, f := range out.Fields() {
		fields += leaves(f.Type)
	}
	rows = min(BatchRows, (most+row-1)/row)
	bytes = rows * row
	bytes += bytes / 8 // of bitmaps, which are not weighed
	if len(s.Vary) > 0 {
		bytes = most + row + most/4 // columns may get longer than those before
	}
	return bytes + 4*fields*bufferAlign, rows
}

// leaves counts a type and all below it.
func leaves(t arrow.DataType) int {
	n := 1
	if nested, ok := t.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			n += leaves(f.Type)
		}
	}
	return n
}

// Lane is what the rows of a split go through: batches, then parts.
type Lane struct {
	Maker
	Next int64 // number of the next part

	Ctx     context.Context
	Rows    *scale.Gathered // of the batch being gathered
	Batches *mem.Budget     // of batches
	Block   int             // bytes that are planned for one
	Batch   int64           // the weight that ends one
	// Idle waits until nothing is being written that Batches has to hold; nil:
	// there is nothing beside this lane.
	Idle func() error
	// Wrote, if not nil, is shown every batch, in order.
	Wrote func(arrow.RecordBatch)

	weight int64             // of the rows of the batch
	part   *Part             // nil: none is begun
	full   []dataset.NewPart // what was full before it, permanent
	busy   *stream.Future    // what is being written, beside the gathering; nil: nothing
}

// Add takes rows of rec. Weights are those of all of its rows.
func (l *Lane) Add(rec arrow.RecordBatch, rows, weights []int32) error {
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
func (l *Lane) take(rows, weights []int32) (n int, full bool) {
	for !full && n < len(rows) {
		l.weight += int64(weights[rows[n]])
		n++
		full = l.Rows.Rows()+n == BatchRows || l.weight >= l.Batch
	}
	return n, full
}

// apply transforms rows, behind those of the batch that are there; last: there
// will be no more.
func (l *Lane) apply(rec arrow.RecordBatch, rows []int32, last bool) error {
	if len(rows) == int(rec.NumRows()) {
		rows = nil
	}
	size, fits, err := l.Rows.Want(rec, rows)
	if err != nil {
		return err
	}
	if !fits {
		if size > l.Block && !last {
			size += l.Block / 4 // where rows are not like those weighed, they are not moved again and again
		}
		block, err := l.memory(max(size, l.Block))
		if err != nil {
			return err
		}
		if err := l.Rows.Move(block); err != nil {
			return err
		}
	}
	return l.Rows.Add()
}

// memory is a block for a batch. If there is none, batches that are being
// written are waited for.
func (l *Lane) memory(size int) (*mem.Block, error) {
	block, ok := l.Batches.TryMap(size)
	if !ok {
		if err := l.idle(); err != nil {
			return nil, err
		}
		block, ok = l.Batches.TryMap(size)
	}
	for !ok && l.part != nil {
		more, err := l.part.Relieve()
		if err != nil {
			return nil, err
		}
		if !more {
			break
		}
		block, ok = l.Batches.TryMap(size)
	}
	if !ok {
		return nil, &mem.TooSmallError{Share: "a batch of rows", Need: int64(mem.BlockSize(size)) + l.Batches.Used(), Limit: l.Batches.Limit()}
	}
	return block, nil
}

func (l *Lane) idle() error {
	if l.Idle != nil {
		return l.Idle()
	}
	return l.Wait()
}

// flush has the batch written while the next one is gathered.
func (l *Lane) flush() error {
	if l.Rows.Rows() == 0 {
		return nil
	}
	if err := l.Wait(); err != nil {
		return err
	}
	if l.part == nil {
		var err error
		if l.part, err = l.Begin(l.Ctx, l.Next); err != nil {
			return err
		}
	}
	rec := l.Rows.Record()
	l.weight = 0
	l.busy = stream.Async(func() error {
		defer rec.Release()
		if l.Wrote != nil {
			l.Wrote(rec)
		}
		return l.write(&stream.Batch{Record: rec})
	})
	return nil
}

// write writes a batch: to the part, and where that is full to others behind it.
func (l *Lane) write(b *stream.Batch) error {
	for row := int64(0); ; {
		n, err := l.part.Add(b, row)
		if row += n; err != nil || row == b.Rows() {
			return err
		}
		e := l.part.End()
		l.part = nil
		made, err := e.Commit(l.Ctx)
		if err != nil {
			return err
		}
		l.full = append(l.full, made)
		l.Next++
		if l.part, err = l.Begin(l.Ctx, l.Next); err != nil {
			return err
		}
	}
}

// Wait waits for what is being written.
func (l *Lane) Wait() error { return l.busy.Wait() }

// End has the part completed; nil: there is none. Those that were full before it
// are permanent, though no checkpoint knows them.
func (l *Lane) End() (*Ended, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	if err := l.Wait(); err != nil || l.part == nil {
		return nil, err
	}
	e := l.part.End()
	e.Full, l.full = l.full, nil
	l.part, l.busy = nil, e.Closed
	l.Next++
	return e, nil
}

// Close gives all memory back; a part under way is left out.
func (l *Lane) Close() {
	l.Wait() // its error, if any, is known or of no use
	if l.Rows != nil {
		l.Rows.Drop()
	}
	if l.part != nil {
		l.part.Abort()
		l.part = nil
	}
	l.Files.Close()
	l.Outs.Close()
}
