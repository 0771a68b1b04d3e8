package run

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// ErrOutput is wrapped by every error of writing the output, so that a full
// disk is not taken for a fault of the store that is read.
var ErrOutput = errors.New("output")

func outputError(err error) error {
	if err == nil || errors.Is(err, ErrOutput) {
		return err
	}
	return fmt.Errorf("%w: %w", ErrOutput, err)
}

// Files is the target that writes rows to files, each of which appears under
// its name whole or not at all. When the reading fails, those that were
// written by then are removed.
type Files struct {
	Store store.ReadWriter
	// URL is a file; or, where it ends in a slash, is a directory already, or
	// the format has an index, a directory of parts.
	URL string
	// Pipe, if not nil, is written to instead; it is not closed.
	Pipe    io.Writer
	Writer  format.Writer
	Options format.WriteOptions
}

// files is a Files under way, and the Sink that it becomes.
type files struct {
	Files
	schema *arrow.Schema
	dir    bool // URL is one, and ends in a slash
	pack   codec.File
	level  int
	ext    string // of parts, with that of the compression

	writing, storing demand
	writer, out      *mem.Budget
	ctx              context.Context
	cur              *part
	parts            []format.Part // done
}

func (w *files) open(ctx context.Context, share *mem.Budget) (Sink, error) {
	storing, writing := divide(share.Limit(), w.storing, w.writing)
	var err error
	if w.out, err = share.Carve("output", storing); err != nil {
		return nil, err
	}
	if w.writer, err = share.Carve("writing", writing); err != nil {
		w.out.Close()
		return nil, err
	}
	w.ctx = ctx
	if !w.dir {
		// A file that cannot be written is found out before data is read.
		if err := w.begin(); err != nil {
			w.Abort()
			return nil, outputError(err)
		}
	}
	return w, nil
}

// begin begins the next part, or the only file.
func (w *files) begin() (err error) {
	name := ""
	if w.dir {
		name = w.partName(len(w.parts))
	}
	w.cur, err = w.beginPart(name)
	return err
}

// Write ends a part that has become large enough.
func (w *files) Write(b *stream.Batch) error {
	for row := int64(0); ; {
		if w.cur == nil {
			if err := w.begin(); err != nil {
				return outputError(err)
			}
		}
		n, full, err := w.fill(b, row)
		if err != nil {
			return outputError(err)
		}
		if full {
			if err := w.end(); err != nil {
				return outputError(err)
			}
		}
		if row += n; row >= b.Rows() {
			return nil
		}
	}
}

// fill writes rows of b from row on to the part under way; full: the rest is
// for another one.
func (w *files) fill(b *stream.Batch, row int64) (n int64, full bool, err error) {
	if f, ok := w.cur.file.(format.Filler); ok && w.dir {
		n, err = f.Fill(b, row)
		return n, n < b.Rows()-row, err
	}
	err = w.cur.file.Write(b)
	return b.Rows(), w.dir && w.cur.size() >= w.Options.PartSize, err
}

// end makes the part under way permanent.
func (w *files) end() error {
	cur := w.cur
	w.cur = nil
	p, err := cur.commit(w.ctx)
	if err == nil {
		w.parts = append(w.parts, p)
	}
	return err
}

// Close ends the last part and writes the index. A directory without rows has
// one part, for its schema.
func (w *files) Close() error {
	err := w.finish()
	if err != nil {
		w.Abort()
		return outputError(err)
	}
	w.giveBack()
	return nil
}

func (w *files) finish() error {
	if w.cur == nil && len(w.parts) == 0 {
		if err := w.begin(); err != nil {
			return err
		}
	}
	if w.cur != nil {
		if err := w.end(); err != nil {
			return err
		}
	}
	if w.Writer.Index == nil {
		return nil
	}
	name, data, err := w.Writer.Index(w.schema, w.Options, w.parts)
	if err != nil {
		return err
	}
	out, err := w.Store.Create(w.ctx, w.URL+name, w.out)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		out.Abort()
		return err
	}
	return out.Commit(w.ctx)
}

// Abort removes the part under way and all that were done.
func (w *files) Abort() {
	if w.cur != nil {
		w.cur.abort()
		w.cur = nil
	}
	if w.dir {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(w.ctx), removeTime)
		defer cancel()
		for _, p := range w.parts {
			w.Store.Remove(ctx, w.URL+p.Name) // the reading's own error says more
		}
	}
	w.giveBack()
}

func (w *files) giveBack() {
	w.parts = nil
	w.out.Close()
	w.writer.Close()
}
