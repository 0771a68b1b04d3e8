package formattest

import (
	"context"
	"errors"
	"io"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// few are the settings for what takes a reading a row.
func few(rows int) []setting {
	size := max(1, rows/9)
	return []setting{
		{batch: size, threads: 1, budget: exactly},
		{batch: size, threads: 1, budget: budgets[2]},
		{batch: size, threads: 2, budget: plenty},
		{batch: size, threads: 4, budget: exactly, remote: true},
		{batch: size, threads: 3, budget: plenty, remote: true},
	}
}

// resume: a stream reopened behind any batch gives exactly the rest.
func (c *Case) resume(t *testing.T, w *rows) {
	defer noGoroutineLeft(t)()
	for _, s := range append(few(w.n), setting{batch: 1, threads: 1, budget: budgets[2]}, setting{threads: 2, budget: exactly}) {
		r := c.plan(t, s)
		r.open(t, start)
		cursors := r.rest(t, w, 0)
		r.close(t)
		// At most some fifty of them: each costs a reading.
		step := 1 + len(cursors)/50
		for i := 0; i < len(cursors); i += step {
			at := w.rowAt(t, c, cursors[i])
			r.open(t, cursors[i])
			if r.s.Cursor() != cursors[i] {
				t.Errorf("opened at %+v, the cursor is %+v", cursors[i], r.s.Cursor())
			}
			r.rest(t, w, at)
			r.close(t)
			if t.Failed() {
				t.Fatalf("%s: from %+v", s, cursors[i])
			}
		}
	}
}

// rowAt is the row of the whole dataset that a cursor stands before.
func (w *rows) rowAt(t *testing.T, c *Case, at stream.Cursor) int {
	t.Helper()
	if at.Object == 0 {
		return int(at.Row)
	}
	for len(w.before) <= at.Object {
		n := len(w.before)
		w.before = append(w.before, w.before[n-1]+c.count(t, n-1))
	}
	return w.before[at.Object] + int(at.Row)
}

// count reads the rows of the file i alone.
func (c *Case) count(t *testing.T, i int) int {
	t.Helper()
	if c.Rows != nil {
		return c.Rows[i]
	}
	r := c.with(c.Files[i]).plan(t, setting{budget: plenty})
	r.open(t, start)
	defer r.close(t)
	for n := 0; ; {
		b, err := r.s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n
		}
		if err != nil {
			t.Fatal(err)
		}
		n += int(b.Rows())
		b.Release()
	}
}

// pull takes up to n batches, which it returns.
func (r *reading) pull(t *testing.T, n int) []*stream.Batch {
	t.Helper()
	var out []*stream.Batch
	for range n {
		b, err := r.s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		// One is kept: more than that a reader need not pay for.
		if len(out) > 0 {
			out[len(out)-1].Release()
		}
		out = append(out, b)
	}
	return out
}

// closeEverywhere: the last batch stays the consumer's after Close.
func (c *Case) closeEverywhere(t *testing.T, w *rows) {
	for _, s := range few(w.n) {
		r := c.plan(t, s)
		for n := 0; ; n++ {
			left := noGoroutineLeft(t)
			r.open(t, start)
			got := r.pull(t, n)
			if err := r.s.Close(); err != nil {
				t.Fatal(err)
			}
			left()
			if _, err := r.s.Next(t.Context()); err == nil {
				t.Fatal("Next after Close gave a batch")
			}
			if len(got) > 0 {
				last := got[len(got)-1]
				w.check(t, last.Record, w.rowAt(t, c, last.After)-int(last.Rows()))
				if r.share.Used() == 0 {
					t.Error("a batch that nobody pays for")
				}
				last.Release()
			}
			r.close(t)
			if t.Failed() {
				t.Fatalf("%s: closed after %d batches", s, n)
			}
			if len(got) < n {
				break
			}
		}
	}
}

// cancelEverywhere ends the context before every Next.
func (c *Case) cancelEverywhere(t *testing.T, w *rows) {
	for _, s := range few(w.n) {
		r := c.plan(t, s)
		for n := 0; ; n++ {
			left := noGoroutineLeft(t)
			r.open(t, start)
			got := r.pull(t, n)
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			b, err := r.s.Next(ctx)
			if err == nil {
				b.Release() // it was there already
			} else if !stopped(err) && !errors.Is(err, io.EOF) {
				t.Errorf("cancelled: %v", err)
			}
			if len(got) > 0 {
				got[len(got)-1].Release()
			}
			r.close(t)
			left()
			if t.Failed() {
				t.Fatalf("%s: cancelled after %d batches", s, n)
			}
			if len(got) < n {
				break
			}
		}
	}
}

// failEverywhere lets the n-th read fail, or end the context, from the plan
// on: the first reads all, of the many later ones some.
func (c *Case) failEverywhere(t *testing.T) {
	for _, s := range few(20) {
		for _, cancels := range []bool{false, true} {
			for n := int64(0); c.failAt(t, s, n, cancels); n += 1 + n/16 {
				if t.Failed() {
					t.Fatalf("%s: read %d, cancels %v", s, n, cancels)
				}
			}
		}
	}
}

// failAt is false when there are fewer reads.
func (c *Case) failAt(t *testing.T, s setting, n int64, cancels bool) bool {
	t.Helper()
	defer noGoroutineLeft(t)()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	hit := false
	o := &objects{files: c.Files, names: c.Names, remote: s.remote}
	o.at = func(read int64) error {
		if read != n {
			return nil
		}
		hit = true
		if cancels {
			cancel()
			return ctx.Err()
		}
		return errStore
	}
	err := c.readAll(ctx, t, o, s)
	switch {
	case err == nil && !hit:
		return false
	case err == nil && s.remote:
		return true // read ahead, and read again when it was needed
	case err == nil && cancels:
		return true // all had been read by then
	case err == nil:
		t.Error("a failed read was not noticed")
	case cancels && !stopped(err), !cancels && !errors.Is(err, store.ErrStore):
		t.Errorf("the store's error was lost: %v", err)
	}
	return true
}

// readAll reads everything once; a budget that is too small is one error of
// many here.
func (c *Case) readAll(ctx context.Context, t *testing.T, o *objects, s setting) error {
	t.Helper()
	r := &reading{o: o}
	defer r.check(t)
	ds, err := c.Format.Plan(ctx, o.source(), c.options(s))
	if err != nil {
		return err
	}
	if ds.Floor() > 1<<28 {
		return mem.ErrTooSmall
	}
	r.limit = s.budget(ds.Floor())
	r.share = mem.New(r.limit)
	if r.s, err = ds.Open(ctx, r.share, start, nil); err != nil {
		return err
	}
	defer r.s.Close()
	// A damaged file may claim any number of rows.
	for range 10_000 {
		b, err := r.s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		b.Release()
	}
	return nil
}
