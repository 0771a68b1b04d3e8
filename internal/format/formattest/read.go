package formattest

import (
	"context"
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

var start stream.Cursor

// reading is one reading of the dataset from plan to close.
type reading struct {
	o     *objects
	ds    format.Dataset
	limit int64
	share *mem.Budget
	s     stream.Stream
}

// plan plans with a setting's options.
func (c *Case) plan(t *testing.T, s setting) *reading {
	t.Helper()
	o := &objects{files: c.Files, names: c.Names, remote: s.remote}
	ds, err := c.Format.Plan(t.Context(), o.source(), c.options(s))
	if err != nil {
		t.Fatalf("%s: plan: %v", s, err)
	}
	if n := o.open.Load(); n != 0 {
		t.Fatalf("%s: %d objects left open by Plan", s, n)
	}
	return &reading{o: o, ds: ds, limit: s.budget(ds.Floor())}
}

func (c *Case) options(s setting) format.Options {
	o := c.Options
	o.BatchRows, o.Threads = s.batch, s.threads
	return o
}

// open begins with a budget of its own.
func (r *reading) open(t *testing.T, from stream.Cursor) {
	t.Helper()
	r.share = mem.New(r.limit)
	s, err := r.ds.Open(t.Context(), r.share, from, nil)
	if err != nil {
		t.Fatalf("open at %+v with %s of %s: %v", from, mem.Format(r.limit), mem.Format(r.ds.Floor()), err)
	}
	r.s = s
}

// rest reads to the end and returns the cursors; at is the row it begins with.
func (r *reading) rest(t *testing.T, w *rows, at int) []stream.Cursor {
	t.Helper()
	w.checkSchema(t, r.s.Schema())
	var out []stream.Cursor
	for {
		b, err := r.s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("at row %d: %v", at, err)
		}
		if b.Rows() == 0 {
			t.Fatalf("an empty batch at row %d", at)
		}
		if b.After != r.s.Cursor() {
			t.Fatalf("the batch ends at %+v, the stream's cursor is %+v", b.After, r.s.Cursor())
		}
		w.check(t, b.Record, at)
		at += int(b.Rows())
		out = append(out, b.After)
		b.Release()
	}
	if at != w.n {
		t.Fatalf("%d rows, want %d", at, w.n)
	}
	return out
}

// close closes, twice, and holds that nothing is left.
func (r *reading) close(t *testing.T) {
	t.Helper()
	for range 2 {
		if err := r.s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	r.check(t)
}

// check holds that nothing is left.
func (r *reading) check(t *testing.T) {
	t.Helper()
	if r.share != nil {
		if n := r.share.Leased(); n != 0 {
			t.Errorf("%s still leased", mem.Format(n))
		}
		if n := r.share.Used(); n != 0 {
			t.Errorf("%s still carved or used", mem.Format(n))
		}
		if p := r.share.Peak(); p > r.limit {
			t.Errorf("peak %s of %s", mem.Format(p), mem.Format(r.limit))
		}
		r.share.Trim()
	}
	if n := r.o.open.Load(); n != 0 {
		t.Errorf("%d objects left open", n)
	}
}

// noGoroutineLeft notes how many goroutines there are; the function it returns
// holds that there are no more.
func noGoroutineLeft(t *testing.T) func() {
	before := runtime.NumGoroutine()
	return func() {
		t.Helper()
		// One that has done its work may still be on its way out.
		for range 100_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			runtime.Gosched()
		}
		buf := make([]byte, 64<<10)
		t.Errorf("goroutines are left, %d instead of %d:\n%s",
			runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
	}
}

// floor: that much suffices, less does not.
func (c *Case) floor(t *testing.T, w *rows) {
	for _, threads := range []int{1, 4} {
		r := c.plan(t, setting{threads: threads, budget: exactly})
		for _, less := range []int64{1, r.limit / 2, r.limit - 1} {
			share := mem.New(r.limit - less)
			s, err := r.ds.Open(t.Context(), share, start, nil)
			if err == nil {
				s.Close()
			}
			small, ok := errors.AsType[*mem.TooSmallError](err)
			if !ok || !errors.Is(err, mem.ErrTooSmall) {
				t.Fatalf("%d bytes below the floor: %v", less, err)
			}
			if small.Need != r.limit {
				t.Errorf("%d bytes below the floor: it asks for %d, the floor is %d", less, small.Need, r.limit)
			}
			if share.Used() != 0 || share.Leased() != 0 {
				t.Errorf("%d bytes used by what was refused", share.Used())
			}
		}
		r.open(t, start)
		r.rest(t, w, 0)
		r.close(t)
	}
}

// stopped says that err is what a cancelled context gives.
func stopped(err error) bool { return errors.Is(err, context.Canceled) }
