package prepare

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
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
	prefix string // URL of its directory, with a slash
	split  int    // its index
	next   int64  // number of the next part
	schema *arrow.Schema
	writer format.Writer
	opt    format.WriteOptions

	ctx         context.Context
	store       store.ReadWriter
	files, outs *mem.Budget  // this lane's own
	batches     *mem.Budget  // all lanes'
	idle        func() error // waits until nothing is being written
	look        *looking

	rows   *scale.Gathered // of the batch being gathered
	block  int             // bytes that are planned for a batch
	batch  int64           // the weight that ends one
	weight int64           // of its rows
	part   *part           // nil: none is begun
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
		if err := l.begin(); err != nil {
			return err
		}
	}
	rec, file := l.rows.Record(), l.part.file
	l.weight = 0
	l.busy = stream.Async(func() error {
		defer rec.Release()
		l.look.wrote(l.split, rec)
		return file.Write(&stream.Batch{Record: rec})
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

// part is one file being written.
type part struct {
	name string
	out  store.Output
	sent format.Counter
	file format.File
	sum  sum
}

// Write makes part a format.Output.
func (p *part) Write(b []byte) (int, error) {
	n, err := p.sent.Write(b)
	p.sum.Write(b[:n])
	return n, err
}

// Patch is for formats that go back, which Parquet does not: the sum is over
// bytes in their order.
func (p *part) Patch([]byte, int64) error {
	return format.Error(format.ErrUsage, "%s: this format goes back to the beginning of its file", p.name)
}

// begin begins the lane's next part.
func (l *lane) begin() error {
	p := &part{name: dataset.PartName(l.next, l.writer.Ext), sum: newSum()}
	var err error
	if p.out, err = l.store.Create(l.ctx, l.prefix+p.name, l.outs); err != nil {
		return err
	}
	p.sent.Writer = p.out
	if p.file, err = l.writer.Begin(p, l.schema, l.opt, l.files); err != nil {
		p.out.Abort()
		return err
	}
	l.part = p
	return nil
}

// ending is a part that gets no more rows.
type ending struct {
	*part
	split  int
	rows   int64
	closed *stream.Future
}

// end has the part completed; nil: there is none.
func (l *lane) end() (*ending, error) {
	if err := l.flush(); err != nil {
		return nil, err
	}
	if err := l.wait(); err != nil || l.part == nil {
		return nil, err
	}
	e := &ending{part: l.part, split: l.split}
	l.part = nil
	e.closed = stream.Async(func() error {
		made, err := e.file.Close()
		e.rows = made.Rows
		return err
	})
	l.busy = e.closed
	return e, nil
}

// commit makes the part permanent, or leaves nothing of it.
func (e *ending) commit(ctx context.Context) (dataset.NewPart, error) {
	if err := e.closed.Wait(); err != nil {
		e.out.Abort()
		return dataset.NewPart{}, err
	}
	if err := e.out.Commit(ctx); err != nil {
		return dataset.NewPart{}, err
	}
	return dataset.NewPart{Split: e.split, Part: dataset.Part{Name: e.name, Rows: e.rows, Bytes: e.sent.N, Digest: e.sum.String()}}, nil
}

// close gives all memory back; a part under way is left out.
func (l *lane) close() {
	l.wait() // its error, if any, is known or of no use
	if l.rows != nil {
		l.rows.Drop()
	}
	if l.part != nil {
		l.part.file.Abort()
		l.part.out.Abort()
		l.part = nil
	}
	l.files.Close()
	l.outs.Close()
}
