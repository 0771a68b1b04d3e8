package formattest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// errStore is what a store says that fails on purpose.
var errStore = fmt.Errorf("%w: on purpose", store.ErrStore)

// objects is a store in memory.
type objects struct {
	files  [][]byte
	names  []string
	remote bool
	open   atomic.Int64 // readers not closed
	reads  atomic.Int64
	// at, if not nil, is called with the number of every read; an error ends it.
	at func(read int64) error
}

func (o *objects) name(i int) string {
	if i < len(o.names) {
		return o.names[i]
	}
	return fmt.Sprintf("part-%d", i)
}

func (o *objects) source() format.Source {
	src := format.Source{Store: o}
	for i, f := range o.files {
		src.Objects = append(src.Objects, store.Object{URL: o.name(i), Size: int64(len(f))})
	}
	return src
}

func (o *objects) List(context.Context, string) ([]store.Object, error) {
	return nil, errors.New("formattest: a format does not list")
}

func (o *objects) Open(ctx context.Context, obj store.Object) (store.Reader, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", obj.URL, err)
	}
	for i, f := range o.files {
		if obj.URL == o.name(i) {
			o.open.Add(1)
			return &reader{o: o, data: f, name: obj.URL}, nil
		}
	}
	return nil, fmt.Errorf("%s: %w", obj.URL, store.ErrNotFound)
}

type reader struct {
	o      *objects
	data   []byte
	name   string
	closed atomic.Bool
}

func (r *reader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if r.closed.Load() {
		panic("formattest: read of a closed object")
	}
	n := r.o.reads.Add(1)
	if r.o.at != nil {
		if err := r.o.at(n - 1); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.name, err)
	}
	if off < 0 || off > int64(len(r.data)) || int64(len(p)) > int64(len(r.data))-off {
		return fmt.Errorf("%s: bytes %d+%d of %d: %w", r.name, off, len(p), len(r.data), io.ErrUnexpectedEOF)
	}
	copy(p, r.data[off:])
	return nil
}

func (r *reader) Size() int64     { return int64(len(r.data)) }
func (r *reader) Remote() bool    { return r.o.remote }
func (r *reader) Drop(_, _ int64) {}
func (r *reader) Want(_, _ int64) {}

func (r *reader) Close() error {
	if r.closed.CompareAndSwap(false, true) {
		r.o.open.Add(-1)
	}
	return nil
}
