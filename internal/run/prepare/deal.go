package prepare

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/split"
	"github.com/weir-data/weir/internal/stream"
)

// mostRows is how many rows are dealt with at a time.
const mostRows = 64 << 10

// dealBytes is what a dealer leases: a split, a place and a weight a row.
const dealBytes = mostRows * (1 + 4 + 4)

// dealer divides rows by their split.
type dealer struct {
	assign  *split.Assigner
	lease   *mem.Lease
	splits  []uint8
	places  []int32
	weights []int32 // of the rows at hand, for whoever weighs them
	ends    []int   // of each split's places
}

func newDealer(ctx context.Context, a *split.Assigner, share *mem.Budget) (*dealer, error) {
	lease, err := share.Acquire(ctx, dealBytes+2*a.Cost())
	if err != nil {
		return nil, err
	}
	return &dealer{assign: a, lease: lease, splits: make([]uint8, mostRows), places: make([]int32, mostRows),
		weights: make([]int32, mostRows), ends: make([]int, len(a.Names()))}, nil
}

// deal takes up to mostRows rows of an object.
func (d *dealer) deal(rec arrow.RecordBatch, object int, row int64) error {
	n := int(rec.NumRows())
	if err := d.assign.Assign(d.splits[:n], rec, object, row); err != nil {
		return err
	}
	clear(d.ends)
	for _, s := range d.splits[:n] {
		d.ends[s]++
	}
	at := 0
	for s, n := range d.ends {
		d.ends[s] = at
		at += n
	}
	for i, s := range d.splits[:n] {
		d.places[d.ends[s]] = int32(i)
		d.ends[s]++
	}
	return nil
}

// of is the rows of a split, in ascending order; never nil.
func (d *dealer) of(s int) []int32 {
	from := 0
	if s > 0 {
		from = d.ends[s-1]
	}
	return d.places[from:d.ends[s]]
}

func (d *dealer) close() { d.lease.Release() }

// runs calls use for n rows of a batch from a row on, in order, as many at a
// time as lie in one object, but at most mostRows: from which row of the batch,
// how many, and where in which object they begin. Before is where the batch
// begins.
func runs(b *stream.Batch, before stream.Cursor, from, n int, use func(from, n, object int, row int64) error) error {
	if b.Objects != nil {
		for i, object := range b.Objects[from : from+n] {
			if err := use(from+i, 1, object, 0); err != nil {
				return err
			}
		}
		return nil
	}
	object, row := b.First(before)
	for end := from + n; from < end; from += mostRows {
		if err := use(from, min(mostRows, end-from), object, row+int64(from)); err != nil {
			return err
		}
	}
	return nil
}
