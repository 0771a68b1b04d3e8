package feed

import (
	"context"
	"errors"
	"io"
	"sort"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stream"
)

// index is where the rows of a dataset can be read from. Rows are numbered
// through all objects; a unit's cursor holds that number, and nothing else, so
// that the order does not depend on how the numbers were found out.
type index struct {
	units []order.Unit
	seeks []seek
	exact bool // the format begins at any row
}

// seek is a place where reading can begin.
type seek struct {
	row int64
	at  stream.Cursor
}

const (
	// unitRows is the length of units where the format has no groups.
	unitRows = 4096
	// seekRows is the least between two places that are remembered.
	seekRows = 4096
)

// newIndex takes what the format knows, or else counts the rows.
func newIndex(ctx context.Context, r *run.Reading, share *mem.Budget) (*index, error) {
	x := new(index)
	if f, ok := r.Data().(format.Indexer); ok {
		x.take(f.Index())
	} else if err := x.count(ctx, r.Data(), share); err != nil {
		return nil, err
	}
	x.weigh(r)
	return x, nil
}

// take makes units of groups.
func (x *index) take(groups []format.Group) {
	x.exact = true
	row := int64(0)
	for _, g := range groups {
		x.add(row, g.Rows)
		x.seeks = append(x.seeks, seek{row, stream.Cursor{Object: g.Object, Row: g.Row}})
		row += g.Rows
	}
}

func (x *index) add(row, rows int64) {
	x.units = append(x.units, order.Unit{From: stream.Cursor{Row: row}, Rows: rows})
}

// count reads everything once.
func (x *index) count(ctx context.Context, d format.Dataset, share *mem.Budget) error {
	in, err := d.Open(ctx, share, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer in.Close()
	row, at := int64(0), stream.Cursor{}
	for {
		b, err := in.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if n := len(x.seeks); n == 0 || row-x.seeks[n-1].row >= seekRows {
			x.seeks = append(x.seeks, seek{row, at})
		}
		row, at = row+b.Rows(), b.After
		b.Release()
	}
	for from := int64(0); from < row; from += unitRows {
		x.add(from, min(unitRows, row-from))
	}
	return nil
}

// weigh gives every unit its part of the stored bytes: a number that does not
// depend on the columns that are chosen.
func (x *index) weigh(r *run.Reading) {
	var bytes, rows int64
	for _, o := range r.Objects() {
		bytes += o.Size
	}
	for _, u := range x.units {
		rows += u.Rows
	}
	for i := range x.units {
		u := &x.units[i]
		u.Bytes = int64(float64(bytes) / float64(rows) * float64(u.Rows))
	}
}

// find is where to begin to read row, and the rows to pass over.
func (x *index) find(row int64) (at stream.Cursor, skip int64) {
	i := sort.Search(len(x.seeks), func(i int) bool { return x.seeks[i].row > row }) - 1
	at, skip = x.seeks[i].at, row-x.seeks[i].row
	if x.exact {
		at.Row, skip = at.Row+skip, 0
	}
	return at, skip
}
