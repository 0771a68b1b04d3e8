package shuffle

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"
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
	decoder *rows.Decoder
	at      []int
	batch   int // bytes of a batch
	mean    int // bytes of a row, about
}

// load reads a partition and puts its rows in order.
func (p *Partitions) load(ctx context.Context, i int, from int64, share *mem.Budget) (_ *ordered, err error) {
	m := p.parts[i]
	o := &ordered{share: share, decoder: p.form.NewDecoder(), batch: batchBytes(share.Limit())}
	if m.Rows == 0 {
		return o, nil
	}
	defer func() {
		if err != nil {
			o.close()
		}
	}()
	if o.heap, err = share.Acquire(ctx, 4*buckets(m.Rows)+orderHeap); err != nil {
		return nil, err
	}
	if o.index, err = share.Map(ctx, int(m.Rows)*entryBytes); err != nil {
		return nil, err
	}
	if o.file, err = beside(ctx, share, o.heap.Size()+int64(o.index.Cap()), int(m.Bytes)); err != nil {
		return nil, err
	}
	name := partitionName(p.c.Name, i)
	r, err := p.c.Scratch.Reader(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if _, err := r.ReadAt(o.file.Bytes(), 0); err != nil {
		return nil, err
	}
	o.entries = entries(o.index.Bytes())[:m.Rows]
	if err := p.sort(o.entries, o.file.Bytes()); err != nil {
		return nil, fmt.Errorf("scratch: %s: %w", name, err)
	}
	o.heap.Shrink(orderHeap)
	o.entries = o.entries[min(from, m.Rows):]
	o.mean = int(m.Bytes/m.Rows) + 1
	o.at = make([]int, 0, mostRows)
	return o, nil
}

// buckets is how many parts rows are dealt to before they are sorted: few rows
// each, since keys are spread evenly.
func buckets(rows int64) int64 { return rows/8 + 1 }

// sort fills dst with the rows of a file in order of their keys.
func (p *Partitions) sort(dst []entry, file []byte) error {
	n := uint64(buckets(int64(len(dst))))
	next := make([]uint32, n+1)
	total := int64(0)
	for ram := file; len(ram) > 0; {
		size, err := blockSize(ram, int64(len(ram)))
		if err != nil {
			return err
		}
		k, err := eachRow(p.form, ram[:size], func(at, _ int) {
			next[1+part(p.zone.within(binary.LittleEndian.Uint64(ram[at:])), n)]++
		})
		if err != nil {
			return err
		}
		total += k
		ram = ram[size:]
	}
	if total != int64(len(dst)) {
		return errDamaged
	}
	for i := range n {
		next[i+1] += next[i]
	}
	p.deal(dst, file, next)
	// A bucket ends where the one behind it began.
	begin := uint32(0)
	for _, end := range next[:n] {
		sortFew(dst[begin:end])
		begin = end
	}
	return nil
}

// deal puts the rows of a file, which was checked, in their buckets.
func (p *Partitions) deal(dst []entry, file []byte, next []uint32) {
	n := uint64(len(next) - 1)
	for at := 0; at < len(file); {
		size, _ := blockSize(file[at:], int64(len(file)-at))
		end := at + int(size)
		for at += headBytes; at < end; {
			x := p.zone.within(binary.LittleEndian.Uint64(file[at:]))
			k := &next[part(x, n)]
			dst[*k] = entry{x, at + keyBytes}
			*k++
			size, _ := p.form.Size(file[at+keyBytes:])
			at += keyBytes + size
		}
	}
}

// sortFew sorts a bucket.
func sortFew(v []entry) {
	if len(v) > 32 {
		slices.SortFunc(v, func(a, b entry) int { return cmp.Compare(a.within, b.within) })
		return
	}
	for i := 1; i < len(v); i++ {
		e, j := v[i], i
		for ; j > 0 && v[j-1].within > e.within; j-- {
			v[j] = v[j-1]
		}
		v[j] = e
	}
}

// next makes a batch of the rows that come next.
func (o *ordered) next(ctx context.Context) (arrow.RecordBatch, error) {
	if len(o.entries) == 0 {
		return nil, io.EOF
	}
	o.at = o.at[:0]
	for _, e := range o.entries[:min(len(o.entries), mostRows, o.batch/o.mean+1)] {
		o.at = append(o.at, e.at)
	}
	n, size, err := o.fit()
	if err != nil {
		return nil, err
	}
	b, err := beside(ctx, o.share, o.heap.Size()+int64(o.index.Cap()+o.file.Cap()), size)
	if err != nil {
		return nil, fmt.Errorf("a batch of %s: %w", mem.Format(int64(size)), err)
	}
	slab := stream.NewSlab(b)
	defer slab.Release()
	if err := o.decoder.Take(b.Bytes()); err != nil {
		return nil, err
	}
	o.entries = o.entries[n:]
	return o.decoder.Record(slab), nil
}

// fit finds how many of the rows that come next a batch holds, at least one, and
// leaves them measured.
func (o *ordered) fit() (n, size int, err error) {
	for n = len(o.at); ; {
		if size, err = o.decoder.Measure(o.file.Bytes(), o.at[:n]); err != nil {
			return 0, 0, err
		}
		if size <= o.batch || n == 1 {
			return n, size, nil
		}
		n = max(1, min(n-1, int(float64(n)*float64(o.batch)/float64(size)*0.95)))
	}
}

func (o *ordered) close() {
	o.entries = nil
	o.file.Free()
	o.index.Free()
	o.heap.Release()
}
