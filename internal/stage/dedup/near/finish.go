package near

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/dedup"
)

const (
	pairsName = "near-pairs-%d"
	linksName = "near-links-%d"
	bitsName  = "near-bits"
	// bitsBuffer is what is written and read at a time of bits and pairs.
	bitsBuffer = 64 << 10
)

// Finish says which rows are the first of their group. The answer lies on
// scratch space, durably; the set can only be closed and removed afterwards.
// The files of the set stay until Remove, so that a run that ends before it
// has noted the answer can be resumed.
func (s *Set) Finish(ctx context.Context) (*dedup.Kept, error) {
	if s.err != nil {
		return nil, s.err
	}
	k, err := s.finish(ctx)
	if err != nil {
		s.err = fmt.Errorf("dedup: %w", err)
		return nil, s.err
	}
	s.Close()
	return k, nil
}

func (s *Set) finish(ctx context.Context) (*dedup.Kept, error) {
	if err := s.keys.flushAll(ctx); err != nil {
		return nil, err
	}
	s.keys.free()
	for _, w := range s.writers() {
		if err := w.Close(); err != nil {
			return nil, err
		}
	}
	l, err := s.plan()
	if err != nil {
		return nil, err
	}
	return s.solved(ctx, l)
}

// solved looks for pairs, and joins them.
func (s *Set) solved(ctx context.Context, l layout) (*dedup.Kept, error) {
	v := &solving{Set: s, l: l}
	if l.direct {
		block, err := v.open(ctx)
		if err != nil {
			return nil, err
		}
		defer block.Free()
		v.win.reset(0, uint64(s.rows))
		if err := v.findPairs(ctx); err != nil {
			return nil, err
		}
		return v.join(ctx)
	}
	lease, err := s.c.Share.Acquire(ctx, int64(l.windows)*2*fanAccount)
	if err != nil {
		return nil, err
	}
	defer lease.Release()
	if v.pairs, err = newFan(ctx, s.c.Scratch, s.c.Share, pairsName, l.windows, pairBytes, l.region); err != nil {
		return nil, err
	}
	defer v.pairs.free()
	if err = v.findPairs(ctx); err == nil {
		err = v.pairs.flushAll(ctx)
	}
	if err != nil {
		return nil, err
	}
	v.pairs.free()
	if v.links, err = newFan(ctx, s.c.Scratch, s.c.Share, linksName, l.windows, pairBytes, l.region); err != nil {
		return nil, err
	}
	defer v.links.free()
	return v.joined(ctx)
}

// open gets the memory of a window.
func (s *solving) open(ctx context.Context) (*mem.Block, error) {
	row := 4
	if !s.l.direct {
		row = windowRow
	}
	if s.c.Check {
		row += sketchBytes
	}
	block, err := s.c.Share.Map(ctx, int(s.l.window)*row)
	if err != nil {
		return nil, err
	}
	n := int(s.l.window)
	b := block.Bytes()
	if !s.l.direct {
		s.win.down, b = viewOf[uint64](b[:8*n]), b[8*n:]
		s.win.pass = func(ctx context.Context, row, earlier uint64) error { return s.put(ctx, s.links, row, earlier) }
	}
	s.win.parent = viewOf[uint32](b[:4*n])
	return block, nil
}

// joined joins the pairs that are on disk.
func (s *solving) joined(ctx context.Context) (*dedup.Kept, error) {
	block, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	defer block.Free()
	switch {
	case s.c.Check:
		c, err := s.openChecks(ctx)
		if err != nil {
			return nil, err
		}
		defer c.close()
		sketches := block.Bytes()[windowRow*s.l.window:]
		s.take = func(ctx context.Context, i int) error { return s.check(ctx, c, i, sketches) }
	case s.c.Exact:
		j, err := s.openJudges(ctx)
		if err != nil {
			return nil, err
		}
		defer j.close()
		s.take = func(ctx context.Context, i int) error { return s.judge(ctx, j, i) }
	default:
		s.take = func(ctx context.Context, i int) error { return s.joinFile(ctx, s.pairs, i) }
	}
	return s.join(ctx)
}

// join goes through the windows from the last to the first, and writes the
// answer.
func (s *solving) join(ctx context.Context) (*dedup.Kept, error) {
	out, err := s.c.Scratch.Create(ctx, bitsName, s.c.Share, bitsBuffer)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	shown := &examples{most: min(s.c.Examples, mostExamples)}
	for i := s.l.windows - 1; i >= 0; i-- {
		if !s.l.direct {
			if err := s.window(ctx, i); err != nil {
				return nil, err
			}
		}
		if err := s.note(out, shown); err != nil {
			return nil, err
		}
	}
	if err := out.Close(); err != nil {
		return nil, err
	}
	k, err := s.answer(ctx)
	if err != nil {
		return nil, err
	}
	k.Examples = shown.all()
	return k, s.c.Scratch.Remove(bitsName)
}

// window joins all that belongs together in a window.
func (s *solving) window(ctx context.Context, i int) error {
	lo := int64(i) * s.l.window
	s.win.reset(uint64(lo), uint64(min(s.l.window, s.rows-lo)))
	if err := s.take(ctx, i); err != nil {
		return err
	}
	if err := s.links.flush(ctx, i); err != nil {
		return err
	}
	if err := s.joinFile(ctx, s.links, i); err != nil {
		return err
	}
	if err := s.pairs.remove(i); err != nil {
		return err
	}
	return s.links.remove(i)
}

// joinFile joins the pairs of a file.
func (s *solving) joinFile(ctx context.Context, f *fan, i int) error {
	block, err := s.c.Share.Map(ctx, bitsBuffer)
	if err != nil {
		return err
	}
	defer block.Free()
	return f.read(ctx, i, block.Bytes(), func(b []byte) error {
		for ; len(b) > 0; b = b[pairBytes:] {
			p := binary.LittleEndian.Uint64(b)
			if err := s.win.join(ctx, uint32(p&windowMask), p>>windowBits); err != nil {
				return err
			}
		}
		return nil
	})
}

// note writes the bits of the window's rows.
func (s *solving) note(out *spill.Writer, shown *examples) error {
	shown.begin()
	for at := uint64(0); at < s.win.n; at += 64 {
		word := uint64(0)
		for i := range min(64, s.win.n-at) {
			first, earlier := s.win.first(uint32(at + i))
			if first {
				word |= 1 << i
			} else if shown.room() {
				shown.add(s.win.lo+at+i, earlier)
			}
		}
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], word)
		if _, err := out.Write(b[:]); err != nil {
			return err
		}
	}
	shown.end()
	return nil
}

// answer puts the bits of the windows in the order of the rows.
func (s *solving) answer(ctx context.Context) (*dedup.Kept, error) {
	a, err := dedup.NewAnswer(ctx, s.c.Scratch, s.c.Share)
	if err != nil {
		return nil, err
	}
	defer a.Discard()
	r, err := s.c.Scratch.Reader(bitsName)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	block, err := s.c.Share.Map(ctx, bitsBuffer)
	if err != nil {
		return nil, err
	}
	defer block.Free()
	end := r.Size() // of what was not read: the windows lie there from the last to the first
	for row := int64(0); row < s.rows; {
		n := min(s.l.window, s.rows-row)
		end -= (n + 63) / 64 * 8
		for off := int64(0); off*8 < n; {
			p := block.Bytes()[:min(bitsBuffer, (n+63)/64*8-off)]
			if _, err := r.ReadAt(p, end+off); err != nil {
				return nil, err
			}
			for at := 0; at < len(p); at += 8 {
				k := int(min(64, n-(off+int64(at))*8))
				if err := a.Put(binary.LittleEndian.Uint64(p[at:]), k); err != nil {
					return nil, err
				}
			}
			off += int64(len(p))
		}
		row += n
	}
	return a.End()
}
