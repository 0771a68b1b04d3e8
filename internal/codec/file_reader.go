package codec

import (
	"bufio"
	"compress/bzip2"
	"encoding/binary"
	"fmt"
	"io"
	"sync"
)

// FileReader decompresses a file through a small window. One goroutine at a
// time.
type FileReader interface {
	// Read fills p, but for errors and the end of the file. io.EOF means that
	// the file ended where it may and that its checksums were right; what came
	// before is checked only as far as they cover it. Errors of the source
	// come back unchanged; all others name the compression, and one for a
	// source that ends early wraps io.ErrUnexpectedEOF.
	io.Reader
	// Close gives pooled state back. It is idempotent and does not close the
	// source.
	io.Closer
}

const (
	bzip2Input = 32 << 10
	// bzip2State is a block of the largest level, four bytes for each of its
	// own: a later stream may have it whatever the first one has. The rest is
	// tables.
	bzip2State = 4*900_000 + 192<<10
	// zstdFileWindow is the least a file's later frames may use: the window
	// of the zstd command up to level 19.
	zstdFileWindow = 8 << 20
)

// Cost is the bytes of memory a FileReader holds in all, its input buffer
// included, from the first bytes of the file: 64, or all there are.
func (f File) Cost(head []byte) (int64, error) {
	head = head[:min(len(head), fileHead)]
	switch f {
	case PlainFile:
		return streamBase, nil
	case GzipFile:
		return streamBase + windowCost + gzipState, nil
	case ZstdFile:
		window, err := zstdFileWindowOf(head)
		if err == nil {
			_, window, err = zstdClass(window)
		}
		if err != nil {
			return 0, damage(f.String(), err)
		}
		return streamBase + zstdCost(window), nil
	case Bzip2File:
		return streamBase + bzip2State + bzip2Input, nil
	case XZFile:
		class, err := xzClass(head)
		if err != nil {
			return 0, damage(f.String(), err)
		}
		return streamBase + xzCost(class), nil
	case LZ4File, SnappyBlockFile:
		return streamBase + windowCost, nil
	case SnappyFile:
		return streamBase + snappyFrameCost, nil
	case BrotliFile:
		bits, err := brotliWindow(head)
		if err != nil {
			return 0, damage(f.String(), err)
		}
		return streamBase + brotliCost(bits), nil
	}
	return 0, f.unsupported()
}

// NewReader decompresses src from its beginning to its end: members, frames
// and streams one after another where the format has them. It reads from src
// and may read ahead. ErrWindow comes where a later frame needs a larger
// window than Cost said.
func (f File) NewReader(src io.Reader) (FileReader, error) {
	r := &fileReader{file: f}
	if err := r.src.open(src, fileHead); err != nil {
		return nil, err
	}
	err := r.open()
	if err != nil {
		err = r.cause(f.String(), err)
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *fileReader) open() error {
	if r.src.n == 0 && r.file != PlainFile {
		return io.ErrUnexpectedEOF
	}
	switch r.file {
	case PlainFile:
		r.r = &r.src
	case GzipFile:
		openGzip(&r.feed)
	case ZstdFile:
		return openZstd(&r.feed, zstdFileWindowOf)
	case Bzip2File:
		openBzip2(&r.feed)
	case XZFile:
		return openXZ(&r.feed)
	case LZ4File:
		openWindow(&r.feed, &lz4Elements{kind: lz4Framed})
	case SnappyFile:
		openSnappyFrames(&r.feed)
	case SnappyBlockFile:
		return openSnappyBlock(&r.feed)
	case BrotliFile:
		return openBrotli(&r.feed)
	default:
		return r.file.unsupported()
	}
	return nil
}

func (f File) unsupported() error {
	return fmt.Errorf("%s is not supported", f)
}

type fileReader struct {
	file File
	feed
	err error
}

func (r *fileReader) Read(p []byte) (int, error) {
	n := 0
	for empty := 0; n < len(p) && r.err == nil; {
		k, err := r.r.Read(p[n:])
		n += k
		if k > 0 {
			empty = 0
		} else if empty++; empty == 100 && err == nil {
			err = io.ErrNoProgress
		}
		if err == io.EOF {
			r.err = io.EOF
		} else if err != nil {
			r.err = r.cause(r.file.String(), err)
		}
	}
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

func (r *fileReader) Close() error {
	r.close()
	r.err = errClosed
	return nil
}

// zstdFileWindowOf is zstdWindow for files.
func zstdFileWindowOf(head []byte) (uint64, error) {
	window, err := zstdWindow(head)
	return max(window, zstdFileWindow), err
}

var bzip2Inputs = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bzip2Input) }}

func openBzip2(f *feed) {
	in := bzip2Inputs.Get().(*bufio.Reader)
	in.Reset(&f.src)
	f.r = bzip2.NewReader(in)
	f.free = func() {
		in.Reset(nil)
		bzip2Inputs.Put(in)
	}
}

// openSnappyBlock streams a block of the size that stands in front of it.
func openSnappyBlock(f *feed) error {
	size, n := binary.Uvarint(f.src.peek())
	if n <= 0 || n > 5 {
		return errSnappyHeader
	}
	s, err := Snappy.NewStream(&f.src, int64(size))
	if err != nil {
		return err
	}
	f.r = s
	f.free = func() { s.Close() }
	return nil
}
