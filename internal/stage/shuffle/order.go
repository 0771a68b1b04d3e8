package shuffle

import (
	"context"
	"errors"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// entry is a row of a partition: where in its zone its key is, and where in
// memory the row.
type entry struct {
	within uint64
	at     int
}

const entryBytes = 16

// entries is mapped memory as what lies in it.
func entries(b []byte) []entry {
	return unsafe.Slice((*entry)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/entryBytes)
}

// ordered is a partition in memory, its rows in order.
type ordered struct {
	share   *mem.Budget
	heap    *mem.Lease
	file    *mem.Block
	index   *mem.Block
	entries []entry // of the rows that are to come
	form    *rows.Form
	batch   int // bytes of a batch
	mean    int // bytes of a row, about

	made  *stream.Ordered[maker, arrow.RecordBatch]
	few   *mem.Budget // of batches that are made side by side; nil: there is one at a time
	heaps *mem.Lease
	waits stream.Waits
}

// load reads a partition and puts its rows in order.
func (p *Partitions) load(ctx context.Context, i int, from int64, share *mem.Budget) (_ *ordered, err error) {
	m := p.parts[i]
	o := &ordered{share: share, form: p.form, batch: batchBytes(share.Limit())}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	if m.Rows == 0 {
		o.alone()
		return o, nil
	}
	if o.heap, err = share.Acquire(ctx, 4*buckets(m.Rows)+orderHeap); err != nil {
		return nil, err
	}
	if o.index, err = share.Map(ctx, int(m.Rows)*entryBytes); err != nil {
		return nil, err
	}
	if o.file, err = beside(ctx, share, o.heap.Size()+int64(o.index.Cap()), int(m.Bytes)); err != nil {
		return nil, err
	}
	o.entries = entries(o.index.Bytes())[:m.Rows]
	if err := p.fill(o.entries, o.file.Bytes(), partitionName(p.c.Name, i)); err != nil {
		return nil, err
	}
	o.heap.Shrink(orderHeap)
	o.entries = o.entries[min(from, m.Rows):]
	o.mean = int(m.Bytes/m.Rows) + 1
	return o, o.start(ctx, p.c.Threads)
}

// start makes batches with as many threads as are given, and memory is left for.
// Nobody waits for ever: there is a block for every stretch that was begun, which
// has one batch at most, and for the one that was given out.
func (o *ordered) start(ctx context.Context, threads int) error {
	block := int64(mem.BlockSize(o.batch))
	n := min(int64(threads), (o.share.Free()-block)/(block+orderHeap))
	if n < 2 {
		o.alone()
		return nil
	}
	var err error
	if o.few, err = o.share.Carve("batches", n*(block+orderHeap)+block); err != nil {
		return err
	}
	if o.heaps, err = o.few.Acquire(ctx, n*orderHeap); err != nil {
		return err
	}
	o.made = o.stretches(int(n))
	return nil
}

// alone makes one batch at a time, for which all memory is there.
func (o *ordered) alone() {
	o.stop()
	o.made = o.stretches(1)
}

// stop ends what start began.
func (o *ordered) stop() {
	if o.made != nil {
		o.made.Close()
	}
	o.heaps.Release()
	o.few.Close()
	o.few = nil
}

// next gives the batch of the rows that come next.
func (o *ordered) next(ctx context.Context) (arrow.RecordBatch, error) {
	rec, err := o.made.Next(ctx)
	if errors.Is(err, errCrowded) {
		o.alone()
		rec, err = o.made.Next(ctx)
	}
	if err == nil {
		o.entries = o.entries[rec.NumRows():]
	}
	return rec, err
}

func (o *ordered) close() {
	o.stop()
	o.entries = nil
	o.file.Free()
	o.index.Free()
	o.heap.Release()
}
