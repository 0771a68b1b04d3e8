package scale

import (
	"context"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

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
// rows names in ascending order, or all if it is nil. What is wrong with them
// Apply says.
func (t *Transform) Size(rec arrow.RecordBatch, rows []int32) int {
	size, _, _ := t.Gather(0).Want(rec, rows)
	return size
}

// Apply makes the output for rows of rec in block, which it takes over, also
// where there is an error. The output refers to nothing of rec.
func (t *Transform) Apply(rec arrow.RecordBatch, rows []int32, block *mem.Block) (arrow.RecordBatch, error) {
	g := t.Gather(0)
	defer g.Drop()
	if _, _, err := g.Want(rec, rows); err != nil {
		block.Free()
		return nil, err
	}
	if err := g.Move(block); err != nil {
		return nil, err
	}
	if err := g.Add(); err != nil {
		return nil, err
	}
	return g.Record(), nil
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
