package records

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// raw is a block of bytes as they were read. It is shared by the task that
// parses it and the feeder that still needs its end.
type raw struct {
	block *mem.Block
	buf   []byte // without the slack
	refs  atomic.Int32
}

func (r *raw) release() {
	if r != nil && r.refs.Add(-1) == 0 {
		r.block.Free()
	}
}

// feeder reads the objects and cuts them into tasks.
type feeder struct {
	*dataset
	sizes
	share *mem.Budget // of pieces, batches and input
	limit int64       // bytes of it that can ever be had
	spare *mem.Budget // of batches after the first of a piece
	waits *stream.Waits
	// frames, if not nil, pays for decompressing side by side
	frames *mem.Budget

	object int
	from   int64 // where to begin in object
	in     *input.Reader
	end    func() error // what Layout.Tap wants asked; nil: nothing
	cut    Cutter
	first  bool  // no record of the object was seen
	offset int64 // of rest

	held *raw // has the rest in it
	rest []byte
}

// next makes the next task, or gives io.EOF.
func (f *feeder) next(ctx context.Context) (stream.Task[worker, *result], error) {
	for {
		if f.in == nil {
			if f.object >= len(f.Source.Objects) {
				return nil, io.EOF
			}
			if err := f.open(ctx); err != nil {
				return nil, f.at(f.object, err)
			}
		}
		t, err := f.piece(ctx)
		var bad *Bad
		if errors.As(err, &bad) {
			// It has its turn behind the records before it.
			return &task{f: f, piece: Piece{Object: f.object, Offset: f.offset}, bad: bad}, nil
		}
		if err != nil {
			return nil, f.at(f.object, err)
		}
		if t != nil {
			return t, nil
		}
	}
}

// at says which object err is about.
func (f *feeder) at(object int, err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	return fmt.Errorf("%s: %s: %w", f.Name, f.Source.Objects[object].URL, err)
}

func (f *feeder) open(ctx context.Context) error {
	c := input.Config{
		Store: f.Source.Store, Object: f.Source.Objects[f.object], From: f.from,
		Ahead: f.before, Share: f.share, Waits: f.waits, Frames: f.frames, Threads: f.threads,
	}
	if f.As != nil {
		as := f.As(f.object)
		c.As = &as
	}
	f.end = nil
	if f.Tap != nil && f.from == 0 {
		c.Tap, f.end = f.Tap(f.object)
	}
	in, err := input.Open(ctx, c)
	if err != nil {
		return err
	}
	f.in, f.cut = in, f.Cutter(f.object)
	// What the decompressor has more than was planned, pieces have less.
	if need := f.taken() + 2*int64(mem.BlockSize(f.sizes.piece+Slack)) + 2*int64(mem.BlockSize(f.sizes.batch)); need > f.limit {
		return &mem.TooSmallError{Share: "decompressing", Need: need + need/4, Limit: f.limit}
	}
	f.first, f.offset = f.from == 0, f.from
	if f.from > 0 {
		f.cut.Resume()
	}
	f.from = 0
	return nil
}

// taken is what the input takes: more than was planned where this object's
// decompressor does.
func (f *feeder) taken() int64 {
	n := f.fixed(f.sizes)
	if f.in != nil {
		n += max(0, f.in.Window()-f.Window)
	}
	return n
}

// piece reads one piece and cuts it; nil: it held no records.
func (f *feeder) piece(ctx context.Context) (stream.Task[worker, *result], error) {
	r, err := f.block(ctx, max(f.sizes.piece, 2*len(f.rest)))
	if err != nil {
		return nil, f.tooLong(len(f.rest), err)
	}
	defer func() { r.release() }()
	have := copy(r.buf, f.rest)
	f.let()
	for {
		n, err := f.in.Fill(ctx, r.buf[have:])
		have += n
		final := err == io.EOF
		if err != nil && !final {
			return nil, err
		}
		from, to, err := f.cut.Cut(r.buf[:have], final)
		if err != nil {
			return nil, err
		}
		if to == 0 && !final {
			if r, err = f.grow(ctx, r); err != nil {
				return nil, f.tooLong(have, err)
			}
			continue
		}
		if final && f.end != nil {
			if err := f.end(); err != nil {
				return nil, err
			}
		}
		return f.task(ctx, r, from, to, have, final)
	}
}

// task makes a task of buf[from:to] and keeps the rest for the next piece.
func (f *feeder) task(ctx context.Context, r *raw, from, to, have int, final bool) (stream.Task[worker, *result], error) {
	t := &task{f: f, piece: Piece{
		Object: f.object, Offset: f.offset + int64(from), Data: r.buf[from:to], First: f.first, Last: final,
	}}
	some := from < to || final && f.first && f.Whole
	if some {
		var err error
		if t.block, err = f.batch(ctx, r, to-from); err != nil {
			return nil, f.tooLong(to-from, err)
		}
		r.refs.Add(1)
		t.raw = r
		f.first = false
	}
	f.offset += int64(to)
	if final {
		f.in.Close()
		f.in = nil
		f.object++
	} else if to < have {
		r.refs.Add(1)
		f.held, f.rest = r, r.buf[to:have]
	}
	if !some {
		return nil, nil
	}
	return t, nil
}

// batch finds the memory for a piece's first batch: for one that is a record
// larger than others, as much as such a record may need.
func (f *feeder) batch(ctx context.Context, r *raw, n int) (*mem.Block, error) {
	size := f.sizes.batch
	if n > f.sizes.piece {
		most := f.limit - f.taken() - int64(r.block.Cap())
		// The next piece finds room beside it, if that can be.
		good := most - int64(mem.BlockSize(f.sizes.piece+Slack)) - int64(mem.BlockSize(f.sizes.batch))
		least := n + n/8 + f.least
		size = max(size, f.plan(1, n).batch, least)
		for int64(mem.BlockSize(size)) > good && size > least {
			size = max(size*3/4, least)
		}
		if missing := int64(mem.BlockSize(size)) - most; missing > 0 {
			return nil, f.lack(missing)
		}
	}
	return f.share.Map(ctx, size)
}

// block is memory for a piece, which it waits for: all that is in flight
// comes back without the feeder.
func (f *feeder) block(ctx context.Context, n int) (*raw, error) {
	size := int64(mem.BlockSize(n + Slack))
	if f.taken()+f.heldBytes()+size > f.limit {
		return nil, f.short(n)
	}
	b, err := f.share.Map(ctx, n+Slack)
	if err != nil {
		return nil, err
	}
	r := &raw{block: b, buf: b.Bytes()[:n]}
	r.refs.Store(1)
	return r, nil
}

// grow is r in a larger block; r is given back.
func (f *feeder) grow(ctx context.Context, r *raw) (*raw, error) {
	n := len(r.buf)
	spent := f.taken() + int64(r.block.Cap())
	size := 2 * n
	if s, ok := f.cut.(Sizer); ok && s.Need() > int64(n) {
		// It is known how long the record is: it must fit beside its batch.
		if n := min(s.Need(), build.Most); f.taken()+f.whole(n) > f.limit {
			return r, f.lack(f.taken() + f.whole(n) - f.limit)
		}
		size = int(s.Need())
	}
	for size > n+n/8 && spent+int64(mem.BlockSize(size+Slack)) > f.limit {
		size = size * 7 / 8
	}
	if spent+int64(mem.BlockSize(size+Slack)) > f.limit {
		return r, f.short(n)
	}
	b, err := f.share.Map(ctx, size+Slack)
	if err != nil {
		return r, err
	}
	out := &raw{block: b, buf: b.Bytes()[:size]}
	out.refs.Store(1)
	copy(out.buf, r.buf)
	r.release()
	return out, nil
}

func (f *feeder) heldBytes() int64 {
	if f.held == nil {
		return 0
	}
	return int64(f.held.block.Cap())
}

// whole is the memory for one record of n bytes, which is read into one piece,
// and its batch.
func (f *feeder) whole(n int64) int64 {
	return int64(mem.BlockSize(int(n)+Slack)) + int64(mem.BlockSize(int(n+n/8)+f.least))
}

// short says what a record of twice the n bytes that were seen of this one
// would need: where it ends is not known.
func (f *feeder) short(n int) error {
	return f.lack(max(f.taken()+f.alone(2*int64(n))-f.limit, f.limit/4))
}

// lack says that so many bytes are missing.
func (f *feeder) lack(missing int64) error {
	return &mem.TooSmallError{Share: "reading", Need: f.limit + missing, Limit: f.limit}
}

// tooLong says which record does not fit, of which so many bytes were seen.
func (f *feeder) tooLong(seen int, err error) error {
	if errors.Is(err, mem.ErrTooSmall) {
		return fmt.Errorf("byte %d: a record of %s or more: %w", f.offset, mem.Format(int64(seen)), err)
	}
	return err
}

// let gives back what was kept of the piece before.
func (f *feeder) let() {
	f.held.release()
	f.held, f.rest = nil, nil
}

func (f *feeder) close() {
	f.let()
	if f.in != nil {
		f.in.Close()
		f.in = nil
	}
	f.frames.Close()
}
