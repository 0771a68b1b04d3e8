package input

import (
	"context"
	"io"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// localBlock is what is read of a compressed local file at once.
	localBlock = 128 << 10
	// remoteBlock is what is asked of a remote store at once: enough that the
	// round trip is a small part of it.
	remoteBlock = 1 << 20
	// remoteDepth is how many of these are under way.
	remoteDepth = 8
)

// source gives the stored bytes in order.
type source struct {
	r     store.Reader
	ctx   context.Context // of the call under way: decompressors know none
	share *mem.Budget
	waits *stream.Waits
	tap   func([]byte)

	off   int64 // of the next byte to give
	next  int64 // of the next byte to ask for
	block int   // bytes of a piece
	depth int   // pieces under way; 0: read when asked
	queue []*piece
	spare []*piece
	err   error // what ended it
}

// piece is a part of the object that was read, or is being read.
type piece struct {
	ram  *mem.Block // nil where nobody pays
	buf  []byte
	data []byte // what was asked for
	used int
	got  *stream.Future
}

func (s *source) open(r store.Reader, c Config) {
	*s = source{r: r, share: c.Share, waits: c.Waits, tap: c.Tap}
	s.block = min(localBlock, c.Ahead)
	if r.Remote() {
		s.depth = max(1, min(remoteDepth, c.Ahead/Least/2, (c.Ahead+remoteBlock-1)/remoteBlock))
		s.block = c.Ahead / s.depth &^ 4095
	}
}

// Read makes source an io.Reader for decompressors.
func (s *source) Read(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	c, err := s.front()
	if err != nil {
		s.err = err
		return 0, err
	}
	n := copy(p, c.data[c.used:])
	if s.tap != nil {
		s.tap(p[:n])
	}
	s.give(c, n)
	return n, nil
}

// fill reads until p is full; local bytes go where they belong without a copy.
func (s *source) fill(p []byte) (int, error) {
	if s.depth == 0 {
		n := int(min(int64(len(p)), s.r.Size()-s.off))
		err := s.read(s.ctx, p[:n], s.off)
		if err != nil {
			s.err = err
			return 0, err
		}
		if s.tap != nil {
			s.tap(p[:n])
		}
		s.r.Drop(s.off, int64(n))
		s.off += int64(n)
		s.r.Want(s.off, int64(len(p)))
		if n < len(p) {
			return n, io.EOF
		}
		return n, nil
	}
	n := 0
	for n < len(p) {
		k, err := s.Read(p[n:])
		n += k
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

func (s *source) read(ctx context.Context, p []byte, off int64) error {
	begun := time.Now()
	err := s.r.ReadAt(ctx, p, off)
	s.waits.Store.Add(int64(time.Since(begun)))
	return err
}

// front is the piece that the next byte lies in, read.
func (s *source) front() (*piece, error) {
	if err := s.ask(); err != nil {
		return nil, err
	}
	if len(s.queue) == 0 {
		return nil, io.EOF
	}
	c := s.queue[0]
	if c.got != nil {
		begun := time.Now()
		err := c.got.Wait()
		c.got = nil
		s.waits.Store.Add(int64(time.Since(begun)))
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// ask keeps as many pieces under way as may be.
func (s *source) ask() error {
	for len(s.queue) < max(1, s.depth) && s.next < s.r.Size() {
		c, err := s.piece()
		if err != nil {
			return err
		}
		off := s.next
		c.data = c.buf[:min(int64(len(c.buf)), s.r.Size()-off)]
		c.used = 0
		s.next += int64(len(c.data))
		s.queue = append(s.queue, c)
		ctx := s.ctx
		if s.depth > 0 {
			c.got = stream.Async(func() error { return s.r.ReadAt(ctx, c.data, off) })
			continue
		}
		if err := s.read(ctx, c.data, off); err != nil {
			return err
		}
		s.r.Drop(off, int64(len(c.data)))
		s.r.Want(s.next, int64(s.block))
	}
	return nil
}

// piece finds memory for one.
func (s *source) piece() (*piece, error) {
	if n := len(s.spare); n > 0 {
		c := s.spare[n-1]
		s.spare = s.spare[:n-1]
		return c, nil
	}
	if s.share == nil {
		return &piece{buf: make([]byte, s.block)}, nil
	}
	ram, err := s.share.Map(s.ctx, s.block)
	if err != nil {
		return nil, err
	}
	return &piece{ram: ram, buf: ram.Bytes()}, nil
}

// give counts n bytes as given.
func (s *source) give(c *piece, n int) {
	c.used += n
	s.off += int64(n)
	if c.used == len(c.data) {
		s.queue = s.queue[1:]
		s.spare = append(s.spare, c)
	}
}

// close waits for what is under way and gives the memory back.
func (s *source) close() {
	for _, c := range s.queue {
		if c.got != nil {
			c.got.Wait()
		}
	}
	for _, c := range append(s.queue, s.spare...) {
		c.ram.Free()
	}
	s.queue, s.spare = nil, nil
}

// Cost is the most bytes that reading takes beside the decompressor.
func Cost(remote bool, ahead int) int64 {
	var s source
	s.open(costReader{remote: remote}, Config{Ahead: ahead})
	return int64(max(1, s.depth)) * int64(mem.BlockSize(s.block))
}

// costReader answers only what Cost asks.
type costReader struct {
	store.Reader
	remote bool
}

func (c costReader) Remote() bool { return c.remote }
