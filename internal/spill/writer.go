package spill

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/weir-data/weir/internal/mem"
)

// Writer appends to one file. It is used by one goroutine at a time. After an
// error every call but Close returns that error.
type Writer struct {
	dir   *Dir
	ctx   context.Context
	name  string
	file  string
	block *mem.Block // nil: every Write goes straight to the file
	held  int        // bytes in block that the file does not have
	plain int64      // bytes the file was given
	size  int64      // bytes in the file: as many, or fewer where it is compressed
	err   error

	begun, behind int64 // with a WriteCache: on the way to disk up to there, on it up to there
}

// Create truncates the file, and appends through a leased block of buffer
// bytes; with 0 every Write goes straight to the file. The context is that of
// all calls of the Writer.
func (d *Dir) Create(ctx context.Context, name string, share *mem.Budget, buffer int) (*Writer, error) {
	// Not truncated but made again: systems write a file that was truncated
	// to disk when it is closed, for the sake of those who replace files so.
	if err := d.Remove(name); err != nil {
		return nil, err
	}
	return d.open(ctx, name, 0, share, buffer)
}

// Append cuts the file to size, which a checkpoint remembered, and goes on
// there. It fails when the file is shorter than that.
func (d *Dir) Append(ctx context.Context, name string, size int64, share *mem.Budget, buffer int) (*Writer, error) {
	return d.open(ctx, name, size, share, buffer)
}

func (d *Dir) open(ctx context.Context, name string, size int64, share *mem.Budget, buffer int) (*Writer, error) {
	file, err := d.file(name)
	if err != nil {
		return nil, err
	}
	w := &Writer{dir: d, ctx: ctx, name: name, file: file, plain: size, size: size}
	if d.coders != nil && size > 0 {
		if w.size, err = d.storedSize(name, size); err != nil {
			return nil, err
		}
	}
	w.begun, w.behind = w.size, w.size
	if err := w.cut(); err != nil {
		return nil, d.failed(name, err)
	}
	if buffer > 0 {
		if w.block, err = share.Map(ctx, buffer); err != nil {
			return nil, fmt.Errorf("scratch: %s: %w", name, err)
		}
	}
	return w, nil
}

// cut makes the file, or shortens it to the size that is wanted.
func (w *Writer) cut() error {
	f, err := w.dir.sys.Open(w.file, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return err
	}
	defer f.Close()
	w.dir.unnamed.Store(true)
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() < w.size {
		return fmt.Errorf("%d bytes, %d were written", st.Size(), w.size)
	}
	if st.Size() == w.size {
		return nil
	}
	return f.Truncate(w.size)
}

// Size is the number of bytes written, those that wait in the buffer included.
func (w *Writer) Size() int64 { return w.plain + int64(w.held) }

// Write appends p. Pieces as long as the buffer are not copied.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n := len(p)
	if w.block != nil {
		buf := w.block.Bytes()
		if w.held+n <= len(buf) {
			w.held += copy(buf[w.held:], p)
			return n, nil
		}
		if n < len(buf) {
			k := copy(buf[w.held:], p)
			w.held, p = len(buf), p[k:]
			if err := w.Flush(); err != nil {
				return 0, err
			}
			w.held = copy(buf, p)
			return n, nil
		}
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	if err := w.put(p); err != nil {
		return 0, err
	}
	return n, nil
}

// Flush gives the file all that was written; a Reader sees it then.
func (w *Writer) Flush() error {
	if w.err != nil || w.held == 0 {
		return w.err
	}
	if err := w.put(w.block.Bytes()[:w.held]); err != nil {
		return err
	}
	w.held = 0
	return nil
}

// put writes p behind what the file has.
func (w *Writer) put(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	return w.with(func(f File) error {
		if w.dir.coders != nil {
			return w.putBlocks(f, p)
		}
		return w.append(f, p, len(p))
	})
}

// putBlocks compresses p and writes it.
func (w *Writer) putBlocks(f File, p []byte) error {
	k := <-w.dir.coders.idle
	defer func() { w.dir.coders.idle <- k }()
	for len(p) > 0 {
		n := min(len(p), mostBlock)
		b := k.pack(p[:n])
		if err := w.append(f, b, n); err != nil {
			return err
		}
		w.dir.coders.plain.Add(int64(n))
		w.dir.coders.stored.Add(int64(len(b)))
		p = p[n:]
	}
	return nil
}

// append writes b, which stands for n bytes, behind what the file has.
func (w *Writer) append(f File, b []byte, n int) error {
	if _, err := f.WriteAt(b, w.size); err != nil {
		return err
	}
	w.size += int64(len(b))
	w.plain += int64(n)
	if w.dir.cache > 0 {
		w.leave(f)
	}
	return nil
}

// leave keeps what waits in the page cache below the limit: what was begun
// the time before is on disk by then, or nearly.
func (w *Writer) leave(f File) {
	if w.size-w.begun < w.dir.cache/2 {
		return
	}
	if w.begun > w.behind {
		f.Settle(w.behind, w.begun-w.behind, true)
		w.behind = w.begun
	}
	f.Settle(w.begun, w.size-w.begun, false)
	w.begun = w.size
}

// Sync makes all that was written durable, the file's name included.
func (w *Writer) Sync() error {
	if err := w.Flush(); err != nil {
		return err
	}
	if err := w.with(File.Datasync); err != nil {
		return err
	}
	if w.dir.unnamed.Swap(false) {
		w.dir.sys.SyncNames(w.dir.path)
	}
	return nil
}

// with opens the file for one call.
func (w *Writer) with(f func(File) error) error {
	if w.err != nil {
		return w.err
	}
	if w.ctx.Err() != nil {
		w.err = fmt.Errorf("scratch: %s: %w", w.name, context.Cause(w.ctx))
		return w.err
	}
	file, err := w.dir.sys.Open(w.file, os.O_WRONLY)
	if err == nil {
		err = f(file)
		if e := file.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		w.err = w.dir.failed(w.name, err)
	}
	return w.err
}

// Close writes what waits and gives the buffer back. It may be called again.
func (w *Writer) Close() error {
	err := w.Flush()
	w.Discard()
	if errors.Is(err, fs.ErrClosed) {
		return nil
	}
	return err
}

// Discard is Close for a file that nobody will read: what waits is dropped.
func (w *Writer) Discard() {
	w.block.Free()
	w.block, w.held = nil, 0
	if w.err == nil {
		w.err = fmt.Errorf("scratch: %s: %w", w.name, fs.ErrClosed)
	}
}
