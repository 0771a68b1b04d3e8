package stream

import (
	"context"
	"errors"
	"io"
	"testing"
	"testing/synctest"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// count is a stream of n batches of one row, which ends with err.
type count struct {
	n, at  int
	err    error
	gate   chan struct{} // if not nil, a batch waits for it or the context
	live   *memory.CheckedAllocator
	closed int
}

var countSchema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

func newCount(n int, err error) *count {
	return &count{n: n, err: err, live: memory.NewCheckedAllocator(memory.DefaultAllocator)}
}

func (c *count) Schema() *arrow.Schema { return countSchema }
func (c *count) Cursor() Cursor        { return Cursor{Row: int64(c.at)} }
func (c *count) Close() error          { c.closed++; return nil }

func (c *count) Next(ctx context.Context) (*Batch, error) {
	if c.gate != nil {
		select {
		case <-c.gate:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if c.at == c.n {
		return nil, c.err
	}
	b := array.NewInt64Builder(c.live)
	defer b.Release()
	b.Append(int64(c.at))
	col := b.NewArray()
	defer col.Release()
	c.at++
	return &Batch{Record: array.NewRecordBatch(countSchema, []arrow.Array{col}, 1), After: c.Cursor()}, nil
}

// value is the only one of b.
func value(b *Batch) int64 { return b.Record.Column(0).(*array.Int64).Value(0) }

// take pulls n batches and checks them.
func take(t *testing.T, s Stream, from, n int) {
	t.Helper()
	for i := range n {
		b, err := s.Next(t.Context())
		if err != nil {
			t.Fatalf("batch %d: %v", from+i, err)
		}
		if v := value(b); v != int64(from+i) || s.Cursor().Row != v+1 || b.After.Row != v+1 {
			t.Fatalf("batch %d has %d, cursor %+v, after %+v", from+i, v, s.Cursor(), b.After)
		}
		b.Release()
	}
}

func TestPrefetchKeepsOrderAndPassesTheEnd(t *testing.T) {
	for _, end := range []error{io.EOF, errors.New("torn")} {
		for _, depth := range []int{0, 1, 5} {
			synctest.Test(t, func(t *testing.T) {
				in := newCount(20, end)
				defer in.live.AssertSize(t, 0)
				s := Prefetch(in, depth, new(Waits))
				if s.Cursor() != (Cursor{}) || !s.Schema().Equal(countSchema) {
					t.Errorf("cursor %+v, schema %v", s.Cursor(), s.Schema())
				}
				take(t, s, 0, 20)
				for range 3 {
					if b, err := s.Next(t.Context()); b != nil || err != end {
						t.Errorf("%v, %v at the end, want %v", b, err, end)
					}
				}
				if s.Cursor().Row != 20 {
					t.Errorf("cursor %+v at the end", s.Cursor())
				}
				s.Close()
			})
		}
	}
}

// TestPrefetchRunsAhead: depth batches wait, and one more is in the making.
func TestPrefetchRunsAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newCount(20, io.EOF)
		defer in.live.AssertSize(t, 0)
		s := Prefetch(in, 3, new(Waits))
		synctest.Wait()
		if in.at != 4 {
			t.Errorf("%d batches were made, want 4", in.at)
		}
		if s.Cursor().Row != 0 {
			t.Errorf("cursor %+v before the first Next", s.Cursor())
		}
		s.Close()
	})
}

func TestPrefetchCloseAtEveryPointReleasesBatches(t *testing.T) {
	for n := range 8 {
		for _, settle := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				in := newCount(6, io.EOF)
				defer in.live.AssertSize(t, 0)
				s := Prefetch(in, 2, new(Waits))
				take(t, s, 0, min(n, 6))
				if n > 6 {
					if _, err := s.Next(t.Context()); err != io.EOF {
						t.Fatal(err)
					}
				}
				if settle {
					synctest.Wait()
				}
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if err := s.Close(); err != nil || in.closed != 1 {
					t.Errorf("second Close: %v; upstream was closed %d times", err, in.closed)
				}
				if _, err := s.Next(t.Context()); err == nil || err == io.EOF {
					t.Errorf("Next after Close: %v", err)
				}
			})
		}
	}
}

func TestPrefetchNextEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := newCount(6, io.EOF)
		in.gate = make(chan struct{})
		defer in.live.AssertSize(t, 0)
		s := Prefetch(in, 1, new(Waits))
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		go func() { _, err = s.Next(ctx) }()
		synctest.Wait()
		cancel()
		synctest.Wait()
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v", err)
		}
		// The producer still stands at the gate; Close ends it.
		s.Close()
	})
}

func TestBatchIsReleasedOnce(t *testing.T) {
	in := newCount(1, io.EOF)
	b, err := in.Next(t.Context())
	if err != nil || b.Rows() != 1 {
		t.Fatal(err)
	}
	b.Release()
	b.Release()
	(*Batch)(nil).Release()
	in.live.AssertSize(t, 0)
}
