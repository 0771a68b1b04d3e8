package arrow

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// scan reads every stride-th record batch that has rows.
type scan struct {
	ds     *dataset
	waits  *stream.Waits
	share  *mem.Budget
	slabs  *mem.Budget // of batches
	held   *mem.Budget // of a compressed batch that is given out as copies
	target int64       // bytes of a slab
	heap   *mem.Lease
	kept   *mem.Lease

	heldLimit  int64
	scratch    *mem.Block
	bodies     bodies
	dictReader dictReader
	dicts      map[int64]*dictionary

	lane, stride int
	turn         int // record batches passed
	object       int
	skip         int64 // rows of the object before the first
	file         *file
	index        *index
	next         int // record batch to look at
	dict         int // dictionary to read next

	cur    current
	cursor stream.Cursor
	err    error
	closed bool
}

// current is the record batch that is being given out.
type current struct {
	batch  batch
	number int
	first  int64             // rows of the object before it
	row    int64             // rows of it given out
	rows   int64             // all
	whole  arrow.RecordBatch // if not nil, where they are
	block  *mem.Block        // the decompressed buffers, where slices are copies
	fit    int64             // rows that most likely fit a slab
}

func (s *scan) Schema() *arrow.Schema { return s.ds.schema }
func (s *scan) Cursor() stream.Cursor { return s.cursor }

// Next gives the rest of the current record batch, or goes on to the next.
func (s *scan) Next(ctx context.Context) (*stream.Batch, error) {
	if s.closed {
		return nil, io.ErrClosedPipe
	}
	for s.err == nil {
		c := &s.cur
		if c.row == c.rows {
			s.err = s.advance(ctx)
			continue
		}
		rec, err := s.give(ctx)
		if err != nil {
			s.err = s.place(err)
			break
		}
		c.row += rec.NumRows()
		last := c.row == c.rows
		if last {
			c.drop()
		}
		s.cursor = stream.Cursor{Object: s.object, Row: c.first + c.row}
		return &stream.Batch{Record: rec, After: s.cursor, Last: last}, nil
	}
	return nil, s.err
}

// place says where an error is.
func (s *scan) place(err error) error {
	if s.file == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return inFile(s.file.name, fmt.Errorf("record batch %d: %w", s.cur.number, err))
}

// drop lets go of the record batch.
func (c *current) drop() {
	if c.whole != nil {
		c.whole.Release()
	}
	c.block.Free()
	c.whole, c.block = nil, nil
}

// advance goes to the next record batch that is this lane's.
func (s *scan) advance(ctx context.Context) error {
	for {
		if s.file == nil {
			if err := s.openNext(ctx); err != nil {
				return err
			}
		}
		for ; s.next < s.index.count(); s.next++ {
			done := s.skip - s.index.batches[s.next].before
			if s.index.rows(s.next) <= max(done, 0) {
				continue
			}
			mine := s.turn%s.stride == s.lane
			s.turn++
			if !mine {
				continue
			}
			s.cur.number = s.next
			if err := s.begin(ctx, s.next, max(done, 0)); err != nil {
				return s.place(err)
			}
			s.next++
			return nil
		}
		s.closeFile()
		s.object, s.skip = s.object+1, 0
	}
}

// openNext opens the object that is next.
func (s *scan) openNext(ctx context.Context) error {
	if s.object >= len(s.ds.src.Objects) {
		return io.EOF
	}
	f, err := open(ctx, s.ds.src.Store, s.ds.src.Objects[s.object], s.waits)
	if err != nil {
		return err
	}
	s.file, s.bodies.r = f, f.r
	if s.index, err = s.ds.index(ctx, s.object, f); err != nil {
		return inFile(f.name, err)
	}
	f.footer, f.dicts, f.batches = nil, vector{}, vector{}
	s.next, s.dict = 0, 0
	return nil
}

func (s *scan) closeFile() {
	for id, d := range s.dicts {
		d.data.Release()
		delete(s.dicts, id)
	}
	s.file.close()
	s.file, s.index = nil, nil
}

// begin reads the description of the i-th record batch, the dictionaries that
// come before it, and all of it, if it is not too large for that.
func (s *scan) begin(ctx context.Context, i int, done int64) error {
	var m message
	for x := s.index; s.dict < len(x.dicts) && x.dicts[s.dict].batch <= i; s.dict++ {
		if err := s.file.peek.message(ctx, x.dicts[s.dict].at, &m); err != nil {
			return err
		}
		if err := s.dictReader.load(ctx, x.schema, &m, s.dicts); err != nil {
			return err
		}
	}
	if err := s.file.peek.message(ctx, s.index.batches[i].at, &m); err != nil {
		return err
	}
	c := &s.cur
	if err := c.batch.parse(&m, m.head, s.index.schema.fields, s.index.columns); err != nil {
		return err
	}
	if c.batch.rows != s.index.rows(i) {
		return damaged("it has %d rows, it had %d", c.batch.rows, s.index.rows(i))
	}
	if err := s.bodies.measure(ctx, &c.batch); err != nil {
		return err
	}
	c.first, c.row, c.rows = s.index.batches[i].before, done, c.batch.rows
	room := c.batch.room()
	compressed := c.batch.codec != codec.None
	if room <= s.target || compressed && blockSize64(room) <= s.slabs.Limit()/2 {
		s.want(i + s.stride)
		return s.whole(ctx, room)
	}
	c.fit = max(1, int64(float64(s.target)*7/8*float64(c.rows)/float64(room)))
	if !compressed {
		return nil
	}
	if blockSize64(room) > s.heldLimit {
		return &mem.TooSmallError{Share: "a compressed batch", Need: s.ds.Floor() + blockSize64(room), Limit: s.share.Limit()}
	}
	var err error
	if c.block, err = s.held.Map(ctx, int(room)); err != nil {
		return err
	}
	return s.bodies.fill(ctx, &c.batch, c.block.Bytes())
}

// want says that the i-th record batch is read soon.
func (s *scan) want(i int) {
	if b := s.index.batches; i+1 < s.index.count() {
		s.file.r.Want(b[i].at, min(max(b[i+1].at-b[i].at, 0), slabMost))
	}
}

// whole reads the record batch to where it stays.
func (s *scan) whole(ctx context.Context, room int64) error {
	block, err := s.slabs.Map(ctx, int(max(room, 1)))
	if err != nil {
		return err
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	c := &s.cur
	if err := s.bodies.fill(ctx, &c.batch, block.Bytes()); err != nil {
		return err
	}
	l := &loader{ctx: ctx, whole: true, dicts: s.dicts}
	c.whole, err = l.record(&c.batch, s.ds.schema, 0, c.rows, slab)
	return err
}

// give makes the next rows of the current record batch a record.
func (s *scan) give(ctx context.Context) (arrow.RecordBatch, error) {
	c := &s.cur
	n := c.rows - c.row
	if most := s.ds.opt.BatchRows; most > 0 {
		n = min(n, int64(most))
	} else {
		n = min(n, recordMost)
	}
	if c.whole == nil {
		return s.slice(ctx, n)
	}
	return c.whole.NewSlice(c.row, c.row+n), nil
}

// recordMost is the most rows of a batch unless the user asks for more: types
// that take no memory could have any number.
const recordMost = 1 << 20

// slice copies up to n rows to a slab: as many as fit, at least one.
func (s *scan) slice(ctx context.Context, n int64) (arrow.RecordBatch, error) {
	c := &s.cur
	n = min(n, c.fit)
	size := s.target
	for {
		// Bitmaps that begin with a byte need no moving.
		if end := (c.row + n) &^ 63; n > 64 && c.row+n < c.rows && s.ds.opt.BatchRows == 0 {
			n = end - c.row
		}
		rec, used, err := s.trySlice(ctx, n, size)
		if err == nil {
			c.fit = max(1, int64(float64(n)*float64(size)*7/8/float64(max(used, 1))))
			return rec, nil
		}
		most := blockWithin(s.slabs.Limit() / 2)
		switch {
		case !errors.Is(err, errRoom):
			return nil, err
		case n > 1:
			n /= 2
		case size < most:
			size = min(2*size, most)
		default:
			return nil, &mem.TooSmallError{Share: fmt.Sprintf("row %d", c.first+c.row), Need: 2*s.share.Limit() + size, Limit: s.share.Limit()}
		}
	}
}

func (s *scan) trySlice(ctx context.Context, n, size int64) (rec arrow.RecordBatch, used int, err error) {
	block, err := s.slabs.Map(ctx, int(size))
	if err != nil {
		return nil, 0, err
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	l := &loader{ctx: ctx, r: s.file.r, room: block.Bytes(), dicts: s.dicts}
	rec, err = l.record(&s.cur.batch, s.ds.schema, s.cur.row, n, slab)
	return rec, l.used, err
}

// Close gives everything back but what the caller's batches hold.
func (s *scan) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.cur.drop()
	s.closeFile()
	if s.bodies.pool != nil {
		s.bodies.pool.Close()
	}
	s.scratch.Free()
	for _, b := range []*mem.Budget{s.slabs, s.held, s.dictReader.budget} {
		b.Close()
	}
	s.heap.Release()
	s.kept.Release()
	s.share.Close()
	return nil
}
