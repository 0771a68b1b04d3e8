package feed

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// reader reads runs of rows, one after the other. It stays where it is: rows
// that follow on those before are read without beginning anew.
type reader struct {
	data  format.Dataset
	index *index
	share *mem.Budget
	stats *stats

	in  *stream.Walk // nil: none is open
	row int64        // the number of the next one
}

// read hands n rows from a number on to use, in order.
func (r *reader) read(ctx context.Context, row, n int64, use func(arrow.RecordBatch) error) error {
	began := time.Now()
	defer func() { r.stats.reading.Add(int64(time.Since(began))) }()
	if err := r.seek(ctx, row); err != nil {
		return err
	}
	for n > 0 {
		skip := row - r.row
		k, err := r.in.Step(ctx, skip, n, func(b *stream.Batch, _ stream.Cursor, from, n int) error {
			rec := b.Record.NewSlice(int64(from), int64(from+n))
			defer rec.Release()
			return use(rec)
		})
		if errors.Is(err, io.EOF) {
			err = format.Error(format.ErrData, "the data has fewer rows than when it was counted: it was changed")
		}
		if err != nil {
			r.close()
			return err
		}
		r.row += k
		used := max(0, k-skip)
		row, n = row+used, n-used
	}
	return nil
}

// seek begins to read at row, or at a place before it from which it is found.
func (r *reader) seek(ctx context.Context, row int64) error {
	if r.in != nil && r.row == row {
		return nil
	}
	r.close()
	at, behind := r.index.find(row)
	in, err := r.data.Open(ctx, r.share, at, nil)
	if err != nil {
		return err
	}
	r.in, r.row = stream.NewWalk(in, at), row-behind
	return nil
}

func (r *reader) close() {
	if r.in != nil {
		r.in.Close()
		r.in = nil
	}
}
