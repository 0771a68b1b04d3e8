package scale

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Fit sees rows and gives Params. One goroutine at a time.
type Fit struct {
	d     *Design
	share *mem.Budget
	prior *Params
	pool  *stream.Pool[scratch]
	lease *mem.Lease // of the columns, which lie on the Go heap
	page  *mem.Block // of the scratch

	cols   []column
	rows   int64
	start  uint64 // key of the block it began with
	began  bool
	object int   // of the row to come, at least
	row    int64 // the first row to come, at least
	pieces []piece
}

// column is what a fit knows of one column.
type column struct {
	work              *work
	key               uint64 // of the open block
	nulls, nans, infs int64
	moments           moments
	order             *order     // nil: not needed
	table             *table     // nil: not needed
	lease             *mem.Lease // of the list of categories to be
	full              int64      // rows until there were too many categories; 0: there are not
}

// columnBytes is what a column takes on the Go heap.
const columnBytes = 1536

// scratch is a thread's own.
type scratch struct {
	values []float64 // Block of them
	text   []byte
}

// chunk is how many rows are worked on at a time: their values, and what is
// made of them, stay in the first cache.
const chunk = 1024

// piece is at most chunk rows of a batch that lie in one block.
type piece struct {
	key     uint64
	from, n int
	rows    []int32 // nil: all n
}

// numeric says that the column's moments are taken.
func (w *work) numeric() bool { return w.class == number && w.encode == noEncode }

// rankBytes are for a sketch, for the block it does not have yet, and for the
// first values.
const rankBytes = sketchBytes + 128<<10

// demand is what a column takes beside its share of what is left over.
func (d *Design) demand(w *work) (bytes int64, more bool) {
	if w.ranked() {
		bytes += rankBytes
	}
	if w.counted() {
		n := tableBytes(d.most)
		if d.lump || w.encode == noEncode {
			n = max(n, 1<<20)
		}
		bytes += int64(mem.BlockSize(int(n))) + d.listBytes(w)
	}
	return bytes, w.ranked() || w.counted() && (d.lump || w.encode == noEncode)
}

// listBytes is what the list of a column's categories takes on the Go heap.
func (d *Design) listBytes(w *work) int64 {
	if w.encode == noEncode {
		return 0
	}
	return 64 * int64(d.most)
}

// Floor is the least share that a fit works with. More makes quantiles exact
// for more rows, and counts more categories.
func (d *Design) Floor(threads int) int64 {
	n := int64(len(d.cols))*columnBytes + int64(mem.BlockSize(max(1, threads)*8*Block))
	for i := range d.cols {
		bytes, _ := d.demand(&d.cols[i])
		n += bytes
	}
	return n
}

// NewFit begins a fit that may use share whole. A prior, if not nil, is
// continued: its counts, means and categories are as if its rows had been seen
// first; what cannot be is ErrUsage, see Continues.
func (d *Design) NewFit(share *mem.Budget, threads int, prior *Params) (*Fit, error) {
	threads = max(1, threads)
	if err := d.Continues(prior); err != nil {
		return nil, err
	}
	if need := d.Floor(threads); share.Free() < need {
		return nil, &mem.TooSmallError{Share: "fit", Need: need, Limit: share.Free()}
	}
	f := &Fit{d: d, share: share, prior: prior}
	var err error
	if f.lease, err = share.Acquire(context.Background(), int64(len(d.cols))*columnBytes); err != nil {
		return nil, err
	}
	f.cols = make([]column, len(d.cols))
	if f.page, err = share.Map(context.Background(), threads*8*Block); err == nil {
		err = f.divide()
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	values := arrow.GetData[float64](f.page.Bytes())
	var next atomic.Int64
	f.pool = stream.NewPool(threads, func() *scratch {
		at := int(next.Add(1)-1) * Block
		return &scratch{values: values[at : at+Block], text: make([]byte, 0, 64)}
	})
	return f, nil
}

// divide gives each column its memory: what it needs at least, and an equal
// part of what is left over to those that can use it.
func (f *Fit) divide() error {
	var least, parts int64
	for i := range f.d.cols {
		n, more := f.d.demand(&f.d.cols[i])
		if least += n; more {
			parts++
		}
	}
	left := max(0, f.share.Free()-least) / max(1, parts)
	left -= left / 16 // blocks are rounded up by so much
	for i := range f.cols {
		c := &f.cols[i]
		c.work = &f.d.cols[i]
		c.moments.begin()
		if err := f.equip(c, left); err != nil {
			return format.Error(mem.ErrTooSmall, "column %q: %w", c.work.field.Name, err)
		}
	}
	return nil
}

// equip gives a column what it needs and, if it can use it, left bytes more.
func (f *Fit) equip(c *column, left int64) (err error) {
	n, more := f.d.demand(c.work)
	if c.work.ranked() {
		if c.order, err = newOrder(f.share, int(left/8*8)+32<<10); err != nil {
			return err
		}
		n -= rankBytes
		left = 0
	}
	if !c.work.counted() {
		return nil
	}
	if c.lease, err = f.share.Acquire(context.Background(), f.d.listBytes(c.work)); err != nil {
		return err
	}
	if n -= c.lease.Size(); more {
		n += left * 15 / 16
	}
	block, err := f.share.Map(context.Background(), int(min(n, 1<<35)))
	if err == nil {
		c.table = newTable(block)
	}
	return err
}

// Add adds rows of a batch, the first row of which is firstRow of an object:
// those that rows names in ascending order, or all if it is nil. Batches come
// in the order of their positions. A fit begins at a row that is a multiple of
// Block. Errors name the column and the row of the object; after one the fit
// can only be closed.
func (f *Fit) Add(rec arrow.RecordBatch, object int, firstRow int64, rows []int32) error {
	if err := f.cut(rec, object, firstRow, rows); err != nil {
		return err
	}
	n := rec.NumRows()
	if rows != nil {
		n = int64(len(rows))
	}
	f.rows += n
	return f.pool.Each(len(f.cols), func(i int, s *scratch) error {
		c := &f.cols[i]
		for k := range f.pieces {
			if err := c.add(&f.pieces[k], rec.Column(i), firstRow, s); err != nil {
				return format.Error(format.ErrData, "column %q: %w", c.work.field.Name, err)
			}
		}
		return f.bounded(c, firstRow+rec.NumRows())
	})
}

// cut divides the batch into pieces.
func (f *Fit) cut(rec arrow.RecordBatch, object int, firstRow int64, rows []int32) error {
	n := int(rec.NumRows())
	switch {
	case object < f.object || object == f.object && firstRow < f.row:
		return format.Error(format.ErrUsage, "fit: row %d of object %d comes after row %d of object %d", firstRow, object, f.row, f.object)
	case !f.began && firstRow%Block != 0:
		return format.Error(format.ErrUsage, "fit: begins at row %d, which is no multiple of %d", firstRow, Block)
	case object >= 1<<(64-blockBits) || (firstRow+int64(n))/Block >= 1<<blockBits || firstRow < 0 || object < 0:
		return format.Error(format.ErrUsage, "fit: row %d of object %d is out of range", firstRow, object)
	}
	if err := f.d.suits(rec, rows); err != nil {
		return err
	}
	if !f.began {
		f.begin(uint64(object)<<blockBits | uint64(firstRow/Block))
	}
	f.object, f.row = object, firstRow+int64(n)
	f.pieces = f.pieces[:0]
	for from := 0; from < n; {
		block := (firstRow + int64(from)) / Block
		to := int(min(int64(n), (block+1)*Block-firstRow, int64(from)+chunk))
		p := piece{key: uint64(object)<<blockBits | uint64(block), from: from, n: to - from}
		if rows != nil {
			k := 0
			for k < len(rows) && int(rows[k]) < to {
				k++
			}
			p.rows, rows = rows[:k:k], rows[k:]
		}
		f.pieces = append(f.pieces, p)
		from = to
	}
	return nil
}

// suits checks that a batch is of the schema planned for, and that rows are
// some of its rows in ascending order.
func (d *Design) suits(rec arrow.RecordBatch, rows []int32) error {
	if int(rec.NumCols()) != len(d.cols) {
		return format.Error(format.ErrData, "a batch of %d columns, planned for %d", rec.NumCols(), len(d.cols))
	}
	for i := range d.cols {
		if f := &d.cols[i].field; !arrow.TypeEqual(rec.Column(i).DataType(), f.Type) {
			return format.Error(format.ErrData, "column %q: a batch has %s, planned for %s", f.Name, rec.Column(i).DataType(), f.Type)
		}
	}
	last := int32(-1)
	for _, r := range rows {
		if r <= last || int64(r) >= rec.NumRows() {
			return format.Error(format.ErrUsage, "row %d of a batch of %d comes after %d", r, rec.NumRows(), last)
		}
		last = r
	}
	return nil
}

// begin sets where the fit begins.
func (f *Fit) begin(key uint64) {
	f.began, f.start = true, key
	for i := range f.cols {
		if o := f.cols[i].order; o != nil {
			o.start = key
		}
	}
}

// bounded is the error of too many categories.
func (f *Fit) bounded(c *column, rows int64) error {
	if c.table == nil {
		return nil
	}
	name, n := c.work.field.Name, c.table.n
	if c.work.encode != noEncode && !f.d.lump && n > f.d.most {
		return format.Error(format.ErrData, "column %q: %d categories in the first %d rows, at most %d are allowed; raise the bound, let the rest be other, or use hash:N", name, n, rows, f.d.most)
	}
	if c.full > 0 && c.work.encode == noEncode {
		return format.Error(mem.ErrTooSmall, "column %q: more than %d different values in the first %d rows, which is all that the memory holds for most_frequent; raise --memory", name, n, c.full)
	}
	if c.full > 0 {
		return format.Error(mem.ErrTooSmall, "column %q: more than %d categories in the first %d rows, which is all that the memory holds; use hash:N, or raise --memory", name, n, c.full)
	}
	return nil
}

// add adds the rows of a piece.
func (c *column) add(p *piece, col arrow.Array, firstRow int64, s *scratch) error {
	switch {
	case c.work.numeric():
		return c.addNumbers(p, col, firstRow, s)
	case c.work.class != other && !c.work.passed():
		c.addTexts(p, col, firstRow, s)
	}
	return nil
}

func (c *column) addNumbers(p *piece, col arrow.Array, firstRow int64, s *scratch) error {
	if p.key != c.key {
		c.moments.end()
		c.key = p.key
	}
	v, nulls := numbers(s.values, col, p.from, p.n, p.rows)
	if nulls > 0 || !c.moments.open.add(v) {
		some, nans, infs, first, inf := finite(s.values, v)
		if infs > 0 && c.work.strict() {
			row := int64(p.from + first)
			if p.rows != nil {
				row = int64(p.rows[first])
			}
			return format.Error(format.ErrData, "row %d: %v cannot be scaled; use clip, or leave the row out", firstRow+row, inf)
		}
		c.nulls += int64(nulls)
		c.nans += int64(nans - nulls)
		c.infs += int64(infs)
		v = some
		c.moments.open.addAny(v)
	}
	if c.table != nil {
		for _, x := range v {
			if !c.table.add(numberKey(s.text, x), 1) && c.full == 0 {
				c.full = firstRow + int64(p.from+p.n)
			}
		}
	}
	if c.order != nil {
		return c.order.add(p.key, v)
	}
	return nil
}

// numberKey is the key of a number in a table; minus zero is zero.
func numberKey(buf []byte, x float64) []byte {
	b := math.Float64bits(x + 0)
	return append(buf[:0], byte(b), byte(b>>8), byte(b>>16), byte(b>>24), byte(b>>32), byte(b>>40), byte(b>>48), byte(b>>56))
}

func (c *column) addTexts(p *piece, col arrow.Array, firstRow int64, s *scratch) {
	n := p.n
	if p.rows != nil {
		n = len(p.rows)
	}
	value := textOf(col)
	for i := range n {
		r := p.from + i
		if p.rows != nil {
			r = int(p.rows[i])
		}
		if null, nan := absent(col, r); null {
			c.nulls++
		} else if nan {
			c.nans++
		} else if c.table != nil && !c.table.add(value(s.text, r), 1) && c.full == 0 {
			c.full = firstRow + int64(r)
		}
	}
}

// Close gives all memory back.
func (f *Fit) Close() {
	if f.pool != nil {
		f.pool.Close()
	}
	for i := range f.cols {
		if o := f.cols[i].order; o != nil {
			o.free()
		}
		if t := f.cols[i].table; t != nil {
			t.block.Free()
		}
		f.cols[i].lease.Release()
	}
	f.cols = nil
	f.page.Free()
	f.lease.Release()
}
