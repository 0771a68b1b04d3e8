package npy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// reading is the stream of batches.
type reading struct {
	*dataset
	share *mem.Budget
	lease *mem.Lease // of decompressors
	waits *stream.Waits
	rows  int64 // of a batch

	object  int   // of the next task
	row     int64 // of the next task
	results *stream.Ordered[build.Batch, *stream.Batch]
	cursor  stream.Cursor
	packs   *packs // the arrays that are decompressed; nil: none are
}

func (s *reading) batch() *build.Batch {
	b, _ := build.New(s.schema) // Plan has tried
	return b
}

func (s *reading) Cursor() stream.Cursor { return s.cursor }

// next takes some rows of an object.
func (s *reading) next(ctx context.Context) (stream.Task[build.Batch, *stream.Batch], error) {
	for s.object < len(s.objects) && s.row >= s.objects[s.object].rows {
		s.object, s.row = s.object+1, 0
	}
	if s.object >= len(s.objects) {
		return nil, io.EOF
	}
	n := min(s.rows, s.objects[s.object].rows-s.row)
	block, err := s.share.Map(ctx, int(s.cost(n)))
	if err != nil {
		return nil, err
	}
	t := &task{s: s, object: s.object, from: s.row, rows: n, block: block}
	s.row += n
	return t, nil
}

// Next gives the next rows.
func (s *reading) Next(ctx context.Context) (*stream.Batch, error) {
	b, err := s.results.Next(ctx)
	if err == nil {
		s.cursor = b.After
	}
	return b, err
}

// Close ends the reading.
func (s *reading) Close() error {
	s.results.Close()
	s.packs.close()
	s.lease.Release()
	return nil
}

// task is some rows of one object.
type task struct {
	s          *reading
	object     int
	from, rows int64
	block      *mem.Block
}

// Drop gives the memory back that no batch took.
func (t *task) Drop() {
	t.block.Free()
	t.block = nil
}

// Step reads the rows.
func (t *task) Step(ctx context.Context, b *build.Batch) (*stream.Batch, bool, error) {
	b.Forget()
	b.Reset(t.block, 0)
	t.block = nil
	if err := t.read(ctx, b); err != nil {
		b.Discard()
		return nil, false, fmt.Errorf("npy: %s: row %d: %w", t.s.src.Objects[t.object].URL, t.from, err)
	}
	after := stream.Cursor{Object: t.object, Row: t.from + t.rows}
	return &stream.Batch{Record: b.Finish(), After: after, Last: after.Row == t.s.objects[t.object].rows}, true, nil
}

// read reads the rows of every array.
func (t *task) read(ctx context.Context, b *build.Batch) error {
	begun := time.Now()
	r, err := t.s.src.Store.Open(ctx, t.s.src.Objects[t.object])
	t.s.waits.Store.Add(int64(time.Since(begun)))
	if err != nil {
		return err
	}
	defer r.Close()
	for i := range t.s.objects[t.object].arrays {
		a := &t.s.objects[t.object].arrays[i]
		fill := func(p []byte) error {
			begun := time.Now()
			defer func() { t.s.waits.Store.Add(int64(time.Since(begun))) }()
			if a.zip != nil && a.zip.packed {
				return t.s.unpack(ctx, r, t.object, i, t.from, p)
			}
			off := a.start + t.from*a.width
			if a.zip != nil {
				off += a.zip.at
			}
			if err := r.ReadAt(ctx, p, off); err != nil {
				return err
			}
			r.Drop(off, int64(len(p)))
			r.Want(off+int64(len(p)), int64(len(p)))
			return nil
		}
		if err := t.s.add(b, a, int(t.rows), fill); err != nil {
			return err
		}
	}
	if !b.EndRows(int(t.rows)) {
		return errRoom
	}
	return nil
}

var errRoom = errors.New("a bug in weir, please report it: rows found no room")
