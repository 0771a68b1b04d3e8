package runtest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Magic begins a file that Fake reads.
const Magic = "FAKE"

// Fake is a format whose files hold nothing but Magic: every one of them has
// the rows of Record, in batches of Options.BatchRows, paid for with Cost
// bytes each.
type Fake struct {
	Record arrow.RecordBatch
	Least  int64 // Floor
	Cost   int   // bytes leased for a batch
	// At is called before every batch with its number; an error ends the stream.
	At func(ctx context.Context, batch int) error
}

// Format is Fake as the seam wants it.
func (f *Fake) Format() format.Format {
	return format.Format{
		Name:  "fake",
		Sniff: func(c format.Clue) bool { return bytes.HasPrefix(c.Head, []byte(Magic)) },
		Plan: func(_ context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
			for _, o := range src.Objects {
				if !strings.HasSuffix(o.URL, ".fake") {
					return nil, fmt.Errorf("fake: %s: %w: bad magic", o.URL, format.ErrData)
				}
			}
			return &dataset{Fake: f, src: src, opt: opt}, nil
		},
	}
}

type dataset struct {
	*Fake
	src format.Source
	opt format.Options
}

func (d *dataset) Schema() *arrow.Schema { return d.Record.Schema() }
func (d *dataset) Floor() int64          { return d.Least }

func (d *dataset) Info() format.Info {
	n := len(d.src.Objects)
	return format.Info{
		Objects: n, Rows: d.Record.NumRows() * int64(n), Groups: int64(n),
		Bytes: int64(n) * 1000, InMemory: int64(n) * 4000, LargestIn: 4000,
	}
}

func (d *dataset) Open(_ context.Context, share *mem.Budget, from stream.Cursor, w *stream.Waits) (stream.Stream, error) {
	if share.Limit() < d.Least {
		return nil, &mem.TooSmallError{Share: "fake", Need: d.Least, Limit: share.Limit()}
	}
	w.Decode.Add(1)
	return &fakeStream{dataset: d, share: share, at: from}, nil
}

// fakeStream holds one block from Next to Next, as a reader's working memory.
type fakeStream struct {
	*dataset
	share *mem.Budget
	block *mem.Block
	at    stream.Cursor
	count int
}

func (s *fakeStream) Cursor() stream.Cursor { return s.at }

func (s *fakeStream) Next(ctx context.Context) (*stream.Batch, error) {
	s.block.Free()
	s.block = nil
	if s.at.Object == len(s.src.Objects) {
		return nil, io.EOF
	}
	if s.At != nil {
		if err := s.At(ctx, s.count); err != nil {
			return nil, err
		}
	}
	var err error
	if s.block, err = s.share.Map(ctx, max(1, s.Cost)); err != nil {
		return nil, err
	}
	s.count++
	all := s.Record.NumRows()
	end := all
	if s.opt.BatchRows > 0 {
		end = min(all, s.at.Row+int64(s.opt.BatchRows))
	}
	rec := s.Record.NewSlice(s.at.Row, end)
	s.at.Row = end
	if end == all {
		s.at = stream.Cursor{Object: s.at.Object + 1}
	}
	return &stream.Batch{Record: rec, After: s.at}, nil
}

func (s *fakeStream) Close() error {
	s.block.Free()
	s.block = nil
	return nil
}

// Objects is a store in memory: names and what the files hold.
type Objects map[string]string

// List returns the object of that name, or all below a name that ends in "/".
func (m Objects) List(_ context.Context, pattern string) ([]store.Object, error) {
	var out []store.Object
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == pattern || strings.HasSuffix(pattern, "/") && strings.HasPrefix(name, pattern) {
			out = append(out, store.Object{URL: name, Size: int64(len(m[name]))})
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s: %w", pattern, store.ErrNotFound)
	}
	return out, nil
}

// Open reads one.
func (m Objects) Open(_ context.Context, o store.Object) (store.Reader, error) {
	return object(m[o.URL]), nil
}

type object string

func (o object) ReadAt(_ context.Context, p []byte, off int64) error {
	if off < 0 || off+int64(len(p)) > int64(len(o)) {
		return io.ErrUnexpectedEOF
	}
	copy(p, o[off:])
	return nil
}

func (o object) Size() int64     { return int64(len(o)) }
func (o object) Remote() bool    { return false }
func (o object) Drop(_, _ int64) {}
func (o object) Want(_, _ int64) {}
func (o object) Close() error    { return nil }

// Empty fails t unless every lease is back.
func Empty(t *testing.T, b *mem.Budget) {
	t.Helper()
	if n := b.Leased(); n != 0 {
		t.Errorf("%s still leased", mem.Format(n))
	}
	if n := b.Used(); n != 0 {
		t.Errorf("%s still carved or used", mem.Format(n))
	}
}
