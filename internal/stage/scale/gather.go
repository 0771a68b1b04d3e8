package scale

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Gathered is output under construction: rows of several records, each made
// right behind those before, in one block. Rows are first wanted; where they
// find no room it is moved to a larger block; then they are added.
type Gathered struct {
	t      *Transform
	most   int          // rows that there are never more of
	copies []*copied    // of the columns that are copied
	slab   *stream.Slab // nil: there is none
	pieces [][]byte     // of the slab, those of the numbers of each column
	room   int          // rows that fit in each of them
	rows   int          // that are there
	seen   int          // rows of the record before

	rec    arrow.RecordBatch // wanted
	picked []int32
	want   int
}

// Gather begins output of which a record has up to most rows; where more are
// wanted, those. Drop it at the end.
func (t *Transform) Gather(most int) *Gathered {
	g := &Gathered{t: t, most: most, copies: make([]*copied, len(t.cols)), pieces: make([][]byte, len(t.cols))}
	for i := range t.cols {
		a := &t.cols[i]
		if !a.copies() {
			continue
		}
		g.copies[i] = newCopied(a.work.field.Type)
		if !a.work.passed() {
			g.copies[i].fill = a.fill
		}
	}
	return g
}

// Rows is how many there are.
func (g *Gathered) Rows() int { return g.rows }

// Want says that rows of rec are to be added: those that rows names in
// ascending order, or all if it is nil. It returns the bytes of a block that
// holds them and those that are there, and whether they fit where these are.
// Rec is borrowed until Add.
func (g *Gathered) Want(rec arrow.RecordBatch, rows []int32) (size int, fits bool, err error) {
	if err := g.t.d.suits(rec, rows); err != nil {
		return 0, false, err
	}
	if g.rec, g.picked, g.want = rec, rows, int(rec.NumRows()); rows != nil {
		g.want = len(rows)
	}
	fits = g.slab != nil && g.rows+g.want <= g.room
	for i, c := range g.copies {
		if c == nil {
			continue
		}
		if err := c.from(rec.Column(i).Data()); err != nil {
			return 0, false, g.t.at(i, err)
		}
		c.measureFrom(g.want, rows)
		fits = fits && c.fits()
	}
	if fits {
		return 0, true, nil
	}
	return g.plan(g.rows+g.want, 0), false, nil
}

// plan makes room for so many rows, and for factor times what is known of
// values that vary, and returns the bytes of that.
func (g *Gathered) plan(rows int, factor float64) (size int) {
	for i := range g.t.cols {
		if c := g.copies[i]; c != nil {
			size += c.plan(rows, factor)
		} else {
			size += g.t.cols[i].width * aligned(rows*g.t.wide)
		}
	}
	return size
}

// divide plans for size bytes: as many rows as they hold, if the rows to come
// are like those known. It returns the rows.
func (g *Gathered) divide(size int) (rows int) {
	least := g.rows + g.want
	if least == 0 || g.most <= least {
		g.plan(least, 0)
		return least
	}
	known, words := least+g.seen, 0
	for _, c := range g.copies {
		if c != nil {
			words += c.wordBytes(1.25)
		}
	}
	factor := float64(size-words) / float64(max(1, g.plan(known, 1)-words))
	for range 32 {
		rows = max(least, min(g.most, int(float64(known)*factor)))
		if g.plan(rows, factor) <= size {
			return rows
		}
		factor *= 31.0 / 32 // what buffers are rounded up by
	}
	g.plan(least, 0)
	return least
}

// Move makes block, which it takes over, the place of all rows that are there
// and that will be added.
func (g *Gathered) Move(block *mem.Block) error {
	slab, ram := stream.NewSlab(block), block.Bytes()
	if need := g.plan(g.rows+g.want, 0); need > len(ram) {
		slab.Release()
		return &mem.TooSmallError{Share: "transform: batch", Need: int64(need), Limit: int64(len(ram))}
	}
	room := g.divide(len(ram))
	old, had := g.slab, g.room
	g.slab, g.room = slab, room
	if old != nil {
		defer old.Release()
	}
	var err error
	for i := range g.t.cols {
		if c := g.copies[i]; c != nil {
			if ram, err = c.move(ram, old); err != nil {
				return g.t.at(i, err)
			}
			continue
		}
		size := g.t.cols[i].width * aligned(room*g.t.wide)
		for k := range g.t.cols[i].width {
			if g.rows > 0 {
				copy(ram[k*aligned(room*g.t.wide):], g.pieces[i][k*aligned(had*g.t.wide):][:g.rows*g.t.wide])
			}
		}
		g.pieces[i], ram = ram[:size], ram[size:]
	}
	_, _, err = g.Want(g.rec, g.picked)
	return err
}

// move places what is there anew, as it was planned, and copies it.
func (c *copied) move(ram []byte, old *stream.Slab) ([]byte, error) {
	if c.n == 0 {
		return c.place(ram), nil
	}
	was := c.array(old.Buffer)
	defer was.Release()
	ram = c.place(ram)
	if err := c.from(was); err != nil {
		return nil, err
	}
	c.measure(0, was.Len())
	c.fillFrom(was.Len(), nil)
	return ram, nil
}

// Add adds what was wanted last, for which there must be room. After an error
// the rows that were there are lost.
func (g *Gathered) Add() error {
	t := g.t
	err := t.pool.Each(len(t.cols), func(i int, s *scratch) error {
		a := &t.cols[i]
		switch {
		case g.copies[i] != nil:
			g.copies[i].fillFrom(g.want, g.picked)
		case a.width == 0:
		case t.wide == 4:
			return t.at(i, fillRegion(a, arrow.GetData[float32](g.pieces[i])[g.rows:], g.stride(), g.rec.Column(i), g.want, g.picked, s))
		default:
			return t.at(i, fillRegion(a, arrow.GetData[float64](g.pieces[i])[g.rows:], g.stride(), g.rec.Column(i), g.want, g.picked, s))
		}
		return nil
	})
	g.rows += g.want
	g.rec, g.picked, g.want = nil, nil, 0
	return err
}

// stride is the numbers from one column to the next of those that one becomes.
func (g *Gathered) stride() int { return aligned(g.room*g.t.wide) / g.t.wide }

// at says in which column an error is.
func (t *Transform) at(i int, err error) error {
	if err == nil {
		return nil
	}
	return format.Error(format.ErrData, "column %q: %w", t.cols[i].work.field.Name, err)
}

// Record is all that was added, which is the caller's to release. Nothing is
// there behind it.
func (g *Gathered) Record() arrow.RecordBatch {
	defer g.Drop()
	t, n := g.t, g.rows
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
		if g.copies[i] != nil {
			add(g.copies[i].array(g.slab.Buffer))
			continue
		}
		for k := range t.cols[i].width {
			b := g.slab.Buffer(g.pieces[i][k*g.stride()*t.wide:][:n*t.wide])
			add(array.NewData(t.out.Field(len(cols)).Type, n, []*memory.Buffer{nil, b}, nil, 0, 0))
			b.Release()
		}
	}
	return array.NewRecordBatch(t.out, cols, int64(n))
}

// Drop forgets what is there. Its memory is given back, or once records made
// of it are released.
func (g *Gathered) Drop() {
	if g.slab == nil {
		return
	}
	g.slab.Release()
	g.slab, g.seen, g.rows, g.room = nil, g.rows, 0, 0
	g.rec, g.picked, g.want = nil, nil, 0
	clear(g.pieces)
	for _, c := range g.copies {
		if c != nil {
			c.end()
		}
	}
}
