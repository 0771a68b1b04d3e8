package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Open fails with ErrChanged when the file is no longer what was listed.
func (l local) Open(_ context.Context, o Object) (Reader, error) {
	f, err := os.Open(strings.TrimPrefix(o.URL, fileScheme))
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, notFound(o.URL, "not found")
		}
		return nil, system(o.URL, err)
	}
	r := &localReader{url: o.URL, file: f, fd: int(f.Fd()), size: o.Size, drop: l.opts.DropCache, stats: l.opts.Stats}
	var st unix.Stat_t
	if err := unix.Fstat(r.fd, &st); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", o.URL, err)
	}
	r.mtime = st.Mtim.Nano()
	if st.Size != o.Size || (o.ETag != "" && o.ETag != localETag(st.Size, r.mtime)) {
		f.Close()
		return nil, changed(o.URL, fmt.Sprintf("%d bytes when listed, %d now", o.Size, st.Size))
	}
	if l.opts.NoReadAhead {
		r.setRandom()
	}
	return r, nil
}

// localReader reads one open file; a file put in its place under the same
// name does not disturb it.
type localReader struct {
	url   string
	size  int64
	mtime int64 // nanoseconds
	drop  bool
	stats *Stats

	random atomic.Bool // the system reads nothing ahead

	mu   sync.RWMutex // held for writing by Close, so that fd is never reused under a read
	file *os.File
	fd   int
}

func (r *localReader) Size() int64  { return r.size }
func (r *localReader) Remote() bool { return false }

// ReadAt does not allocate unless it fails.
func (r *localReader) ReadAt(ctx context.Context, p []byte, off int64) error {
	if ctx.Err() != nil {
		return stopped(r.url, ctx)
	}
	if err := checkRange(r.url, off, len(p), r.size); err != nil {
		return err
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	n, err := r.file.ReadAt(p, off)
	r.stats.Requests.Add(1)
	r.stats.Bytes.Add(int64(n))
	if err != nil && n < len(p) {
		return r.readError(off, n, len(p), err)
	}
	// After the read: what was read before the file last changed is good.
	var st unix.Stat_t
	if err := unix.Fstat(r.fd, &st); err != nil {
		return fmt.Errorf("%s: %w", r.url, err)
	}
	if st.Size != r.size || st.Mtim.Nano() != r.mtime {
		return changed(rangeOf(r.url, off, len(p)), fmt.Sprintf("%d bytes when listed, %d now", r.size, st.Size))
	}
	return nil
}

func (r *localReader) readError(off int64, got, want int, err error) error {
	place := rangeOf(r.url, off, want)
	if errors.Is(err, io.EOF) {
		return changed(place, fmt.Sprintf("%d bytes when listed, it ends at %d now", r.size, off+int64(got)))
	}
	return system(place, err)
}

func (r *localReader) Drop(off, n int64) {
	if !r.drop || n <= 0 {
		return
	}
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.fd < 0 {
		return
	}
	r.setRandom()
	dropCache(r.fd, off, n)
}

func (r *localReader) setRandom() {
	if !r.random.Swap(true) {
		adviseRandom(r.fd)
	}
}

// Want does nothing while the system reads ahead by itself.
func (r *localReader) Want(off, n int64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.fd >= 0 && r.random.Load() && off < r.size {
		adviseWanted(r.fd, off, min(n, r.size-off))
	}
}

// Close may be called again; reads after it fail.
func (r *localReader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.fd < 0 {
		return nil
	}
	r.fd = -1
	return r.file.Close()
}
