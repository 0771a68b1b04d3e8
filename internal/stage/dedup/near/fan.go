package near

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// fan is a number of files that grow at their ends, side by side. Each has as
// much memory as the others, and goes to disk when that is full. One goroutine
// at a time writes.
type fan struct {
	dir    *spill.Dir
	share  *mem.Budget
	name   string // of the files, with a verb for their number
	entry  int    // bytes that are written and read together
	each   int    // bytes of memory of a file, whole entries
	block  *mem.Block
	memory []byte
	used   []int
	files  []*spill.Writer // nil: nothing was written
	synced []int64         // bytes on disk durably
}

// fanAccount is what a file of a fan takes on the Go heap, about.
const fanAccount = 320

// newFan takes n times each bytes of the share, nearly.
func newFan(ctx context.Context, dir *spill.Dir, share *mem.Budget, name string, n, entry, each int) (*fan, error) {
	f := &fan{dir: dir, share: share, name: name, entry: entry, each: max(each/entry, 1) * entry}
	var err error
	if f.block, err = share.Map(ctx, n*f.each); err != nil {
		return nil, err
	}
	f.memory = f.block.Bytes()
	f.used, f.files, f.synced = make([]int, n), make([]*spill.Writer, n), make([]int64, n)
	return f, nil
}

// next is where the next entry of a file is written to.
func (f *fan) next(ctx context.Context, i int) ([]byte, error) {
	n := f.used[i]
	if n == f.each {
		if err := f.flush(ctx, i); err != nil {
			return nil, err
		}
		n = 0
	}
	f.used[i] = n + f.entry
	at := i*f.each + n
	return f.memory[at : at+f.entry : at+f.entry], nil
}

// flush brings a file's memory to disk.
func (f *fan) flush(ctx context.Context, i int) error {
	if f.used[i] == 0 {
		return nil
	}
	if f.files[i] == nil {
		w, err := f.dir.Create(ctx, f.file(i), f.share, 0)
		if err != nil {
			return err
		}
		f.files[i] = w
	}
	_, err := f.files[i].Write(f.memory[i*f.each : i*f.each+f.used[i]])
	f.used[i] = 0
	return err
}

func (f *fan) flushAll(ctx context.Context) error {
	for i := range f.files {
		if err := f.flush(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// sync makes all files durable that are not.
func (f *fan) sync() error {
	for i, w := range f.files {
		if w == nil || f.synced[i] == w.Size() {
			continue
		}
		if err := w.Sync(); err != nil {
			return err
		}
		f.synced[i] = w.Size()
	}
	return nil
}

// goOn takes a file up that has some bytes.
func (f *fan) goOn(ctx context.Context, i int, size int64) (err error) {
	if size > 0 {
		f.files[i], err = f.dir.Append(ctx, f.file(i), size, f.share, 0)
		f.synced[i] = size
	}
	return err
}

func (f *fan) file(i int) string { return fmt.Sprintf(f.name, i) }

// entries is how many of a file are on disk.
func (f *fan) entries(i int) int64 {
	if f.files[i] == nil {
		return 0
	}
	return f.files[i].Size() / int64(f.entry)
}

// read goes through what is on disk of a file, by as many entries as buf holds.
func (f *fan) read(ctx context.Context, i int, buf []byte, visit func(entries []byte) error) error {
	size := f.entries(i) * int64(f.entry)
	if size == 0 {
		return nil
	}
	r, err := f.dir.Reader(f.file(i))
	if err != nil {
		return err
	}
	defer r.Close()
	buf = buf[:len(buf)/f.entry*f.entry]
	for off := int64(0); off < size; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p := buf[:min(int64(len(buf)), size-off)]
		if _, err := r.ReadAt(p, off); err != nil {
			return err
		}
		off += int64(len(p))
		if err := visit(p); err != nil {
			return err
		}
	}
	return nil
}

// remove takes a file away.
func (f *fan) remove(i int) error {
	if f.files[i] == nil {
		return nil
	}
	f.files[i] = nil
	return f.dir.Remove(f.file(i))
}

// free gives the memory back, and may be called again. Files stay, and can be
// read and removed.
func (f *fan) free() {
	if f != nil {
		f.block.Free()
		f.memory = nil
	}
}
