package corpus

import (
	"context"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stage/pack"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// lineRows is how many rows are dealt with at a time.
	lineRows = 64 << 10
	// lineBytes is what that takes: two places, two weights and a bit a row.
	lineBytes = lineRows * (4*4 + 1)
	// bitsBytes is what the bits of the rows that are kept are read in.
	bitsBytes = 1 << 20
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
func (w *work) write(ctx context.Context) (run.Report, []Example, error) {
	l := &line{work: w, ctx: ctx, before: w.from.Cursor, skip: w.state.Skip}
	least, most, err := w.writeMemory()
	if err != nil {
		return run.Report{}, nil, err
	}
	share, c, err := w.divide(w.reading, "rows", least, most)
	if err != nil {
		return run.Report{}, nil, err
	}
	defer share.Close()
	defer c.Budget.Close()
	if err := l.open(share); err != nil {
		l.Abort()
		return run.Report{}, nil, err
	}
	defer l.Abort()
	c.From = w.from.Cursor
	ready := run.Ready(l)
	c.Sink = func(context.Context, *arrow.Schema) (run.Prepared, error) { return ready, nil }
	rep, err := run.Scan(ctx, c)
	return rep, l.shown.all(w.state.Kept), err
}

// writeMemory is what the second pass cannot do without beside reading, and what
// makes it faster.
func (w *work) writeMemory() (least, most int64, err error) {
	if least, most, err = w.outletMemory(); err != nil {
		return 0, 0, err
	}
	own := int64(lineBytes + bitsBytes)
	if w.Tokenize != nil {
		a, b := w.Tokenize.Memory()
		least, most = least+a, most+b
	}
	if w.Pack != nil {
		least, most = least+w.packBytes(), most+w.packBytes()
	}
	return least + own, most + own, nil
}

// line is the sink of the second pass.
type line struct {
	*work
	ctx    context.Context
	leases []*mem.Lease
	shares []*mem.Budget
	keep   *dedup.Bits // nil: all rows are kept
	bits   []uint64
	rows   []int32
	all    []int32         // 0, 1, 2 and so on
	tokens *tokenize.Stage // nil: rows stay as they are
	packer *pack.Packer    // nil: rows are not packed
	scale  *weight.Scales  // of rows before they are packed
	weigh  []int32
	packed *weight.Scales // of rows that are
	heft   []int32
	out    outlet

	before stream.Cursor // where the batch begins
	skip   int64         // rows to pass over
	row    int64         // number of the next row
	weight int64         // of the chapter
	docs   state         // what was counted before
	shown  shown
}

func (l *line) open(share *mem.Budget) error {
	lease, err := share.Acquire(l.ctx, lineBytes)
	if err != nil {
		return err
	}
	l.leases = append(l.leases, lease)
	l.bits, l.rows, l.all = make([]uint64, lineRows/64), make([]int32, lineRows), identity()
	l.weigh, l.heft = make([]int32, lineRows), make([]int32, lineRows)
	l.row, l.docs = l.state.Row, l.state
	if l.Dedup != nil {
		if l.keep, err = l.state.Kept.Open(l.ctx, l.scratch, share); err != nil {
			return err
		}
		l.shown.want(l.state.Kept, l.reading.Schema(), l.Dedup.By)
	}
	in := l.reading.Schema()
	if l.Tokenize != nil {
		if err := l.openTokens(share); err != nil {
			return err
		}
		in = l.tokens.Schema()
	}
	if l.Pack != nil {
		if err := l.openPack(share, in); err != nil {
			return err
		}
	}
	l.scale, l.packed = weight.New(in, in), weight.New(l.work.out, l.work.out)
	l.out, err = l.openOutlet(l.ctx, share)
	return err
}

// identity is 0, 1, 2 and so on.
func identity() []int32 {
	rows := make([]int32, lineRows)
	for i := range rows {
		rows[i] = int32(i)
	}
	return rows
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
	if err := l.noNulls(rec); err != nil {
		return err
	}
	rows, err := l.kept(int(n))
	if err != nil {
		return err
	}
	l.shown.see(rec, l.row)
	if l.tokens == nil {
		err = l.take(rec, rows, rows, from)
	} else {
		err = l.encode(rec, rows, from)
	}
	l.row += n
	return err
}

// take passes rows of rec on, which stem from rows behind so many of the batch.
// Chapters end among them.
func (l *line) take(rec arrow.RecordBatch, rows, stem []int32, from int64) error {
	l.scale.Rows(l.weigh, rec)
	start, size := 0, l.chapterSize()
	for i, r := range rows {
		if l.weight += l.heavy(l.weigh[r]); l.weight < size {
			continue
		}
		if err := l.give(rec, rows[start:i+1]); err != nil {
			return err
		}
		start = i + 1
		if err := l.chapter(from+int64(stem[i])+1, int64(stem[i])+1); err != nil {
			return err
		}
	}
	return l.give(rec, rows[start:])
}

// chapter ends one, so many rows into the batch and behind those before.
func (l *line) chapter(inBatch, more int64) error {
	l.weight = 0
	if err := l.flush(); err != nil {
		return err
	}
	l.state.Skip, l.state.Row = inBatch, l.row+more
	l.count()
	return l.out.chapter(l.before)
}

// kept are those of the next n rows that are kept.
func (l *line) kept(n int) ([]int32, error) {
	if l.keep == nil {
		return l.all[:n], nil
	}
	if err := l.keep.Read(l.row, n, l.bits); err != nil {
		return nil, err
	}
	rows := l.rows[:0]
	for i, word := range l.bits[:(n+63)/64] {
		for ; word != 0; word &= word - 1 {
			rows = append(rows, int32(64*i+bits.TrailingZeros64(word)))
		}
	}
	return rows, nil
}

// Close ends the last chapter. On an error it gives all memory back.
func (l *line) Close() error {
	err := l.flush()
	if err == nil {
		l.count()
		err = l.out.close()
	}
	if err != nil {
		l.Abort()
	}
	return err
}

// Abort gives all memory back.
func (l *line) Abort() {
	if l.out != nil {
		l.out.abort()
	}
	if l.keep != nil {
		l.keep.Close()
	}
	if l.packer != nil {
		l.packer.Close()
	}
	if l.tokens != nil {
		l.tokens.Close()
	}
	for _, s := range l.shares {
		s.Close()
	}
	for _, s := range l.leases {
		s.Release()
	}
	l.out, l.keep, l.packer, l.tokens, l.shares, l.leases = nil, nil, nil, nil, nil, nil
}
