package parquet

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format/parquet/meta"
)

const (
	// streamRAM is a streamed window's buffer.
	streamRAM = 16 << 10
	// heldLevels is the most level bytes of a streamed page that are kept in
	// memory; longer ones get a stream of their own. Random nulls in a page
	// of a million values take 128 KiB.
	heldLevels = 64 << 10
)

// loadStreamed opens a page that is too large to be held: levels that are
// short are kept, all else passes through windows.
func (l *leaf) loadStreamed(ctx context.Context, ref pageRef, p *page) error {
	s := &pageStreams{l: l, ctx: ctx, ref: ref, p: p, from: ref.body}
	if ref.Kind == meta.DataPageV2 {
		return s.openV2()
	}
	return s.openV1()
}

// pageStreams opens windows into one page.
type pageStreams struct {
	l    *leaf
	ctx  context.Context
	ref  pageRef
	p    *page
	from int64 // file offset of the compressed bytes
	cost int64 // of one stream

	summing bool // a stream checks the page's checksum
}

// window begins skip bytes into the decompressed bytes.
func (s *pageStreams) window(skip int) (*window, error) {
	end := s.ref.body + int64(s.ref.Compressed)
	size := int64(s.ref.Uncompressed) - (s.from - s.ref.body)
	src := &fileRange{ctx: s.ctx, src: s.l.src, at: s.from, end: end, step: streamAhead}
	ram, ok := s.l.alloc(streamRAM, false)
	if !ok {
		return nil, s.tooSmall(streamRAM)
	}
	s.p.blocks = append(s.p.blocks, ram)
	c := s.l.codec(s.ref)
	if c == codec.None {
		var in io.Reader = src
		if src.at += int64(skip); skip == 0 {
			in = s.summed(src)
		}
		w := streamed(in, ram.Bytes())
		return &w, nil
	}
	if err := s.pay(c, size); err != nil {
		return nil, err
	}
	st, err := c.NewStream(s.summed(src), size)
	if err != nil {
		return nil, err
	}
	s.p.streams = append(s.p.streams, st)
	w := streamed(&codecReader{Stream: st, s: s}, ram.Bytes())
	return &w, w.discard(skip)
}

// summed checks the page's checksum along with the first stream of a page that
// is compressed as one, which reads all of it.
func (s *pageStreams) summed(src io.Reader) io.Reader {
	if !s.ref.HasCRC || s.ref.Kind == meta.DataPageV2 || s.summing {
		return src
	}
	s.summing = true
	return &checked{src: src, left: int64(s.ref.Compressed), want: s.ref.CRC}
}

// pay leases what one stream holds.
func (s *pageStreams) pay(c codec.Codec, size int64) error {
	if s.cost == 0 {
		head := make([]byte, min(64, int(s.ref.Compressed)))
		if err := s.l.src.read(s.ctx, head, s.from); err != nil {
			return err
		}
		cost, err := c.StreamCost(head, size)
		if err != nil {
			return err
		}
		s.cost = cost
	}
	lease, ok := s.l.extra.TryAcquire(s.cost)
	if !ok {
		lease, ok = s.l.reserve.TryAcquire(s.cost)
	}
	if !ok {
		return s.tooSmall(s.cost)
	}
	s.p.leases = append(s.p.leases, lease)
	return nil
}

// tooSmall says what would have sufficed.
func (s *pageStreams) tooSmall(n int64) error {
	return s.l.tooSmall(fmt.Sprintf("a page of %d bytes", s.ref.Uncompressed), n)
}

// codecReader turns a back reference past the window into the budget's error:
// with room for the whole page it would have been read.
type codecReader struct {
	codec.Stream
	s *pageStreams
}

func (r *codecReader) Read(b []byte) (int, error) {
	n, err := r.Stream.Read(b)
	if errors.Is(err, codec.ErrWindow) {
		err = r.s.tooSmall(int64(r.s.ref.Uncompressed) + int64(r.s.ref.Compressed))
	}
	return n, err
}

// openV1 reads the levels that stand before the values in the same stream.
func (s *pageStreams) openV1() error {
	main, err := s.window(0)
	if err != nil {
		return bad("page", err)
	}
	at := 0
	levels := func(w *window) error {
		b, err := main.need(4)
		if err != nil {
			return err
		}
		size := int(binary.LittleEndian.Uint32(b))
		main.skip(4)
		at += 4
		if size > int(s.ref.Uncompressed)-at {
			return fmt.Errorf("%w: levels of %d bytes", errShort, size)
		}
		if size <= heldLevels {
			err = s.hold(w, size, main.read)
		} else {
			var own *window
			if own, err = s.window(at); err == nil {
				*w = *own
				err = main.discard(size)
			}
		}
		at += size
		return err
	}
	if s.l.MaxRep > 0 {
		if err := levels(&s.p.repWin); err != nil {
			return bad("repetition levels", err)
		}
	}
	if s.l.MaxDef > 0 {
		if err := levels(&s.p.defWin); err != nil {
			return bad("definition levels", err)
		}
	}
	first := true
	return s.l.begin(s.ref, s.p, int(s.ref.Uncompressed)-at, func(skip int) (*window, error) {
		if first && skip == 0 {
			first = false
			return main, nil
		}
		return s.window(at + skip)
	})
}

// openV2 finds the levels uncompressed before the values.
func (s *pageStreams) openV2() error {
	for _, part := range []struct {
		w    *window
		size int32
		name string
	}{{&s.p.repWin, s.ref.RepLen, "repetition levels"}, {&s.p.defWin, s.ref.DefLen, "definition levels"}} {
		size := int(part.size)
		if size <= heldLevels {
			at := s.from
			err := s.hold(part.w, size, func(b []byte) error { return s.l.src.read(s.ctx, b, at) })
			if err != nil {
				return bad(part.name, err)
			}
		} else {
			ram, ok := s.l.alloc(streamRAM, false)
			if !ok {
				return s.tooSmall(streamRAM)
			}
			s.p.blocks = append(s.p.blocks, ram)
			*part.w = streamed(&fileRange{ctx: s.ctx, src: s.l.src, at: s.from, end: s.from + int64(size), step: streamAhead}, ram.Bytes())
		}
		s.from += int64(size)
	}
	size := int(s.ref.Uncompressed) - int(s.from-s.ref.body)
	return s.l.begin(s.ref, s.p, size, s.window)
}

// hold keeps size level bytes in memory.
func (s *pageStreams) hold(w *window, size int, read func([]byte) error) error {
	if size == 0 {
		*w = window{}
		return nil
	}
	block, ok := s.l.alloc(size+slack, false)
	if !ok {
		return s.tooSmall(int64(size + slack))
	}
	s.p.blocks = append(s.p.blocks, block)
	b := block.Bytes()[:size]
	*w = whole(b)
	return read(b)
}

// fileRange reads a part of a chunk in order, and tells the source some bytes
// ahead.
type fileRange struct {
	ctx  context.Context
	src  source
	at   int64
	end  int64
	step int64 // how far ahead
	told int64
}

// A stream is one of many that take turns; a page that is decompressed while
// it is read is not.
const (
	streamAhead = 128 << 10
	pageAhead   = 1 << 20
)

func (r *fileRange) Read(b []byte) (int, error) {
	if r.at >= r.end {
		return 0, io.EOF
	}
	b = b[:min(int64(len(b)), r.end-r.at)]
	if r.at >= r.told {
		r.told = min(r.end, r.at+r.step)
		r.src.want(r.at, r.told-r.at)
	}
	if err := r.src.take(r.ctx, b, r.at); err != nil {
		return 0, err
	}
	r.at += int64(len(b))
	return len(b), nil
}

// checked compares what passes through it with a checksum at the end.
type checked struct {
	src  io.Reader
	left int64
	sum  uint32
	want uint32
}

func (c *checked) Read(b []byte) (int, error) {
	n, err := c.src.Read(b)
	c.sum = crc32.Update(c.sum, crc32.IEEETable, b[:n])
	c.left -= int64(n)
	if c.left == 0 && n > 0 && c.sum != c.want {
		return 0, errSum
	}
	return n, err
}
