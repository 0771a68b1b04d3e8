package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/store"
)

// defaultPart is the size of parts where neither user nor format have another.
const defaultPart = 512 << 20

// Target prepares the writing.
func (f Files) Target(ctx context.Context, s *arrow.Schema) (Prepared, error) {
	w := &files{Files: f, schema: s}
	if err := w.complete(); err != nil {
		return Prepared{}, err
	}
	if w.dir {
		if err := w.checkEmpty(ctx); err != nil {
			return Prepared{}, err
		}
	}
	least, most, err := f.Writer.Memory(s, w.Options)
	if err != nil {
		return Prepared{}, err
	}
	w.writing = demand{least + w.packCost(), most + w.packCost()}
	w.storing = demand{pipeBuffer, pipeBuffer}
	if f.Pipe == nil {
		least, most := store.WriteCost(f.URL)
		w.storing = demand{least, most}
	}
	return Prepared{
		Least: w.writing.least + w.storing.least,
		Most:  w.writing.most + w.storing.most,
		Open:  w.open,
	}, nil
}

// demand is what one part of a sink needs of its share.
type demand struct{ least, most int64 }

// divide gives both their least, and the rest in proportion to what they can
// use beyond it.
func divide(total int64, a, b demand) (forA, forB int64) {
	spare := max(0, total-a.least-b.least)
	moreA, moreB := a.most-a.least, b.most-b.least
	if moreA+moreB > spare {
		moreA = int64(float64(spare) * (float64(moreA) / float64(moreA+moreB)))
		moreB = spare - moreA
	}
	return a.least + moreA, b.least + moreB
}

// complete finds out what the URL and the options mean together.
func (w *files) complete() error {
	w.ext = w.Writer.Ext
	if w.Pipe != nil && w.Writer.Index != nil {
		return format.Error(format.ErrUsage, "%s is a directory of files: name one with -o", w.Writer.Name)
	}
	if w.Pipe == nil {
		w.dir = w.Writer.Index != nil || strings.HasSuffix(w.URL, "/") || isDir(w.URL)
		if w.dir {
			w.URL = strings.TrimSuffix(w.URL, "/") + "/"
		}
	}
	if w.Options.PartSize == 0 {
		w.Options.PartSize = w.Writer.PartSize
	}
	if w.Options.PartSize == 0 {
		w.Options.PartSize = defaultPart
	}
	if !w.Writer.Inline {
		return nil
	}
	return w.choosePack()
}

func isDir(url string) bool {
	st, err := os.Stat(strings.TrimPrefix(url, "file://"))
	return err == nil && st.IsDir()
}

// packEndings are those of compressed files that are written.
var packEndings = []string{".gz", ".zst", ".bz2", ".lz4", ".sz", ".br"}

// choosePack finds the compression of whole files: what the options say, or
// else what the file's name says.
func (w *files) choosePack() (err error) {
	name := w.Options.Codec
	if name == "" && !w.dir && w.Pipe == nil {
		for _, e := range packEndings {
			if strings.HasSuffix(strings.ToLower(w.URL), e) {
				name = e[1:]
			}
		}
	}
	if w.pack, w.level, err = codec.Parse(name); err != nil {
		return format.Error(format.ErrUsage, "--codec: %w", err)
	}
	if w.pack == codec.PlainFile {
		return nil
	}
	probe, err := w.pack.NewWriter(io.Discard, w.level)
	if err != nil {
		return format.Error(format.ErrUsage, "--codec: %w", err)
	}
	probe.Close()
	for _, e := range packEndings {
		if w.pack.Trim("x"+e) == "x" {
			w.ext += e
			break
		}
	}
	return nil
}

func (w *files) packCost() int64 {
	if w.pack == codec.PlainFile {
		return 0
	}
	return w.pack.WriteCost(w.level)
}

// partName is the name of the n-th part in its directory.
func (w *files) partName(n int) string {
	if w.Writer.PartName != nil {
		return w.Writer.PartName(n, w.Options)
	}
	return fmt.Sprintf("part-%05d%s", n, w.ext)
}

// checkEmpty refuses a directory with files that could be taken for ours.
func (w *files) checkEmpty(ctx context.Context) error {
	found, err := w.Store.List(ctx, w.URL)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return outputError(err)
	}
	index := ""
	if w.Writer.Index != nil {
		index, _, _ = w.Writer.Index(w.schema, w.Options, nil)
	}
	stem := stemOf(w.partName(0))
	for _, o := range found {
		name := strings.TrimPrefix(o.URL, w.URL)
		if name == index || stem != name && stemOf(name) == stem {
			return format.Error(format.ErrUsage, "%s already holds %s; name another directory or remove it", w.URL, name)
		}
	}
	return nil
}

// stemOf is what stands before the number in a part's name.
func stemOf(name string) string {
	if i := strings.IndexAny(name, "0123456789"); i >= 0 {
		return name[:i]
	}
	return name
}
