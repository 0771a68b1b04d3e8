package input

import (
	"context"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// frames decompresses the frames of a zstd file side by side, as far as they
// say how large they are and are small. It is an io.Reader of what they hold.
type frames struct {
	src     *source // used by next alone
	share   *mem.Budget
	lease   *mem.Lease // of the decoders
	most    int64      // decompressed bytes of a frame
	pend    []byte
	results *stream.Ordered[codec.Decoder, *frame]
	now     *frame
	stopped bool // by a frame that is not to be held whole, which pend begins
}

const (
	frameHeader = zstd.HeaderMaxSize
	// frameBlock is the header of a block.
	frameBlock = 3
)

// frame is one frame, and then what it held.
type frame struct {
	f       *frames
	packed  *mem.Block
	size    int // bytes of packed
	content int
	out     *mem.Block
	used    int
}

// framesFit is the largest frame for which memory bytes suffice with n
// threads: for those in flight, one being read and one given out there are
// twice and once its bytes, and what blocks are rounded up by.
func framesFit(memory int64, n int) int64 {
	return (memory - int64(n)*codec.Zstd.Heap()) / int64(4*(n+3))
}

// Many says whether an object consists of frames that n threads decompress
// side by side in memory bytes, as far as its beginning shows.
func Many(ctx context.Context, s store.Store, o store.Object, memory int64, n int) (bool, error) {
	r, err := s.Open(ctx, o)
	if err != nil {
		return false, err
	}
	defer r.Close()
	head := make([]byte, min(headBytes, r.Size()))
	if err := r.ReadAt(ctx, head, 0); err != nil {
		return false, err
	}
	return codec.Recognise(o.URL, head) == codec.ZstdFile && small(head, framesFit(memory, n)), nil
}

// openFrames reads from src with n threads.
func openFrames(ctx context.Context, src *source, share *mem.Budget, n int, waits *stream.Waits) (*frames, error) {
	lease, err := share.Acquire(ctx, int64(n)*codec.Zstd.Heap())
	if err != nil {
		return nil, err
	}
	f := &frames{src: src, share: share, most: framesFit(share.Limit(), n), lease: lease}
	f.results = stream.NewOrdered(n, n+1, f.next, func() *codec.Decoder { return new(codec.Decoder) }, (*frame).free, waits)
	return f, nil
}

// small says that the frame whose header head begins with may be held whole.
func small(head []byte, most int64) bool {
	var h zstd.Header
	return h.Decode(head) == nil && (h.Skippable || h.HasFCS && h.FrameContentSize > 0 && h.FrameContentSize <= uint64(most))
}

// next reads one frame.
func (f *frames) next(ctx context.Context) (stream.Task[codec.Decoder, *frame], error) {
	f.src.ctx = ctx
	for {
		if err := f.look(); err != nil {
			return nil, err
		}
		var h zstd.Header
		if err := h.Decode(f.pend); err != nil {
			return nil, damaged(err)
		}
		if h.Skippable {
			if err := f.skip(int64(h.HeaderSize) + int64(h.SkippableSize)); err != nil {
				return nil, err
			}
			continue
		}
		if !small(f.pend, f.most) {
			f.stopped = true
			return nil, io.EOF
		}
		return f.read(ctx, &h)
	}
}

func damaged(err error) error { return format.Error(format.ErrData, "zstd: %w", err) }

// look fills pend with what may be a header; io.EOF: there is nothing.
func (f *frames) look() error {
	buf := make([]byte, frameHeader)
	n := copy(buf, f.pend)
	k, err := io.ReadFull(f.src, buf[n:])
	f.pend = buf[:n+k]
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
		if len(f.pend) == 0 {
			err = io.EOF
		}
	}
	return err
}

// take fills p from pend and what follows it.
func (f *frames) take(p []byte) error {
	n := copy(p, f.pend)
	f.pend = f.pend[n:]
	_, err := io.ReadFull(f.src, p[n:])
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return damaged(io.ErrUnexpectedEOF)
	}
	return err
}

func (f *frames) skip(n int64) error {
	k := min(n, int64(len(f.pend)))
	f.pend = f.pend[k:]
	if m, err := io.CopyN(io.Discard, f.src, n-k); m < n-k {
		if err == io.EOF {
			err = damaged(io.ErrUnexpectedEOF)
		}
		return err
	}
	return nil
}

// read collects the blocks of a frame. More than twice its content is more
// than any encoder makes of it.
func (f *frames) read(ctx context.Context, h *zstd.Header) (stream.Task[codec.Decoder, *frame], error) {
	limit := 2*int(h.FrameContentSize) + frameHeader + 64
	block, err := f.share.Map(ctx, limit)
	if err != nil {
		return nil, err
	}
	t := &frame{f: f, packed: block, content: int(h.FrameContentSize)}
	buf := block.Bytes()
	add := func(n int) error {
		if t.size+n > limit {
			return damaged(io.ErrShortBuffer)
		}
		err := f.take(buf[t.size : t.size+n])
		t.size += n
		return err
	}
	err = add(h.HeaderSize)
	for last := false; !last && err == nil; {
		if err = add(frameBlock); err != nil {
			break
		}
		b := buf[t.size-frameBlock:]
		v := int(b[0]) | int(b[1])<<8 | int(b[2])<<16
		n := v >> 3
		if v>>1&3 == 1 {
			n = 1 // a byte that is repeated
		}
		last = v&1 == 1
		err = add(n)
	}
	if err == nil && h.HasCheckSum {
		err = add(4)
	}
	if err != nil {
		t.Drop()
		return nil, err
	}
	return t, nil
}

// Step decompresses the frame.
func (t *frame) Step(ctx context.Context, d *codec.Decoder) (*frame, bool, error) {
	out, err := t.f.share.Map(ctx, t.content+codec.Slack)
	if err != nil {
		return nil, false, err
	}
	r := &frame{out: out, content: t.content}
	if err := d.Decompress(codec.Zstd, out.Bytes()[:t.content], t.packed.Bytes()[:t.size]); err != nil {
		r.free()
		return nil, false, format.Error(format.ErrData, "%w", err)
	}
	return r, true, nil
}

// Drop gives the compressed bytes back.
func (t *frame) Drop() {
	t.packed.Free()
	t.packed = nil
}

func (t *frame) free() { t.out.Free() }

// fill fills p as far as one frame goes.
func (f *frames) fill(ctx context.Context, p []byte) (int, error) {
	if f.now == nil {
		r, err := f.results.Next(ctx)
		if err != nil {
			return 0, err
		}
		f.now = r
	}
	n := copy(p, f.now.out.Bytes()[f.now.used:f.now.content])
	if f.now.used += n; f.now.used == f.now.content {
		f.now.free()
		f.now = nil
	}
	return n, nil
}

func (f *frames) close() {
	if f.now != nil {
		f.now.free()
		f.now = nil
	}
	f.results.Close()
	f.lease.Release()
}
