package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// Sink takes batches. Write borrows the batch: the caller releases it. After
// the last Write exactly one of Close and Abort is called; Close makes what
// was written permanent, or leaves nothing behind where it fails, as Abort
// does.
type Sink interface {
	Write(*stream.Batch) error
	Close() error
	Abort()
}

// Digester is a Sink that knows a digest of all rows once it is closed.
type Digester interface{ Digest() string }

// Target is where batches will go, before there is memory for it. It looks at
// the schema and at the place, and refuses with format.ErrUsage what cannot
// be; it leaves nothing behind that would have to be undone.
type Target func(context.Context, *arrow.Schema) (Prepared, error)

// Prepared is a sink that waits for its memory.
type Prepared struct {
	// Least is what it cannot do without, Most what makes it faster; bytes.
	Least, Most int64
	// Open begins. The share, of Least bytes or more, is the sink's alone
	// until it was closed or aborted; the context is that of all its work.
	Open func(ctx context.Context, share *mem.Budget) (Sink, error)
}

// Ready prepares a sink that needs no memory to speak of.
func Ready(s Sink) Prepared {
	return Prepared{Open: func(context.Context, *mem.Budget) (Sink, error) { return s, nil }}
}

// Both sends every batch to all targets in turn.
func Both(targets ...Target) Target {
	return func(ctx context.Context, s *arrow.Schema) (Prepared, error) {
		all := make([]Prepared, len(targets))
		var sum Prepared
		for i, t := range targets {
			p, err := t(ctx, s)
			if err != nil {
				return Prepared{}, err
			}
			all[i] = p
			sum.Least += p.Least
			sum.Most += p.Most
		}
		sum.Open = func(ctx context.Context, share *mem.Budget) (Sink, error) { return openAll(ctx, all, share) }
		return sum, nil
	}
}

// openAll divides share: to each its least, and of the rest to each in turn up
// to its most.
func openAll(ctx context.Context, all []Prepared, share *mem.Budget) (Sink, error) {
	rest := share.Limit()
	for _, p := range all {
		rest -= p.Least
	}
	var out tee
	for i, p := range all {
		more := min(rest, p.Most-p.Least)
		rest -= more
		part, err := share.Carve(fmt.Sprintf("sink %d", i), p.Least+more)
		if err == nil {
			out.shares = append(out.shares, part)
			var s Sink
			if s, err = p.Open(ctx, part); err == nil {
				out.sinks = append(out.sinks, s)
			}
		}
		if err != nil {
			out.Abort()
			return nil, err
		}
	}
	return &out, nil
}

// tee writes every batch to all sinks in turn.
type tee struct {
	sinks  []Sink
	shares []*mem.Budget
}

// Write stops at the first sink that fails.
func (t *tee) Write(b *stream.Batch) error {
	for _, s := range t.sinks {
		if err := s.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// Close closes all; once one has failed, the others are aborted.
func (t *tee) Close() error {
	var errs []error
	for _, s := range t.sinks {
		if len(errs) > 0 {
			s.Abort()
			continue
		}
		if err := s.Close(); err != nil {
			errs = append(errs, err)
		}
	}
	t.giveBack()
	return errors.Join(errs...)
}

// Abort aborts all.
func (t *tee) Abort() {
	for _, s := range t.sinks {
		s.Abort()
	}
	t.giveBack()
}

func (t *tee) giveBack() {
	for _, s := range t.shares {
		s.Close()
	}
}

// Digest is that of the first sink that has one.
func (t *tee) Digest() string {
	for _, s := range t.sinks {
		if d, ok := s.(Digester); ok {
			return d.Digest()
		}
	}
	return ""
}
