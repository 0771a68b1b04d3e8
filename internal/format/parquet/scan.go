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

// scan is a stream over the row groups of all files of a dataset, or over
// every strideth of them.
type scan struct {
	ds     *dataset
	share  *mem.Budget
	own    *mem.Budget // share, if it was carved for this scan
	slabs  *mem.Budget // batches
	pages  *mem.Budget // dictionaries, pages, decompressors
	giant  *mem.Budget // rows larger than a slab
	ahead  *mem.Budget // what is read ahead from remote objects
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

	nextAhead *readahead // of row group nextIndex
	nextIndex int

	lane, stride int // reads row groups number lane, lane+stride, … of those with rows
	number       int // of the next row group with rows
}

// estimate is what a leaf's last batch was like.
type estimate struct {
	entries float64 // a row
	bytes   float64 // an entry
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
	if s.closed {
		return nil, io.ErrClosedPipe
	}
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
	return &stream.Batch{Record: rec, After: s.cursor, Last: s.group.rows == 0}, nil
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
			s.number++
			if (s.number-1)%s.stride != s.lane {
				continue
			}
			return s.enter(ctx, s.nextGroup-1, first, rows)
		}
		s.dropNext()
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
	s.cursor.Row = max(first, s.skip)
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
		return damaged("parquet: %s: a cursor at row %d, the file has %d", f.name, s.skip, f.meta.Rows)
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

// dropNext ends reading ahead into a row group that will not be opened.
func (s *scan) dropNext() {
	if s.nextAhead != nil {
		s.nextAhead.close()
		s.nextAhead = nil
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
	s.dropNext()
	s.file.close()
	s.ahead.Close()
	s.pages.Close()
	s.giant.Close()
	s.slabs.Close()
	s.own.Close()
	return nil
}
