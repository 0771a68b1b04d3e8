package files

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// task is the objects of one batch.
type task struct {
	s        *reading
	from, to int
	size     int64 // bytes of the objects
	block    *mem.Block
}

type result struct {
	record  arrow.RecordBatch // nil: no rows
	objects []int             // of its rows
	to      int
	bad     []error
}

func (r *result) drop() {
	if r.record != nil {
		r.record.Release()
		r.record = nil
	}
}

// Drop gives the memory back that no batch took.
func (t *task) Drop() {
	t.block.Free()
	t.block = nil
}

// Step reads all objects of the task.
func (t *task) Step(ctx context.Context, b *build.Batch) (*result, bool, error) {
	res := &result{to: t.to}
	b.Forget()
	b.Reset(t.block, 0)
	t.block = nil
	if t.s.Bytes >= 0 {
		b.Column(t.s.Bytes).Reserve(t.to-t.from, int(t.size))
	}
	for i, o := range t.s.Source.Objects[t.from:t.to] {
		err := t.add(ctx, b, o)
		if err == nil {
			res.objects = append(res.objects, t.from+i)
			continue
		}
		err = fmt.Errorf("%s: %s: %w", t.s.Name, o.URL, err)
		if t.s.Options.Bad == nil || !errors.Is(err, format.ErrData) {
			b.Discard()
			return nil, false, err
		}
		b.Undo()
		res.bad = append(res.bad, err)
	}
	if b.Rows() == 0 {
		b.Discard()
	} else {
		res.record = b.Finish()
	}
	return res, true, nil
}

var errRoom = errors.New("a bug in weir, please report it: an object found no room")

func (t *task) add(ctx context.Context, b *build.Batch, o store.Object) error {
	err := t.s.Add(b, o, func(p []byte) error { return t.read(ctx, o, p) })
	if err == nil && !b.EndRow() {
		return errRoom
	}
	return err
}

// read reads all of o.
func (t *task) read(ctx context.Context, o store.Object, p []byte) error {
	begun := time.Now()
	defer func() { t.s.waits.Store.Add(int64(time.Since(begun))) }()
	r, err := t.s.Source.Store.Open(ctx, o)
	if err != nil {
		return err
	}
	err = r.ReadAt(ctx, p, 0)
	r.Drop(0, int64(len(p)))
	if e := r.Close(); err == nil {
		err = e
	}
	return err
}

var _ stream.Task[build.Batch, *result] = (*task)(nil)
