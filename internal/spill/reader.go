package spill

import (
	"fmt"
	"io"
	"os"
	"sync"
)

// Reader reads a file that was written, while it may still grow. Pages that
// were read leave the page cache: scratch data is read once. ReadAt is safe
// for concurrent use.
type Reader struct {
	dir  *Dir
	name string
	file File
	size int64

	mu sync.Mutex
	at blockPlace // of a compressed file: where reading is likely to go on
}

// Reader opens a file, and keeps it open until it is closed.
func (d *Dir) Reader(name string) (*Reader, error) {
	path, err := d.file(name)
	if err != nil {
		return nil, err
	}
	f, err := d.sys.Open(path, os.O_RDONLY)
	if err != nil {
		return nil, d.failed(name, err)
	}
	st, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, d.failed(name, err)
	}
	return &Reader{dir: d, name: name, file: f, size: st.Size()}, nil
}

// Size is the number of bytes that the file had on disk when it was opened.
func (r *Reader) Size() int64 { return r.size }

// ReadAt fills p or fails: a file that ends before is io.ErrUnexpectedEOF.
func (r *Reader) ReadAt(p []byte, off int64) (int, error) {
	if r.dir.coders != nil {
		return r.readBlocks(p, off)
	}
	return r.readStored(p, off)
}

// readStored is ReadAt of what lies on disk.
func (r *Reader) readStored(p []byte, off int64) (int, error) {
	n, err := r.file.ReadAt(p, off)
	if n == len(p) {
		r.file.Forget(off, int64(n))
		return n, nil
	}
	if err == io.EOF {
		err = fmt.Errorf("ends at byte %d of %d: %w", off+int64(n), off+int64(len(p)), io.ErrUnexpectedEOF)
	}
	return n, r.dir.failed(r.name, err)
}

// Close ends reading.
func (r *Reader) Close() error { return r.file.Close() }
