package shuffle

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/rows"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// errCrowded says that a row larger than a batch has no room beside the batches
// that are made ahead.
var errCrowded = errors.New("a row has no room beside others")

// maker is what a thread makes batches with.
type maker struct {
	decoder *rows.Decoder
	at      []int
}

// stretch is rows that come one after the other: about a batch, or several where
// they are larger than was to be expected.
type stretch struct {
	o    *ordered
	rows []entry
}

// stretches divides the rows that are to come, and works on n of them at a time.
func (o *ordered) stretches(n int) *stream.Ordered[maker, arrow.RecordBatch] {
	left := o.entries
	next := func(context.Context) (stream.Task[maker, arrow.RecordBatch], error) {
		if len(left) == 0 {
			return nil, io.EOF
		}
		// An eighth less than a batch holds of rows that are like the others: few
		// stretches leave a rest.
		k := min(len(left), mostRows, o.batch/8*7/o.mean+1)
		s := &stretch{o, left[:k]}
		left = left[k:]
		return s, nil
	}
	state := func() *maker { return &maker{o.form.NewDecoder(), make([]int, 0, mostRows)} }
	return stream.NewOrdered(n, n, next, state, arrow.RecordBatch.Release, &o.waits)
}

// Step makes a batch of the rows that come next.
func (s *stretch) Step(ctx context.Context, m *maker) (_ arrow.RecordBatch, last bool, err error) {
	n, size, err := m.fit(s.o, s.rows)
	if err != nil {
		return nil, false, err
	}
	b, err := s.o.memory(ctx, size)
	if err != nil {
		return nil, false, err
	}
	slab := stream.NewSlab(b)
	defer slab.Release()
	if err := m.decoder.Take(b.Bytes()); err != nil {
		return nil, false, err
	}
	s.rows = s.rows[n:]
	return m.decoder.Record(slab), len(s.rows) == 0, nil
}

// Drop has nothing to let go of.
func (s *stretch) Drop() {}

// fit finds how many rows a batch holds, at least one, and leaves them measured.
func (m *maker) fit(o *ordered, rows []entry) (n, size int, err error) {
	m.at = m.at[:0]
	for _, e := range rows {
		m.at = append(m.at, e.at)
	}
	for n = len(m.at); ; {
		if size, err = m.decoder.Measure(o.file.Bytes(), m.at[:n]); err != nil {
			return 0, 0, err
		}
		if size <= o.batch || n == 1 {
			return n, size, nil
		}
		n = max(1, min(n-1, int(float64(n)*float64(o.batch)/float64(size)*0.95)))
	}
}

// memory is that of a batch.
func (o *ordered) memory(ctx context.Context, size int) (*mem.Block, error) {
	switch {
	case o.few != nil && size <= o.batch:
		return o.few.Map(ctx, size)
	case o.few != nil:
		b, ok := o.share.TryMap(size)
		if !ok {
			return nil, errCrowded
		}
		return b, nil
	}
	b, err := beside(ctx, o.share, o.heap.Size()+int64(o.index.Cap()+o.file.Cap()), size)
	if err != nil {
		return nil, fmt.Errorf("a batch of %s: %w", mem.Format(int64(size)), err)
	}
	return b, nil
}
