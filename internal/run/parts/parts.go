// Package parts writes the files of a dataset: each is summed as it is written,
// completed in the background, and permanent when it is committed.
package parts

import (
	"context"
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Sum is a hash of a file's bytes.
type Sum struct{ *xxh3.Hasher128 }

// NewSum is that of no bytes.
func NewSum() Sum { return Sum{xxh3.New128()} }

func (s Sum) String() string {
	v := s.Sum128()
	return fmt.Sprintf("xxh128:%016x%016x", v.Hi, v.Lo)
}

// File is bytes on their way to an object that is not there yet.
type File struct {
	Name string
	Out  store.Output
	Sent format.Counter
	Sum  Sum
}

// Create begins a file called name below a prefix, which ends in a slash.
func Create(ctx context.Context, to store.ReadWriter, prefix, name string, share *mem.Budget) (*File, error) {
	out, err := to.Create(ctx, prefix+name, share)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Out: out, Sum: NewSum()}
	f.Sent.Writer = out
	return f, nil
}

// Write makes it a format.Output.
func (f *File) Write(b []byte) (int, error) {
	n, err := f.Sent.Write(b)
	f.Sum.Write(b[:n])
	return n, err
}

// Patch is for formats that go back: the sum is over bytes in their order.
func (f *File) Patch([]byte, int64) error {
	return format.Error(format.ErrUsage, "%s: this format goes back to the beginning of its file", f.Name)
}

// Maker begins parts: all that they have in common.
type Maker struct {
	Store   store.ReadWriter
	Prefix  string // URL of the split's directory, with a slash
	Split   int    // its index
	Schema  *arrow.Schema
	Writer  format.Writer
	Options format.WriteOptions
	Files   *mem.Budget // of the format
	Outs    *mem.Budget // of what is on its way
}

// Part is one file of rows being written.
type Part struct {
	*File
	split int
	file  format.File
}

// name is that of the nth part: with the ending that the format gives it.
func (m *Maker) name(n int64) string {
	ext := m.Writer.Ext
	if m.Writer.PartName != nil {
		_, more, _ := strings.Cut(m.Writer.PartName(0, m.Options), ext)
		ext += more
	}
	return dataset.PartName(n, ext)
}

// Begin begins the split's nth part.
func (m *Maker) Begin(ctx context.Context, n int64) (*Part, error) {
	f, err := Create(ctx, m.Store, m.Prefix, m.name(n), m.Outs)
	if err != nil {
		return nil, err
	}
	p := &Part{File: f, split: m.Split}
	if p.file, err = m.Writer.Begin(p, m.Schema, m.Options, m.Files); err != nil {
		f.Out.Abort()
		return nil, err
	}
	return p, nil
}

// Add writes rows of a batch, which it borrows, from one on, and says how many:
// all of them, but where a format knows itself when a part is full.
func (p *Part) Add(b *stream.Batch, from int64) (int64, error) {
	if f, ok := p.file.(format.Filler); ok {
		return f.Fill(b, from)
	}
	return b.Rows(), p.file.Write(b)
}

// Relieve waits until a batch is let go of, where some are in use behind Add;
// false: there are none.
func (p *Part) Relieve() (bool, error) {
	if f, ok := p.file.(format.Holder); ok {
		return f.Relieve()
	}
	return false, nil
}

// Abort leaves nothing of the part.
func (p *Part) Abort() {
	p.file.Abort()
	p.Out.Abort()
}

// Ended is a part that gets no more rows.
type Ended struct {
	*Part
	Closed *stream.Future    // when it is complete
	Full   []dataset.NewPart // those before it that no checkpoint knows
	made   format.Part
}

// End has the part completed.
func (p *Part) End() *Ended {
	e := &Ended{Part: p}
	e.Closed = stream.Async(func() error {
		var err error
		e.made, err = p.file.Close()
		return err
	})
	return e
}

// Drop leaves nothing of the part.
func (e *Ended) Drop() {
	e.Closed.Wait()
	e.Out.Abort()
}

// Commit makes the part permanent, or leaves nothing of it.
func (e *Ended) Commit(ctx context.Context) (dataset.NewPart, error) {
	if err := e.Closed.Wait(); err != nil {
		e.Out.Abort()
		return dataset.NewPart{}, err
	}
	if err := e.Out.Commit(ctx); err != nil {
		return dataset.NewPart{}, err
	}
	return dataset.NewPart{Split: e.split, Part: dataset.Part{Name: e.Name, Rows: e.made.Rows, Bytes: e.Sent.N, Digest: e.Sum.String(), Raw: e.made.Raw}}, nil
}

// CommitAll makes all parts permanent, side by side; on an error, nothing is left
// of those that are not.
func CommitAll(ctx context.Context, all []*Ended) ([]dataset.NewPart, error) {
	made := make([]dataset.NewPart, len(all))
	calls := make([]*stream.Future, len(all))
	for i, e := range all {
		calls[i] = stream.Async(func() (err error) {
			made[i], err = e.Commit(ctx)
			return err
		})
	}
	var first error
	for _, c := range calls {
		if err := c.Wait(); first == nil {
			first = err
		}
	}
	return made, first
}
