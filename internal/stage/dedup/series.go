package dedup

import (
	"context"

	"github.com/weir-data/weir/internal/spill"
)

// series is a sequence of bytes that grows at its end: the older ones on disk,
// the younger ones in chunks of memory. Blocks are of a fixed size and never
// lie across two chunks.
type series struct {
	name   string
	entry  int      // bytes that are read together
	block  int      // bytes that are appended together, some entries
	chunks []uint32 // in memory, the one to fill last
	buf    []byte   // the chunk to fill, cut to whole blocks; nil: none yet
	n      int      // bytes of buf that are taken
	disk   int64    // bytes on disk
	synced int64    // bytes that are there durably
	w      *spill.Writer
}

// size is the number of bytes.
func (s *series) size(a *arena) int64 {
	if s.buf == nil {
		return s.disk
	}
	return s.disk + int64(len(s.chunks)-1)*int64(a.chunk/s.block*s.block) + int64(s.n)
}

// turn begins a chunk; false: there is none.
func (s *series) turn(a *arena) bool {
	id, ok := a.get()
	if !ok {
		return false
	}
	s.chunks = append(s.chunks, id)
	s.buf, s.n = a.bytes(id)[:a.chunk/s.block*s.block], 0
	return true
}

// full is the number of chunks in memory that are full.
func (s *series) full() int { return max(len(s.chunks)-1, 0) }

// evict writes the full chunks to disk and, if all, the last one too, and
// gives them back.
func (s *series) evict(ctx context.Context, dir *spill.Dir, a *arena, all bool) error {
	n := s.full()
	if all {
		n = len(s.chunks)
	}
	if n == 0 {
		return nil
	}
	if s.w == nil {
		w, err := dir.Create(ctx, s.name, a.share, 0)
		if err != nil {
			return err
		}
		s.w = w
	}
	for i, id := range s.chunks[:n] {
		p := a.bytes(id)[:len(s.buf)]
		if i == len(s.chunks)-1 {
			p = p[:s.n]
		}
		if _, err := s.w.Write(p); err != nil {
			return err
		}
		s.disk += int64(len(p))
	}
	s.drop(a, n)
	return nil
}

// drop gives the first n chunks back.
func (s *series) drop(a *arena, n int) {
	for _, id := range s.chunks[:n] {
		a.put(id)
	}
	s.chunks = append(s.chunks[:0], s.chunks[n:]...)
	if len(s.chunks) == 0 {
		s.buf, s.n = nil, 0
	}
}

// reset makes the series empty.
func (s *series) reset(dir *spill.Dir, a *arena) error {
	s.drop(a, len(s.chunks))
	if s.w == nil {
		return nil
	}
	s.w, s.disk = nil, 0
	return dir.Remove(s.name)
}

// scan reads a series front to back. It holds nothing open between calls.
type scan struct {
	s   *series
	a   *arena
	dir *spill.Dir
	buf []byte // for what is on disk
	off int64  // of what is on disk
	at  int    // chunks that were read
}

// scan begins at the front; what is on disk is read through buf.
func (s *series) scan(dir *spill.Dir, a *arena, buf []byte) scan {
	return scan{s: s, a: a, dir: dir, buf: buf[:len(buf)/s.entry*s.entry]}
}

// next is some bytes more, whole entries, valid until the next call; none: the
// end.
func (r *scan) next() ([]byte, error) {
	if r.off < r.s.disk {
		return r.read()
	}
	if r.at == len(r.s.chunks) {
		return nil, nil
	}
	p := r.a.bytes(r.s.chunks[r.at])[:len(r.s.buf)]
	if r.at++; r.at == len(r.s.chunks) {
		p = p[:r.s.n]
	}
	return p, nil
}

func (r *scan) read() ([]byte, error) {
	f, err := r.dir.Reader(r.s.name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	p := r.buf[:min(int64(len(r.buf)), r.s.disk-r.off)]
	if _, err := f.ReadAt(p, r.off); err != nil {
		return nil, err
	}
	r.off += int64(len(p))
	return p, nil
}
