// Package files reads formats in which a whole object is one row: several
// objects are read side by side, straight into the batch they belong to.
package files

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Layout says how objects become rows.
type Layout struct {
	Name    string // of the format; it begins every error
	Source  format.Source
	Options format.Options
	Schema  *arrow.Schema
	Remote  bool
	Bytes   int // the column that takes the objects' bytes; less than 0: none
	// Extra is the most bytes that a row takes beside the object's.
	Extra int
	// Add adds one object to the batch, without ending the row. read fills p
	// with all of the object's bytes. What it returns of kind format.ErrData
	// is about this object alone.
	Add func(b *build.Batch, o store.Object, read func(p []byte) error) error
}

const (
	batchMost = 2 << 20
	// remoteReaders is how many objects are read at once where each costs a
	// round trip.
	remoteReaders = 16
)

// New is the dataset that a layout describes.
func New(l Layout) (format.Dataset, error) {
	b, err := build.New(l.Schema)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "%s: %w", l.Name, err)
	}
	d := &dataset{Layout: l, least: b.Least()}
	for _, o := range l.Source.Objects {
		d.bytes += o.Size
		d.largest = max(d.largest, o.Size)
	}
	if d.largest > build.Most/2 {
		return nil, format.Error(format.ErrData, "%s: an object of %s; a value has at most 512 MiB", l.Name, mem.Format(d.largest))
	}
	return d, nil
}

type dataset struct {
	Layout
	least   int
	largest int64
	bytes   int64
}

func (d *dataset) Schema() *arrow.Schema { return d.Layout.Schema }

func (d *dataset) Info() format.Info {
	n := int64(len(d.Source.Objects))
	size := d.bytes + n*int64(d.Extra)
	return format.Info{Objects: int(n), Rows: n, Groups: n, Bytes: d.bytes, InMemory: size, LargestIn: d.largest + int64(d.Extra)}
}

// cost is the block for n objects of size bytes in all. Twice the small
// things: columns grow by doubling.
func (d *dataset) cost(n int, size int64) int {
	return int(size) + size1(n)*(2*d.Extra+256) + 2*d.least
}

func size1(n int) int { return max(n, 16) }

// Floor is two batches of the largest object: one that is read, one that the
// consumer has.
func (d *dataset) Floor() int64 { return 2 * int64(mem.BlockSize(d.cost(1, d.largest))) }

func (d *dataset) Open(_ context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	if share.Limit() < d.Floor() {
		return nil, &mem.TooSmallError{Share: d.Name, Need: d.Floor(), Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	s := &reading{dataset: d, share: share, waits: waits, next: from.Object, cursor: stream.Cursor{Object: from.Object}}
	threads := max(1, d.Options.Threads)
	if d.Remote {
		threads = max(threads, remoteReaders)
	}
	one := int64(mem.BlockSize(d.cost(1, d.largest)))
	threads = int(max(1, min(int64(threads), share.Limit()/one-2)))
	ahead := 1
	if threads > 1 {
		ahead = threads + 1
	}
	s.batch = max(int(one), min(batchMost, int(share.Limit())/(ahead+2)))
	state := func() *build.Batch {
		b, _ := build.New(d.Layout.Schema) // New has tried
		return b
	}
	s.results = stream.NewOrdered(threads, ahead, s.task, state, (*result).drop, waits)
	return s, nil
}

type reading struct {
	*dataset
	share   *mem.Budget
	waits   *stream.Waits
	next    int // the first object that no task has
	batch   int // bytes of a batch
	results *stream.Ordered[build.Batch, *result]
	cursor  stream.Cursor
}

func (s *reading) Cursor() stream.Cursor { return s.cursor }

// task takes as many objects as fit a batch.
func (s *reading) task(ctx context.Context) (stream.Task[build.Batch, *result], error) {
	all := s.Source.Objects
	if s.next >= len(all) {
		return nil, io.EOF
	}
	from, size := s.next, int64(0)
	for s.next < len(all) {
		n := s.next - from + 1
		if n > 1 && (s.Options.BatchRows > 0 && n > s.Options.BatchRows || mem.BlockSize(s.cost(n, size+all[s.next].Size)) > s.batch) {
			break
		}
		size += all[s.next].Size
		s.next++
	}
	block, err := s.share.Map(ctx, s.cost(s.next-from, size))
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", s.Name, all[from].URL, err)
	}
	return &task{s: s, from: from, to: s.next, size: size, block: block}, nil
}

// Next gives the next rows. A task whose objects are all bad has none.
func (s *reading) Next(ctx context.Context) (*stream.Batch, error) {
	for {
		r, err := s.results.Next(ctx)
		if err != nil {
			return nil, err
		}
		for _, e := range r.bad {
			s.Options.Bad(e)
		}
		s.cursor = stream.Cursor{Object: r.to}
		if r.record != nil {
			return &stream.Batch{Record: r.record, After: s.cursor, Last: true, Objects: r.objects}, nil
		}
	}
}

// Close ends the reading.
func (s *reading) Close() error {
	s.results.Close()
	return nil
}
