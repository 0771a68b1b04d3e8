package near

import (
	"context"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stream"
)

// sketchBytes is what is kept of a signature for the check: the lowest 4 bits of
// each place. They agree by chance once in 16 times, which is counted out; the
// standard deviation grows by less than a twentieth where texts are alike.
const sketchBytes = Places / 2

func sketchOf(s *Signature) (b [sketchBytes]byte) {
	for i := range b {
		b[i] = byte(s[2*i]&15 | s[2*i+1]<<4)
	}
	return b
}

// leastEqual is in how many places two sketches have to be equal for texts to
// be nearly the same: as many as one standard deviation below the threshold.
func leastEqual(threshold float64) int {
	x := threshold - math.Sqrt(threshold*(1-threshold)/Places)
	return int(math.Ceil((x + (1-x)/16) * Places))
}

// equal is the number of places in which two sketches are equal.
func equal(a, b []byte) int {
	n := Places
	a, b = a[:sketchBytes], b[:sketchBytes]
	for i := 0; i < sketchBytes; i += 8 {
		x := binary.LittleEndian.Uint64(a[i:]) ^ binary.LittleEndian.Uint64(b[i:])
		x |= x >> 1
		x |= x >> 2
		n -= bits.OnesCount64(x & 0x1111111111111111)
	}
	return n
}

// checker is what a thread needs to check pairs.
type checker struct {
	block *mem.Block
	chunk []byte
	buf   []byte // sketches
	from  uint64 // the first row of buf
	have  uint64 // rows of buf
}

// checks is a pool of checkers.
type checks struct {
	pool *stream.Pool[checker]
	all  []*checker
}

func (s *solving) openChecks(ctx context.Context) (*checks, error) {
	c := new(checks)
	for range s.l.checkers {
		block, err := s.c.Share.Map(ctx, s.l.chunk+checkBuffer)
		if err != nil {
			c.close()
			return nil, err
		}
		b := block.Bytes()
		c.all = append(c.all, &checker{block: block, chunk: b[:s.l.chunk], buf: b[s.l.chunk:]})
	}
	var given atomic.Int32 // each thread asks for its own
	c.pool = stream.NewPool(s.l.checkers, func() *checker { return c.all[given.Add(1)-1] })
	return c, nil
}

func (c *checks) close() {
	if c.pool != nil {
		c.pool.Close()
	}
	for _, k := range c.all {
		k.block.Free()
	}
}

// check joins the pairs of a window that are alike enough. The sketches of the
// window are in memory; pairs are sorted by their earlier rows, so that the
// sketches of those are read front to back, and only where there are any.
func (s *solving) check(ctx context.Context, c *checks, i int, window []byte) error {
	size := s.pairs.entries(i) * pairBytes
	if size == 0 {
		return nil
	}
	sketches, err := s.c.Scratch.Reader(sketchesName)
	if err != nil {
		return err
	}
	defer sketches.Close()
	if _, err := sketches.ReadAt(window[:s.win.n*sketchBytes], int64(s.win.lo)*sketchBytes); err != nil {
		return err
	}
	pairs, err := s.c.Scratch.Reader(s.pairs.file(i))
	if err != nil {
		return err
	}
	defer pairs.Close()
	pieces := (size + int64(s.l.chunk) - 1) / int64(s.l.chunk)
	return c.pool.Each(int(pieces), func(piece int, k *checker) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		off := int64(piece) * int64(s.l.chunk)
		p := k.chunk[:min(int64(s.l.chunk), size-off)]
		if _, err := pairs.ReadAt(p, off); err != nil {
			return err
		}
		good, err := s.alike(k, sorted(p), sketches, window)
		if err != nil {
			return err
		}
		return s.joinAll(ctx, good)
	})
}

// sorted is the pairs of a piece in order, each once, in the same memory.
func sorted(p []byte) []uint64 {
	pairs := viewOf[uint64](p)
	for i := range pairs {
		pairs[i] = binary.LittleEndian.Uint64(p[8*i:])
	}
	slices.Sort(pairs)
	return slices.Compact(pairs)
}

// alike moves the pairs that pass the check to the front.
func (s *solving) alike(k *checker, pairs []uint64, sketches *spill.Reader, window []byte) ([]uint64, error) {
	least := leastEqual(s.c.Threshold)
	good := pairs[:0]
	for _, pair := range pairs {
		early, late := pair>>windowBits, pair&windowMask*sketchBytes
		var a []byte
		if early >= s.win.lo {
			a = window[(early-s.win.lo)*sketchBytes:]
		} else {
			var err error
			if a, err = k.sketch(sketches, early); err != nil {
				return nil, err
			}
		}
		if equal(a, window[late:]) >= least {
			good = append(good, pair)
		}
	}
	return good, nil
}

// sketch is that of a row before the window.
func (k *checker) sketch(r *spill.Reader, row uint64) ([]byte, error) {
	if row < k.from || row >= k.from+k.have {
		off := int64(row) * sketchBytes
		p := k.buf[:min(int64(len(k.buf)), r.Size()-off)]
		if _, err := r.ReadAt(p, off); err != nil {
			return nil, err
		}
		k.from, k.have = row, uint64(len(p)/sketchBytes)
	}
	return k.buf[(row-k.from)*sketchBytes:], nil
}

// joinAll joins pairs of the window, several threads one after the other.
func (s *solving) joinAll(ctx context.Context, pairs []uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range pairs {
		if err := s.win.join(ctx, uint32(p&windowMask), p>>windowBits); err != nil {
			return err
		}
	}
	return nil
}
