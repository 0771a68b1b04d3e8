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

	in   stream.Stream // nil: none is open
	b    *stream.Batch // with rows left; nil: none
	used int           // of its rows
	row  int64         // the number of the next one
}

// read hands n rows from a number on to use, in order.
func (r *reader) read(ctx context.Context, row, n int64, use func(arrow.RecordBatch) error) error {
	began := time.Now()
	defer func() { r.stats.reading.Add(int64(time.Since(began))) }()
	skip := int64(0)
	if r.in == nil || r.row != row {
		r.close()
		at, behind := r.index.find(row)
		in, err := r.data.Open(ctx, r.share, at, nil)
		if err != nil {
			return err
		}
		r.in, r.row, skip = in, row-behind, behind
	}
	for n > 0 {
		k, err := r.some(ctx, skip, n, use)
		if err != nil {
			r.close()
			return err
		}
		skip, n = max(0, skip-k), n-max(0, k-skip)
	}
	return nil
}

// some goes on by rows of one batch: those to skip, and at most n to use.
func (r *reader) some(ctx context.Context, skip, n int64, use func(arrow.RecordBatch) error) (int64, error) {
	if r.b == nil {
		b, err := r.in.Next(ctx)
		if errors.Is(err, io.EOF) {
			return 0, format.Error(format.ErrData, "the data has fewer rows than when it was counted: it was changed")
		}
		if err != nil {
			return 0, err
		}
		r.b, r.used = b, 0
	}
	left := r.b.Rows() - int64(r.used)
	k := min(left, skip+n)
	if from := min(skip, k); from < k {
		rec := r.b.Record.NewSlice(int64(r.used)+from, int64(r.used)+k)
		err := use(rec)
		rec.Release()
		if err != nil {
			return 0, err
		}
	}
	r.used += int(k)
	r.row += k
	if k == left {
		r.b.Release()
		r.b = nil
	}
	return k, nil
}

func (r *reader) close() {
	if r.b != nil {
		r.b.Release()
		r.b = nil
	}
	if r.in != nil {
		r.in.Close()
		r.in = nil
	}
}
