package scale

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Transform applies Params. One goroutine at a time.
type Transform struct {
	d      *Design
	out    *arrow.Schema
	wide   int // bytes of an output number
	cols   []applied
	pool   *stream.Pool[scratch]
	blocks []*mem.Block
}

// applied is what is done with one column.
type applied struct {
	work  *work
	c     *Column
	width int // columns it becomes
	table *table
	fill  []byte // for text
}

// categoryBytes is the block for a table of the column's categories.
func categoryBytes(c *Column) int {
	n := 4096
	for _, k := range c.Categories {
		n += 96 + (12+len(k.Value)+7)&^7*4/3
	}
	return n
}

// TransformFloor is the memory that a transform with p holds, beside the
// blocks it is given.
func (d *Design) TransformFloor(p *Params, threads int) int64 {
	n := int64(mem.BlockSize(max(1, threads) * 8 * Block))
	for i := range p.Columns {
		if c := &p.Columns[i]; c.Encode == encodings[onehot] || c.Encode == encodings[ordinal] {
			n += int64(mem.BlockSize(categoryBytes(c)))
		}
	}
	return n
}

// NewTransform makes a transform with p. A p of another design is ErrUsage.
func (d *Design) NewTransform(p *Params, share *mem.Budget, threads int) (*Transform, error) {
	threads = max(1, threads)
	if need := d.TransformFloor(p, threads); share.Free() < need {
		return nil, &mem.TooSmallError{Share: "transform", Need: need, Limit: share.Free()}
	}
	t := &Transform{d: d, wide: d.dtype.(arrow.FixedWidthDataType).BitWidth() / 8}
	var err error
	if t.out, err = d.Out(p); err != nil {
		return nil, err
	}
	page, err := share.Map(context.Background(), threads*8*Block)
	if err != nil {
		return nil, err
	}
	t.blocks = append(t.blocks, page)
	for i := range d.cols {
		a, err := t.prepare(&d.cols[i], p, share)
		if err != nil {
			t.Close()
			return nil, err
		}
		t.cols = append(t.cols, a)
	}
	values := arrow.GetData[float64](page.Bytes())
	var next atomic.Int64
	t.pool = stream.NewPool(threads, func() *scratch {
		at := int(next.Add(1)-1) * Block
		return &scratch{values: values[at : at+Block], text: make([]byte, 0, 64)}
	})
	return t, nil
}

// prepare readies one column.
func (t *Transform) prepare(w *work, p *Params, share *mem.Budget) (applied, error) {
	a := applied{work: w, width: 1}
	if w.passed() {
		return a, nil
	}
	a.c = p.Column(w.field.Name)
	a.width = w.widthOf(a.c)
	if a.c.FillText != nil {
		a.fill = append([]byte{}, *a.c.FillText...)
	}
	if w.encode != onehot && w.encode != ordinal {
		return a, nil
	}
	block, err := share.Map(context.Background(), categoryBytes(a.c))
	if err != nil {
		return a, err
	}
	t.blocks = append(t.blocks, block)
	a.table = newTable(block)
	for i, k := range a.c.Categories {
		if !a.table.add([]byte(k.Value), uint64(i)) {
			return a, format.Error(mem.ErrTooSmall, "column %q: no room for %d categories", w.field.Name, len(a.c.Categories))
		}
	}
	return a, nil
}

// Schema is that of the output.
func (t *Transform) Schema() *arrow.Schema { return t.out }

// copies says that the column is copied, not made of numbers.
func (a *applied) copies() bool {
	return a.work.passed() || a.work.class == text && a.work.encode == noEncode
}

// copy begins the copy of rows of a column.
func (a *applied) copy(col arrow.Array, rows []int32) *copied {
	c := newCopied(col.Data())
	if !a.work.passed() && a.fill != nil {
		c.fill = a.fill
	}
	c.measureFrom(col.Len(), rows)
	return c
}

// spans calls f with the runs of neighbours in rows, or with all n.
func spans(n int, rows []int32, f func(i, n int)) {
	if rows == nil {
		f(0, n)
		return
	}
	for len(rows) > 0 {
		k := 1
		for k < len(rows) && rows[k] == rows[0]+int32(k) {
			k++
		}
		f(int(rows[0]), k)
		rows = rows[k:]
	}
}

// Size is the bytes of the block that Apply needs for rows of rec: those that
// rows names in ascending order, or all if it is nil.
func (t *Transform) Size(rec arrow.RecordBatch, rows []int32) int {
	n := int(rec.NumRows())
	if rows != nil {
		n = len(rows)
	}
	size := 0
	for i := range t.cols {
		if a := &t.cols[i]; a.copies() {
			size += a.copy(rec.Column(i), rows).size()
		} else {
			size += a.width * aligned(n*t.wide)
		}
	}
	return size
}

// Apply makes the output for rows of rec in block, which it takes over, also
// where there is an error. The output refers to nothing of rec.
func (t *Transform) Apply(rec arrow.RecordBatch, rows []int32, block *mem.Block) (arrow.RecordBatch, error) {
	slab := stream.NewSlab(block)
	defer slab.Release()
	n := int(rec.NumRows())
	if rows != nil {
		n = len(rows)
	}
	if err := t.d.suits(rec, rows); err != nil {
		return nil, err
	}
	regions, copies, err := t.place(rec, rows, n, block.Bytes())
	if err != nil {
		return nil, err
	}
	err = t.pool.Each(len(t.cols), func(i int, s *scratch) error {
		if copies[i] != nil {
			copies[i].fillFrom(n, rows)
			return nil
		}
		var err error
		if t.wide == 4 {
			err = fillRegion(&t.cols[i], arrow.GetData[float32](regions[i]), rec.Column(i), n, rows, s)
		} else {
			err = fillRegion(&t.cols[i], arrow.GetData[float64](regions[i]), rec.Column(i), n, rows, s)
		}
		if err != nil {
			return format.Error(format.ErrData, "column %q: %w", t.cols[i].work.field.Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.record(slab, regions, copies, n), nil
}

// place divides ram among the columns: numbers get a region, others a copy.
func (t *Transform) place(rec arrow.RecordBatch, rows []int32, n int, ram []byte) (regions [][]byte, copies []*copied, err error) {
	all := int64(len(ram))
	regions, copies = make([][]byte, len(t.cols)), make([]*copied, len(t.cols))
	for i := range t.cols {
		a := &t.cols[i]
		size := a.width * aligned(n*t.wide)
		if a.copies() {
			copies[i] = a.copy(rec.Column(i), rows)
			size = copies[i].size()
		}
		if size > len(ram) {
			return nil, nil, &mem.TooSmallError{Share: "transform: batch", Need: int64(t.Size(rec, rows)), Limit: all}
		}
		if copies[i] != nil {
			copies[i].place(ram[:size])
		} else {
			regions[i] = ram[:size]
		}
		ram = ram[size:]
	}
	return regions, copies, nil
}

// record wraps what was made.
func (t *Transform) record(slab *stream.Slab, regions [][]byte, copies []*copied, n int) arrow.RecordBatch {
	cols := make([]arrow.Array, 0, t.out.NumFields())
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	add := func(d arrow.ArrayData) {
		cols = append(cols, array.MakeFromData(d))
		d.Release()
	}
	for i := range t.cols {
		if copies[i] != nil {
			add(copies[i].array(slab))
			continue
		}
		stride := aligned(n * t.wide)
		for k := range t.cols[i].width {
			b := slab.Buffer(regions[i][k*stride : k*stride+n*t.wide])
			add(array.NewData(t.out.Field(len(cols)).Type, n, []*memory.Buffer{nil, b}, nil, 0, 0))
			b.Release()
		}
	}
	return array.NewRecordBatch(t.out, cols, int64(n))
}

// Close gives all memory back but that of outputs.
func (t *Transform) Close() {
	if t.pool != nil {
		t.pool.Close()
	}
	for _, b := range t.blocks {
		b.Free()
	}
	t.blocks = nil
}
