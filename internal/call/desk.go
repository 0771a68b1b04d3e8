package call

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/arrow"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// batchRows is the most rows that are looked at in one piece.
	batchRows = 64 << 10
	// leastReading is the least share of the reader of slots, which hold a few
	// MiB, or a single row.
	leastReading = 4 << 20
)

// desk is what any work has at hand.
type desk struct {
	start
	env     Env
	memory  int64
	budget  *mem.Budget
	reading *mem.Budget // of budget; nil: slots are not read
	slots   []*os.File
	outputs []*os.File // one for each slot
}

// adopt makes files of inherited descriptors.
func adopt(fds []int) (files []*os.File, err error) {
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "slot")
		if f == nil {
			return nil, format.Error(format.ErrUsage, "%d is not a descriptor", fd)
		}
		files = append(files, f)
	}
	return files, nil
}

// divide takes the share for reading slots: a quarter, and what is beyond the
// most that the work can use, which needs at least so much.
func (d *desk) divide(least, most int64) (err error) {
	free := d.budget.Free()
	n := max(free/4, free-most)
	if n < leastReading || free-n < least {
		return d.tooSmall(max(4*leastReading, least/3*4))
	}
	d.reading, err = d.budget.Carve("reading", n)
	return err
}

// tooSmall refuses the memory given.
func (d *desk) tooSmall(need int64) error {
	need += d.budget.Used()
	return format.Error(mem.ErrTooSmall, "memory %s is too small: this needs %s beside %s for the program; try memory=%q",
		mem.Format(d.memory), mem.Format(need), mem.Format(run.Base), mem.Flag(run.Base+need))
}

// close gives back what divide took.
func (d *desk) close() {
	d.reading.Close()
	for _, f := range slices.Concat(d.slots, d.outputs) {
		_ = f.Close() // who reads what was written has it open, too
	}
}

// each calls f for the records of a slot.
func (d *desk) each(ctx context.Context, q *question, f func(*stream.Batch) error) error {
	src := format.Source{Store: slot{d.slots[q.Slot]}, Objects: []store.Object{{URL: "rows", Size: q.Size}}}
	data, err := arrow.Plan(ctx, src, format.Options{BatchRows: batchRows, Threads: 1})
	if err != nil {
		return err
	}
	in, err := data.Open(ctx, d.reading, stream.Cursor{}, nil)
	if err != nil {
		return d.advise(err)
	}
	defer in.Close()
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return d.advise(err)
		}
		err = f(b)
		b.Release()
		if err != nil {
			return err
		}
	}
}

// advise adds the memory that would do to an error that says what the share of
// the reader lacks, which is a quarter at least.
func (d *desk) advise(err error) error {
	var small *mem.TooSmallError
	if !errors.As(err, &small) {
		return err
	}
	return fmt.Errorf("%w; try memory=%q", err, mem.Flag(d.memory+4*(small.Need-small.Limit)))
}

// check holds that a question names what is there.
func (d *desk) check(q *question) error {
	if q.Slot < 0 || q.Slot >= min(len(d.slots), len(d.outputs)) || q.Size < 0 || q.Rows < 0 || q.Rows > 1<<40 {
		return unknown(fmt.Sprintf("%d rows of %d bytes in slot %d", q.Rows, q.Size, q.Slot))
	}
	return nil
}

// slot is a store with one object.
type slot struct{ f *os.File }

// List is never asked: the object is known.
func (s slot) List(context.Context, string) ([]store.Object, error) { return nil, store.ErrNotFound }

// Open reads the slot, of which as much counts as the question said.
func (s slot) Open(_ context.Context, o store.Object) (store.Reader, error) {
	return slotReader{s, o.Size}, nil
}

func (s slot) read(p []byte, off int64) error {
	_, err := s.f.ReadAt(p, off)
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// slotReader reads a slot; it is memory, so nothing can be dropped or wanted.
type slotReader struct {
	slot
	size int64
}

func (r slotReader) ReadAt(_ context.Context, p []byte, off int64) error {
	if off < 0 || off > r.size-int64(len(p)) {
		return io.ErrUnexpectedEOF
	}
	return r.read(p, off)
}

func (r slotReader) Size() int64     { return r.size }
func (slotReader) Remote() bool      { return false }
func (slotReader) Drop(int64, int64) {}
func (slotReader) Want(int64, int64) {}
func (slotReader) Close() error      { return nil }
