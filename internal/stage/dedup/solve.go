package dedup

import (
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// worker is what a thread needs to solve partitions.
type worker struct {
	block   *mem.Block
	memory  [][2]uint64 // of the table
	table   *table
	in, old []byte // buffers for keys and for the answers of the pass before
}

func (w *worker) open(ctx context.Context, share *mem.Budget, l layout) error {
	block, err := share.Map(ctx, l.table+2*l.buffer)
	if err != nil {
		return err
	}
	b := block.Bytes()
	w.block, w.in, w.old = block, b[l.table:l.table+l.buffer], b[l.table+l.buffer:]
	w.memory = slotsOf(b[:l.table])
	w.table = newTable()
	return nil
}

// solveAll fills the answers of all partitions, side by side.
func (s *Set) solveAll(ctx context.Context, l layout, answers *[parts]series) error {
	workers := make([]*worker, 0, l.threads)
	defer func() {
		for _, w := range workers {
			w.block.Free()
		}
	}()
	for range l.threads {
		w := new(worker)
		if err := w.open(ctx, s.c.Share, l); err != nil {
			return err
		}
		workers = append(workers, w)
	}
	var given atomic.Int32 // each thread asks for its own
	pool := stream.NewPool(l.threads, func() *worker { return workers[given.Add(1)-1] })
	defer pool.Close()
	return pool.Each(parts, func(p int, w *worker) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return s.solve(ctx, p, w, l.flushed, &answers[p])
	})
}

// solve finds the first rows of a partition. Usually its keys fit the table
// and one pass does it. Else a pass looks at the keys whose hash is in a range
// that fits, and leaves those above it to the next.
func (s *Set) solve(ctx context.Context, p int, w *worker, flushed bool, out *series) error {
	// Passes take turns with two files.
	names := [2]string{fmt.Sprintf("dedup-rows-%02x", p), fmt.Sprintf("dedup-pass-%02x", p)}
	old, now := series{entry: 8, block: 8}, series{name: names[0], entry: 8, block: 8}
	n := s.parts[p].size(s.arena) / keyBytes
	lo, width := uint64(0), ^uint64(0)
	for pass := 1; ; {
		hi := lo + width
		if hi < lo {
			hi = ^uint64(0)
		}
		w.table.reset(w.memory, n)
		fits, err := s.pass(ctx, p, w, lo, hi, &old, &now)
		if err != nil {
			return err
		}
		if !fits {
			width /= 2
			if err := now.reset(s.c.Scratch, s.arena); err != nil {
				return err
			}
			continue
		}
		if err := old.reset(s.c.Scratch, s.arena); err != nil {
			return err
		}
		if hi == ^uint64(0) {
			break
		}
		lo = hi + 1
		old, now = now, series{name: names[pass%2], entry: 8, block: 8}
		pass++
	}
	*out = now
	if flushed {
		return out.evict(ctx, s.c.Scratch, s.arena, true)
	}
	return nil
}

// pass goes over the keys of a partition once; false: too many in the range.
func (s *Set) pass(ctx context.Context, p int, w *worker, lo, hi uint64, old, now *series) (bool, error) {
	keys := s.parts[p].scan(s.c.Scratch, s.arena, w.in)
	before := wordsIn{scan: old.scan(s.c.Scratch, s.arena, w.old)}
	acc, have := uint64(0), 0 // bits that do not yet fill a word
	for {
		b, err := keys.next()
		if err != nil {
			return false, err
		}
		if len(b) == 0 {
			break
		}
		for len(b) > 0 {
			n := min(64-have, len(b)/keyBytes)
			first, below, ok := w.table.word(b, n, lo, hi)
			if !ok {
				return false, nil
			}
			b = b[n*keyBytes:]
			if lo > 0 {
				if have == 0 {
					if err := before.next(); err != nil {
						return false, err
					}
				}
				first |= below & (before.now >> have)
			}
			acc |= first << have
			if have += n; have == 64 {
				if err := s.note(ctx, now, acc); err != nil {
					return false, err
				}
				acc, have = 0, 0
			}
		}
	}
	if have > 0 {
		return true, s.note(ctx, now, acc)
	}
	return true, nil
}

// note appends a word to the answers of a partition. Where memory ends they
// go to disk.
func (s *Set) note(ctx context.Context, t *series, word uint64) error {
	if t.n == len(t.buf) {
		if !t.turn(s.arena) {
			if err := t.evict(ctx, s.c.Scratch, s.arena, true); err != nil {
				return err
			}
			if !t.turn(s.arena) {
				return &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: s.c.Share.Free()}
			}
		}
	}
	binary.LittleEndian.PutUint64(t.buf[t.n:], word)
	t.n += 8
	return nil
}

// wordsIn takes words one by one from a scan.
type wordsIn struct {
	scan scan
	left []byte
	now  uint64 // the word
	bits int    // of it that were not taken
}

// bit is the next one.
func (w *wordsIn) bit() (bool, error) {
	if w.bits == 0 {
		if err := w.next(); err != nil {
			return false, err
		}
	}
	b := w.now&1 == 1
	w.now >>= 1
	w.bits--
	return b, nil
}

// next is the next word.
func (w *wordsIn) next() error {
	if len(w.left) == 0 {
		b, err := w.scan.next()
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return fmt.Errorf("a bug in weir, please report it: answers end early")
		}
		w.left = b
	}
	w.now, w.left = binary.LittleEndian.Uint64(w.left), w.left[8:]
	w.bits = 64
	return nil
}
