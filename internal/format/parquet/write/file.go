package write

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// magic stands at both ends of a file.
const magic = "PAR1"

// file is a Parquet file being written.
type file struct {
	schema *arrow.Schema
	*options
	layout
	out   *output
	share *mem.Budget
	dicts *mem.Budget
	heap  *mem.Lease
	slots *mem.Block
	crew  []*thread
	pool  *stream.Pool[thread]
	held  held

	// The row group under construction.
	rows  int64
	bytes int64 // as Arrow has them, or Parquet would without encoding

	// What goes to the end of the file.
	groups  tape  // row groups with the descriptions of their chunks
	columns tape  // column indexes
	offsets tape  // offset indexes
	count   int   // row groups
	total   int64 // rows
	err     error
}

// Begin begins a file; see format.Writer.
func Begin(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget) (format.File, error) {
	o, err := parse(s, opt)
	if err != nil {
		return nil, err
	}
	if least := leastMemory(o); share.Limit() < least {
		return nil, fmt.Errorf("parquet: %w", &mem.TooSmallError{Share: "writing", Need: least, Limit: share.Limit()})
	}
	f := &file{schema: s, options: o, layout: choose(o, share.Limit()), share: share}
	f.held = held{share: share, size: f.block}
	f.groups.share, f.columns.share, f.offsets.share = share, share, share
	if err := f.open(out); err != nil {
		f.Abort()
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return f, nil
}

// open leases what is there from the beginning to the end.
func (f *file) open(out format.Output) (err error) {
	if f.heap, err = f.share.Acquire(context.Background(), f.layout.heap); err != nil {
		return err
	}
	if f.dicts, err = f.share.Carve("dictionaries", f.layout.dicts); err != nil {
		return err
	}
	if err = f.shareDicts(); err != nil {
		return err
	}
	if f.slots, err = f.share.Map(context.Background(), f.layout.slots); err != nil {
		return err
	}
	at := 0
	for _, l := range f.leaves {
		n := l.slotSize(f.pageOf(l))
		l.slot = f.slots.Bytes()[at : at+n : at+n]
		l.refill(f.pageOf(l))
		at += n
	}
	buffer, err := f.share.Map(context.Background(), f.buffer)
	if err != nil {
		return err
	}
	f.out = &output{w: out, block: buffer}
	for range f.threads {
		t, err := newThread(&f.layout, f.comp, &f.held)
		if err != nil {
			return err
		}
		f.crew = append(f.crew, t)
	}
	var next atomic.Int64
	f.pool = stream.NewPool(f.threads, func() *thread { return f.crew[next.Add(1)-1] })
	_, err = f.out.Write([]byte(magic))
	return err
}

// Write encodes the batch, in as many row groups as the memory makes it.
func (f *file) Write(b *stream.Batch) error {
	if f.err == nil {
		f.err = f.write(b.Record)
	}
	return f.err
}

func (f *file) write(rec arrow.RecordBatch) error {
	if int(rec.NumCols()) != f.schema.NumFields() {
		return fmt.Errorf("parquet: a batch of %d columns, the schema has %d", rec.NumCols(), f.schema.NumFields())
	}
	rows := int(rec.NumRows())
	if rows == 0 {
		return nil
	}
	for _, l := range f.leaves {
		l.bind(rec.Column(l.column).Data())
	}
	for from := 0; from < rows; {
		to, err := f.plan(from, rows)
		if err != nil {
			return err
		}
		if to > from {
			if err := f.encode(from, to); err != nil {
				return err
			}
		}
		if to == from || f.bytes >= f.group {
			if err := f.finish(); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

func (f *file) encode(from, to int) error {
	f.bytes += f.size(from, to)
	f.rows += int64(to - from)
	f.total += int64(to - from)
	err := f.pool.Each(len(f.leaves), func(i int, t *thread) error { return f.leaves[i].add(t, from, to) })
	if err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// size is the bytes of some rows.
func (f *file) size(from, to int) int64 {
	n := int64(0)
	for _, l := range f.leaves {
		levels, bytes := l.need(from, to)
		n += int64(bytes) + int64(levels/8)
	}
	return n
}

// cost is the most memory that encoding some rows takes, and what is being
// filled with them.
func (f *file) cost(from, to int) int64 {
	total, single := int64(0), int64(0)
	for _, l := range f.leaves {
		n, bytes := l.need(from, to)
		page := f.pageOf(l)
		lv := levelBytes(n, l.defs.width) + levelBytes(n, l.reps.width)
		total += heldCost(l.used+bytes, l.defs.n+l.reps.n+lv, page)
		if l.width == 0 && bytes > page || l.maxRep > 0 && (bytes > page || lv > page/4) {
			n, bytes = l.largest(from, to)
			lv = levelBytes(n, l.defs.width) + levelBytes(n, l.reps.width)
			if bytes > page || lv > page/8 {
				// A block for the row, one for the page, and what sizes of
				// blocks round up.
				row := int64(bytes + lv + 256)
				single = max(single, 2*(row+row/15)+recordExtent+4096)
			}
		}
	}
	return total + single*int64(f.threads)
}

// room is the memory that is left for pages.
func (f *file) room() int64 {
	n := f.share.Free() - f.reserve
	for _, t := range f.crew {
		n += int64(t.log.room() - f.block - leastSplit)
	}
	return n
}

// plan is the row up to which the row group under construction takes the
// batch's rows; from: none, it must be finished first.
func (f *file) plan(from, rows int) (int, error) {
	room, want := f.room(), f.group-f.bytes
	if f.steady {
		room = math.MaxInt64
	}
	ok := func(to int) bool {
		return (to == from+1 || f.size(from, to) <= want) && f.cost(from, to) <= room
	}
	if ok(rows) {
		return rows, nil
	}
	lo, hi := from, rows // lo is within, hi is not
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	switch {
	case lo == from && f.rows == 0:
		need := enough(f.options, f.cost(from, from+1), f.share.Limit())
		return 0, fmt.Errorf("parquet: row %d: %w", f.total,
			&mem.TooSmallError{Share: "writing it", Need: need, Limit: f.share.Limit()})
	case f.rows > 0 && lo-from < (rows-from)/8 && f.size(from, lo+1) <= want:
		return from, nil // what little memory is left is not worth a step
	}
	return lo, nil
}

// Size is what is written and what would be.
func (f *file) Size() int64 {
	n := f.out.n + f.groups.total + f.columns.total + f.offsets.total + int64(len(f.compiler.schema.b))
	for _, l := range f.leaves {
		n += l.chunk.compressed + int64(l.pending()+l.chunk.dict.used)
	}
	return n
}

// Abort gives all memory back.
func (f *file) Abort() {
	if f.pool != nil {
		f.pool.Close()
		f.pool = nil
	}
	for _, l := range f.leaves {
		l.chunk.dict.free()
	}
	f.held.free()
	for _, t := range f.crew {
		t.free()
	}
	f.crew = nil
	for _, t := range []*tape{&f.groups, &f.columns, &f.offsets} {
		t.free()
	}
	if f.out != nil {
		f.out.block.Free()
	}
	f.slots.Free()
	f.closeDicts()
	f.heap.Release()
}
