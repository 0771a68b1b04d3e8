package write

import (
	"context"
	"fmt"

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

	// groups are row groups under construction: one, or several side by side,
	// which are written in turn. Rows go to that at place at; rows and bytes are
	// what it has got.
	groups []*group
	at     int
	rows   int64
	bytes  int64          // as Arrow has them, or Parquet would without encoding
	last   *stream.Future // writes the row group before; nil: there is none

	// What goes to the end of the file.
	chunks  tape  // row groups with the descriptions of their chunks
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
	f.chunks.share, f.columns.share, f.offsets.share = share, share, share
	if err := f.open(out); err != nil {
		f.Abort()
		return nil, fmt.Errorf("parquet: %w", err)
	}
	return f, nil
}

// open leases what is there from the beginning to the end.
func (f *file) open(out format.Output) error {
	for range f.side {
		leaves := f.leaves
		if !f.alone() {
			// Those of the file measure rows while these encode others.
			own, err := compile(f.schema)
			if err != nil {
				return err
			}
			leaves = own.leaves
		}
		g := &group{leaves: leaves, options: f.options, layout: &f.layout, share: f.share}
		f.groups = append(f.groups, g)
		if err := g.open(); err != nil {
			return err
		}
	}
	buffer, err := f.share.Map(context.Background(), f.buffer)
	if err != nil {
		return err
	}
	f.out = &output{w: out, block: buffer}
	_, err = f.out.Write([]byte(magic))
	return err
}

// alone says that there is one row group at a time, in the hands of the caller.
func (f *file) alone() bool { return f.side == 1 }

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
	bind(f.leaves, rec)
	for from := 0; from < rows; {
		to, err := f.plan(from, rows)
		if err != nil {
			return err
		}
		if to > from {
			if err := f.encode(rec, from, to); err != nil {
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

// encode adds rows of the batch at hand to the row group under construction.
func (f *file) encode(rec arrow.RecordBatch, from, to int) error {
	size := f.size(from, to)
	f.bytes += size
	f.rows += int64(to - from)
	f.total += int64(to - from)
	g := f.groups[f.at]
	if f.alone() {
		return g.encode(from, to)
	}
	large := size > f.group // a single row, which may need what others have
	if large {
		if err := f.drain(); err != nil {
			return err
		}
	}
	rec.Retain()
	g.then(func() error {
		bind(g.leaves, rec)
		return g.encode(from, to)
	}, rec.Release)
	g.queue = append(g.queue, g.busy)
	if large {
		return f.drain()
	}
	return nil
}

// finish has the row group under construction written, behind the one before.
func (f *file) finish() error {
	if f.rows == 0 {
		return nil
	}
	g, rows, last := f.groups[f.at], f.rows, f.last
	f.rows, f.bytes = 0, 0
	if f.alone() {
		if err := g.flush(); err != nil {
			return err
		}
		return f.put(g, rows)
	}
	g.then(func() error {
		if err := g.flush(); err != nil {
			return err
		}
		if err := last.Wait(); err != nil {
			return err
		}
		return f.put(g, rows)
	}, func() {})
	f.last = g.busy
	f.at = (f.at + 1) % len(f.groups)
	return f.groups[f.at].wait()
}

// drain waits until no batch is in use.
func (f *file) drain() error {
	var first error
	for _, g := range f.groups {
		if err := g.wait(); first == nil {
			first = err
		}
	}
	return first
}

// Relieve waits until it has let go of rows; see format.Holder.
func (f *file) Relieve() (bool, error) {
	for i := range f.groups {
		g := f.groups[(f.at+1+i)%len(f.groups)] // the oldest first
		if len(g.queue) > 0 {
			first := g.queue[0]
			g.queue = g.queue[1:]
			return true, first.Wait()
		}
	}
	return false, nil
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
	for _, t := range f.groups[0].crew {
		n += int64(t.log.room() - f.block - leastSplit)
	}
	return n
}

// plan is the row up to which the row group under construction takes the
// batch's rows; from: none, it must be finished first.
func (f *file) plan(from, rows int) (int, error) {
	room, want := int64(0), f.group-f.bytes
	if !f.steady {
		room = f.room()
	}
	ok := func(to int) bool {
		return (to == from+1 || f.size(from, to) <= want) && (f.steady || f.cost(from, to) <= room)
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
	f.drain() // its error, if any, comes again
	n := f.out.n + f.chunks.total + f.columns.total + f.offsets.total + int64(len(f.compiler.schema.b))
	for _, g := range f.groups {
		n += g.size()
	}
	return n
}

// Abort gives all memory back.
func (f *file) Abort() {
	f.drain() // its error, if any, is known or of no use
	for _, g := range f.groups {
		g.free()
	}
	f.groups = nil
	for _, t := range []*tape{&f.chunks, &f.columns, &f.offsets} {
		t.free()
	}
	if f.out != nil {
		f.out.block.Free()
	}
}
