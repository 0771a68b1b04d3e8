package near

import (
	"context"
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// solving is a set on the way to its answer.
type solving struct {
	*Set
	l layout

	mu    sync.Mutex // for who hands pairs on
	win   window
	pairs *fan // of each window: rows that have a band in common; nil: they are joined at once
	links *fan // of each window: rows that belong together
	// take joins the pairs of a window that is not the only one.
	take func(ctx context.Context, window int) error
}

// solver is what a thread needs to look for pairs.
type solver struct {
	block  *mem.Block
	memory [][2]uint64 // of the table
	table  *table
	in     []byte
	held   []uint64 // pairs: a row and an earlier one
	n      int      // numbers in held
}

func (w *solver) open(ctx context.Context, share *mem.Budget, l layout) (err error) {
	if w.block, err = share.Map(ctx, leastHeld+l.buffer+l.table); err != nil {
		return err
	}
	b := w.block.Bytes()
	w.held, b = viewOf[uint64](b[:leastHeld]), b[leastHeld:]
	w.in, w.memory = b[:l.buffer], viewOf[[2]uint64](b[l.buffer:])
	w.table = newTable()
	return nil
}

// findPairs looks through all partitions, side by side.
func (s *solving) findPairs(ctx context.Context) error {
	workers := make([]*solver, 0, s.l.threads)
	defer func() {
		for _, w := range workers {
			w.block.Free()
		}
	}()
	for range s.l.threads {
		w := new(solver)
		if err := w.open(ctx, s.c.Share, s.l); err != nil {
			return err
		}
		workers = append(workers, w)
	}
	var given atomic.Int32 // each thread asks for its own
	pool := stream.NewPool(s.l.threads, func() *solver { return workers[given.Add(1)-1] })
	defer pool.Close()
	err := pool.Each(parts, func(p int, w *solver) error { return s.part(ctx, p, w) })
	if err != nil {
		return err
	}
	for _, w := range workers {
		if err := s.hand(ctx, w); err != nil {
			return err
		}
	}
	return nil
}

// part finds the pairs of a partition. Usually its hashes fit the table and
// one pass does it. Else a pass looks at a range of hashes that fits.
func (s *solving) part(ctx context.Context, p int, w *solver) error {
	n := s.keys.entries(p)
	lo, width := uint64(0), ^uint64(0)
	if room := int64(len(w.memory)) / 16 * 11; n > room {
		width = width / uint64(n) * uint64(room)
	}
	for n > 0 {
		hi := lo + width
		if hi < lo {
			hi = ^uint64(0)
		}
		w.table.reset(w.memory, n)
		err := s.keys.read(ctx, p, w.in, func(keys []byte) error { return s.look(ctx, w, keys, lo, hi) })
		switch {
		case errors.Is(err, errFull): // pairs that were found are found again, which changes nothing
			width /= 2
		case err != nil:
			return err
		case hi == ^uint64(0):
			return nil
		default:
			lo = hi + 1
		}
	}
	return nil
}

// errFull says that a table has no room for the hashes of a range.
var errFull = errors.New("the table is full")

// look finds the pairs of some keys whose hash is between lo and hi.
func (s *solving) look(ctx context.Context, w *solver, keys []byte, lo, hi uint64) error {
	t := w.table
	var spread [64]uint64
	for len(keys) > 0 {
		n := min(len(keys)/keyBytes, 64)
		t.ask(keys, n, &spread)
		for i := range n {
			h := spread[i&63]
			if h < lo || h > hi {
				continue
			}
			if t.used == t.max {
				return errFull
			}
			hash, row := unpackKey(keys[i*keyBytes:])
			first, last, seen := t.see(hash, h, row)
			if !seen || last == row {
				continue
			}
			w.held[w.n], w.held[w.n+1] = row, first
			w.n += 2
			// The first row of a hash can be one that has nothing but this in
			// common with the others, who would be told apart with it.
			if s.c.checks() && last != first {
				w.held[w.n], w.held[w.n+1] = row, last
				w.n += 2
			}
			if w.n+4 > len(w.held) {
				if err := s.hand(ctx, w); err != nil {
					return err
				}
			}
		}
		keys = keys[n*keyBytes:]
	}
	return nil
}

// hand passes on what a thread has found.
func (s *solving) hand(ctx context.Context, w *solver) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	held := w.held[:w.n]
	w.n = 0
	for i := 0; i+1 < len(held); i += 2 {
		var err error
		if s.l.direct {
			err = s.win.join(ctx, uint32(held[i]), held[i+1])
		} else {
			err = s.put(ctx, s.pairs, held[i], held[i+1])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// put writes a pair to the window of the later row.
func (s *solving) put(ctx context.Context, f *fan, row, earlier uint64) error {
	i := row / uint64(s.l.window)
	dst, err := f.next(ctx, int(i))
	if err != nil {
		return err
	}
	binary.LittleEndian.PutUint64(dst, earlier<<windowBits|(row-i*uint64(s.l.window)))
	return nil
}
