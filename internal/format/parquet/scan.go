package parquet

import (
	"context"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// slabMost is the largest slab unless the user asks for larger batches.
	slabMost = 2 << 20
	// rowsMost is the largest batch unless the user asks for larger ones.
	rowsMost = 64 << 10
)

// scan is the stream over all files of a dataset.
type scan struct {
	ds     *dataset
	share  *mem.Budget
	slabs  *mem.Budget // batches
	pages  *mem.Budget // dictionaries, pages, decompressors
	giant  *mem.Budget // rows larger than a slab
	pool   *stream.Pool[worker]
	waits  *stream.Waits
	ctx    context.Context // ends with Close
	cancel context.CancelFunc

	slabSize  int
	estimates []estimate
	chunks    []meta.Chunk

	object    int // next to open, or open
	file      *file
	nextGroup int
	group     *group
	groupRows int64
	skip      int64 // rows of the object to pass over
	cursor    stream.Cursor
	closed    bool
}

// estimate is what a leaf's last batch was like.
type estimate struct {
	entries float64 // a row
	bytes   float64 // an entry
}

// Open reads the dataset from a cursor on.
func (d *dataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	if floor := d.Floor(); share.Limit() < floor {
		return nil, &mem.TooSmallError{Share: "reading", Need: floor, Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	threads := max(1, d.opt.Threads)
	s := &scan{ds: d, share: share, waits: waits, object: from.Object, skip: from.Row, cursor: from}
	count := slabCount(threads)
	free := share.Limit() - d.needs.meta - d.needs.pages - d.needs.giant
	most := int64(slabMost) * int64(min(threads, 4))
	if d.opt.BatchRows > 0 && d.info.Rows > 0 {
		want := d.info.InMemory / d.info.Rows * int64(d.opt.BatchRows) * 5 / 4
		most = max(most, min(want, share.Limit()/(2*count)))
	}
	size := max(min(free/(2*count), most), int64(mem.BlockSize(int(d.needs.slab))))
	s.slabSize = int(size)
	for mem.BlockSize(s.slabSize) > int(size) {
		s.slabSize -= 4096
	}
	s.slabSize = max(s.slabSize, int(d.needs.slab))
	for _, part := range []struct {
		b    **mem.Budget
		name string
		n    int64
	}{
		{&s.slabs, "batches", count * int64(mem.BlockSize(s.slabSize))},
		{&s.giant, "rows", d.needs.giant},
	} {
		b, err := share.Carve(part.name, part.n)
		if err != nil {
			s.Close()
			return nil, err
		}
		*part.b = b
	}
	pages, err := share.Carve("pages", share.Limit()-s.slabs.Limit()-s.giant.Limit()-d.needs.meta)
	if err != nil {
		s.Close()
		return nil, err
	}
	s.pages = pages
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.pool = stream.NewPool(threads, newWorker)
	if threads == 1 {
		return s, nil
	}
	return stream.Prefetch(s, 1, waits), nil
}

// depth is how many pages of each leaf are loaded ahead: some where there are
// too few columns to keep all threads busy.
func (s *scan) depth(leaves int) int {
	t := s.pool.Threads()
	if t == 1 || leaves >= 4*t {
		return 0
	}
	return t + 1
}

func (s *scan) Schema() *arrow.Schema { return s.ds.schema }

func (s *scan) Cursor() stream.Cursor { return s.cursor }

// Next returns the next batch.
func (s *scan) Next(ctx context.Context) (*stream.Batch, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.group == nil {
			if err := s.advance(ctx); err != nil {
				return nil, err
			}
		}
		if s.group.rows > 0 {
			break
		}
		s.group.close()
		s.group = nil
	}
	limit := s.ds.opt.BatchRows
	if limit <= 0 {
		limit = rowsMost
	}
	rec, err := s.group.next(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("parquet: %s: row group %d, %w", s.file.name, s.nextGroup-1, err)
	}
	s.cursor.Row += rec.NumRows()
	return &stream.Batch{Record: rec, After: s.cursor}, nil
}

// advance opens the next row group that has rows to read.
func (s *scan) advance(ctx context.Context) error {
	for {
		if s.file == nil {
			if s.object >= len(s.ds.src.Objects) {
				return io.EOF
			}
			if err := s.openFile(ctx); err != nil {
				return err
			}
		}
		if s.nextGroup < s.file.meta.Groups() {
			first, rows := s.file.meta.Group(s.nextGroup)
			s.nextGroup++
			if rows == 0 || first+rows <= s.skip {
				continue
			}
			return s.enter(ctx, s.nextGroup-1, first, rows)
		}
		s.file.close()
		s.file = nil
		s.object++
		s.skip = 0
	}
}

// enter opens row group i and passes over the rows before the cursor.
func (s *scan) enter(ctx context.Context, i int, first, rows int64) error {
	s.groupRows = rows
	g, err := s.openGroup(ctx, i)
	if err != nil {
		return err
	}
	s.group = g
	if s.skip > first {
		if err := g.pass(ctx, s.skip-first); err != nil {
			return fmt.Errorf("parquet: %s: row group %d, %w", s.file.name, i, err)
		}
	}
	return nil
}

func (s *scan) openFile(ctx context.Context) error {
	f, err := s.ds.open(ctx, s.object, s.share, s.waits)
	if err != nil {
		return err
	}
	s.file, s.nextGroup = f, 0
	if len(s.estimates) != len(f.leaves) {
		s.estimates = make([]estimate, len(f.leaves))
	}
	if s.cursor.Object != s.object {
		s.cursor = stream.Cursor{Object: s.object}
	}
	if s.skip > f.meta.Rows {
		return fmt.Errorf("parquet: %s: %w: a cursor at row %d, the file has %d", f.name, errData, s.skip, f.meta.Rows)
	}
	return nil
}

// observe learns from a decoded batch how large the next one will be.
func (s *scan) observe(regions []region) {
	for i := range regions {
		r := &regions[i]
		if r.starts == 0 {
			continue
		}
		e := &s.estimates[i]
		e.entries = float64(r.entries) / float64(r.starts)
		if r.entries > 0 {
			e.bytes = float64(r.col.end) / float64(r.entries)
		}
	}
}

// Close ends the scan.
func (s *scan) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	if s.group != nil {
		s.group.close()
	}
	if s.pool != nil {
		s.pool.Close()
	}
	s.file.close()
	s.pages.Close()
	s.giant.Close()
	s.slabs.Close()
	return nil
}
