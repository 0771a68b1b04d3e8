package corpus

import (
	"context"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// lineRows is how many rows are dealt with at a time.
	lineRows = 64 << 10
	// lineBytes is what that takes: a place, a weight and a bit a row.
	lineBytes = lineRows * (4 + 4 + 1)
)

// outlet is where rows go in the second pass.
type outlet interface {
	// add takes rows of a record, ascending. Weights are those of all of its
	// rows.
	add(rec arrow.RecordBatch, rows, weights []int32) error
	// chapter ends one; the state says how to go on behind it, and the cursor
	// from where.
	chapter(at stream.Cursor) error
	// close ends the last chapter.
	close() error
	// abort gives all memory back, after close too.
	abort()
}

// write is the second pass.
func (w *work) write(ctx context.Context) (run.Report, error) {
	l := &line{work: w, ctx: ctx, before: w.from.Cursor, skip: w.state.Skip}
	least, most, err := w.outletMemory()
	if err != nil {
		return run.Report{}, err
	}
	own := int64(lineBytes)
	share, c, err := w.divide(w.reading, "rows", least+own, most+own)
	if err != nil {
		return run.Report{}, err
	}
	defer share.Close()
	defer c.Budget.Close()
	if err := l.open(share); err != nil {
		l.Abort()
		return run.Report{}, err
	}
	defer l.Abort()
	c.From = w.from.Cursor
	ready := run.Ready(l)
	c.Sink = func(context.Context, *arrow.Schema) (run.Prepared, error) { return ready, nil }
	return run.Scan(ctx, c)
}

// line is the sink of the second pass.
type line struct {
	*work
	ctx    context.Context
	lease  *mem.Lease
	keep   *dedup.Bits // nil: all rows are kept
	bits   []uint64
	rows   []int32
	scale  *weight.Scales
	weigh  []int32
	out    outlet
	before stream.Cursor // where the batch begins
	skip   int64         // rows to pass over
	row    int64         // number of the next row
	weight int64         // of the chapter
}

func (l *line) open(share *mem.Budget) error {
	var err error
	if l.lease, err = share.Acquire(l.ctx, lineBytes); err != nil {
		return err
	}
	l.bits, l.rows, l.weigh = make([]uint64, lineRows/64), make([]int32, lineRows), make([]int32, lineRows)
	l.scale = weight.New(l.reading.Schema(), l.work.out)
	l.row = l.state.Row
	if l.Dedup != nil {
		if l.keep, err = l.state.Kept.Open(l.ctx, l.scratch, share); err != nil {
			return err
		}
	}
	l.out, err = l.openOutlet(l.ctx, share)
	return err
}

// Write passes the rows of a batch on.
func (l *line) Write(b *stream.Batch) error {
	n := b.Rows()
	from := min(l.skip, n)
	l.skip -= from
	for ; from < n; from += lineRows {
		if err := l.some(b.Record, from, min(lineRows, n-from)); err != nil {
			return err
		}
	}
	l.before = b.After
	return nil
}

// some passes n rows of a batch on, from one on.
func (l *line) some(batch arrow.RecordBatch, from, n int64) error {
	rec := batch.NewSlice(from, from+n)
	defer rec.Release()
	rows, err := l.kept(int(n))
	if err != nil {
		return err
	}
	l.scale.Rows(l.weigh, rec)
	start := 0
	for i, r := range rows {
		if l.weight += int64(l.weigh[r]); l.weight < l.Config.Write.PartSize {
			continue
		}
		if err := l.out.add(rec, rows[start:i+1], l.weigh); err != nil {
			return err
		}
		start = i + 1
		if err := l.chapter(from+int64(r)+1, int64(r)+1); err != nil {
			return err
		}
	}
	l.row += n
	if start == len(rows) {
		return nil
	}
	return l.out.add(rec, rows[start:], l.weigh)
}

// chapter ends one, so many rows into the batch and behind those before.
func (l *line) chapter(inBatch, more int64) error {
	l.weight = 0
	l.state.Skip, l.state.Row = inBatch, l.row+more
	return l.out.chapter(l.before)
}

// kept are those of the next n rows that are kept.
func (l *line) kept(n int) ([]int32, error) {
	rows := l.rows[:0]
	if l.keep == nil {
		for i := range n {
			rows = append(rows, int32(i))
		}
		return rows, nil
	}
	if err := l.keep.Read(l.row, n, l.bits); err != nil {
		return nil, err
	}
	for i, word := range l.bits[:(n+63)/64] {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return rows, nil
}

// Close ends the last chapter.
func (l *line) Close() error { return l.out.close() }

// Abort gives all memory back.
func (l *line) Abort() {
	if l.out != nil {
		l.out.abort()
		l.out = nil
	}
	if l.keep != nil {
		l.keep.Close()
		l.keep = nil
	}
	l.lease.Release()
}
