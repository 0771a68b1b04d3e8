// Package input reads an object from front to back, decompressed as it is
// read, and ahead of what was asked where a read costs a round trip.
package input

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Least is the smallest Config.Ahead.
const Least = 64 << 10

// headBytes is what tells a compression and its window.
const headBytes = 64

// Config says what to read.
type Config struct {
	Store  store.Store
	Object store.Object
	From   int64 // the decompressed byte to begin with
	// Ahead is the bytes of stored data that may be read before they are
	// asked for.
	Ahead int
	// Share pays for what is read ahead and for the decompressor; nil: nobody
	// does, which is for looking at a few bytes while planning.
	Share *mem.Budget
	Waits *stream.Waits // may be nil
	// Frames pays for decompressing the frames of a zstd file side by side,
	// with so many threads; nil: one frame after another.
	Frames  *mem.Budget
	Threads int
	// As is how the object is compressed; nil: its first bytes tell.
	As *codec.File
	// Tap, if not nil, sees the stored bytes in order, all of them where From
	// is 0 and the object is read to its end. It does not keep them.
	Tap func([]byte)
}

// Reader is one object being read. One goroutine at a time.
type Reader struct {
	r     store.Reader
	kind  codec.File
	src   source // of stored bytes
	dec   codec.FileReader
	many  *frames // instead of dec
	share *mem.Budget
	lease *mem.Lease

	window int64
	at     int64 // decompressed bytes given
	err    error
}

// Open prepares to read. Memory that Share will never have is mem.ErrTooSmall.
func Open(ctx context.Context, c Config) (*Reader, error) {
	if c.Waits == nil {
		c.Waits = new(stream.Waits)
	}
	sr, err := c.Store.Open(ctx, c.Object)
	if err != nil {
		return nil, err
	}
	r := &Reader{r: sr}
	if err := r.open(ctx, c); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Reader) open(ctx context.Context, c Config) error {
	head := make([]byte, min(headBytes, r.r.Size()))
	begun := time.Now()
	err := r.r.ReadAt(ctx, head, 0)
	if err != nil {
		return err
	}
	c.Waits.Store.Add(int64(time.Since(begun)))
	if c.As != nil {
		r.kind = *c.As
	} else {
		r.kind = codec.Recognise(c.Object.URL, head)
	}
	r.src.open(r.r, c)
	if r.kind == codec.PlainFile {
		return r.seek(c.From)
	}
	r.src.ctx, r.share = ctx, c.Share
	if r.kind == codec.ZstdFile && c.Frames != nil && small(head, framesFit(c.Frames.Limit(), c.Threads)) {
		r.many, err = openFrames(ctx, &r.src, c.Frames, c.Threads, c.Waits)
		if err != nil {
			return err
		}
		return r.pass(ctx, c.From)
	}
	if err := r.decompress(ctx, head, &r.src); err != nil {
		return err
	}
	return r.pass(ctx, c.From)
}

// decompress begins with src, whose first bytes head has.
func (r *Reader) decompress(ctx context.Context, head []byte, src io.Reader) error {
	cost, err := r.kind.Cost(head)
	if err != nil {
		return format.Error(format.ErrData, "%w", err)
	}
	r.window = cost
	if r.share != nil {
		if r.lease, err = r.share.Acquire(ctx, cost); err != nil {
			return fmt.Errorf("%s: %w", r.kind, err)
		}
	}
	if r.dec, err = r.kind.NewReader(src); err != nil {
		return r.cause(err)
	}
	return nil
}

// one goes on with one frame after another.
func (r *Reader) one(ctx context.Context) error {
	pend := r.many.pend
	r.many.close()
	r.many, r.src.ctx = nil, ctx
	return r.decompress(ctx, pend, io.MultiReader(bytes.NewReader(pend), &r.src))
}

// seek is pass for what is stored as it is.
func (r *Reader) seek(from int64) error {
	if from > r.r.Size() {
		return format.Error(format.ErrData, "byte %d of %d: %w", from, r.r.Size(), io.ErrUnexpectedEOF)
	}
	r.src.next, r.src.off, r.at = from, from, from
	return nil
}

// pass reads and forgets.
func (r *Reader) pass(ctx context.Context, n int64) error {
	if n == 0 {
		return nil
	}
	buf := make([]byte, min(n, 64<<10))
	for r.at < n {
		if _, err := r.Fill(ctx, buf[:min(int64(len(buf)), n-r.at)]); err != nil {
			if errors.Is(err, io.EOF) {
				err = format.Error(format.ErrData, "byte %d of %d: %w", n, r.at, io.ErrUnexpectedEOF)
			}
			return err
		}
	}
	return nil
}

// Compression is how the object is compressed.
func (r *Reader) Compression() codec.File { return r.kind }

// Window is what the decompressor takes.
func (r *Reader) Window() int64 { return r.window }

// Stored is about how many stored bytes were used.
func (r *Reader) Stored() int64 { return r.src.off }

// Remote says that the object lies in a remote store.
func (r *Reader) Remote() bool { return r.r.Remote() }

// At is the decompressed offset of the byte that comes next.
func (r *Reader) At() int64 { return r.at }

// Fill reads until p is full. Fewer bytes come only at the object's end, with
// io.EOF, or with an error.
func (r *Reader) Fill(ctx context.Context, p []byte) (int, error) {
	if r.err != nil {
		return 0, r.err
	}
	var n int
	var err error
	for r.many != nil && n < len(p) && err == nil {
		var k int
		k, err = r.many.fill(ctx, p[n:])
		n += k
		if err == io.EOF && r.many.stopped {
			err = r.one(ctx)
		}
	}
	if r.many == nil {
		r.src.ctx = ctx
	}
	if r.many == nil && r.dec == nil {
		n, err = r.src.fill(p)
	}
	for r.dec != nil && n < len(p) && err == nil {
		var k int
		k, err = r.dec.Read(p[n:])
		n += k
	}
	r.at += int64(n)
	if err != nil {
		r.err = r.cause(err)
	}
	return n, r.err
}

// cause prefers what the store said; the rest is the fault of the bytes.
func (r *Reader) cause(err error) error {
	switch {
	case err == io.EOF:
		return err
	case r.many != nil:
		return err // of the store, or of a known kind
	case r.src.err != nil && r.src.err != io.EOF:
		return r.src.err
	}
	return format.Error(format.ErrData, "after %d decompressed bytes: %w", r.at, err)
}

// Close gives everything back. It is idempotent.
func (r *Reader) Close() error {
	if r.r == nil {
		return nil
	}
	if r.many != nil {
		r.many.close()
		r.many = nil
	}
	r.src.close()
	if r.dec != nil {
		r.dec.Close()
		r.dec = nil
	}
	r.lease.Release()
	err := r.r.Close()
	r.r = nil
	r.err = errors.New("read of a closed input")
	return err
}

// Head is the first n decompressed bytes of an object, or all there are.
func Head(ctx context.Context, s store.Store, o store.Object, n int) ([]byte, codec.File, error) {
	r, err := Open(ctx, Config{Store: s, Object: o, Ahead: Least})
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	buf := make([]byte, n)
	got, err := r.Fill(ctx, buf)
	if err == io.EOF {
		err = nil
	}
	return buf[:got], r.kind, err
}
