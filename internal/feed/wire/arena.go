package wire

import (
	"context"
	"fmt"
	"math"
	"os"

	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/mem"
)

// step is the unit slots are made of: a page, so that two batches never share
// one.
const step = 4096

// Arena is memory that both processes see, of a size fixed when it is made and
// paid for by a lease. It has no name in any file system: it is gone when the
// last process that maps it is.
type Arena struct {
	file  *os.File
	mem   []byte
	lease *mem.Lease
	steps extents
}

// NewArena makes an arena of size bytes, rounded up to whole pages, leased
// from b. Pages cost memory when they are first used.
func NewArena(ctx context.Context, b *mem.Budget, size int64) (*Arena, error) {
	if size <= 0 || size > math.MaxInt64-step {
		return nil, fmt.Errorf("wire: an arena of %d bytes", size)
	}
	size = (size + step - 1) / step * step
	lease, err := b.Acquire(ctx, size)
	if err != nil {
		return nil, err
	}
	a := &Arena{lease: lease, steps: newExtents(int(size / step))}
	if a.file, err = sharedFile(size); err == nil {
		a.mem, err = unix.Mmap(int(a.file.Fd()), 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	}
	if err != nil {
		_ = a.Close()
		return nil, fmt.Errorf("shared memory of %s: %w", mem.Format(size), err)
	}
	return a, nil
}

// Size is the number of bytes in all.
func (a *Arena) Size() int64 { return int64(len(a.mem)) }

// Close unmaps the arena and ends its lease. Slots must not be used
// afterwards. A second call does nothing.
func (a *Arena) Close() error {
	var err error
	if a.mem != nil {
		err = unix.Munmap(a.mem)
		a.mem = nil
	}
	if a.file != nil {
		_ = a.file.Close() // nothing is buffered in it
		a.file = nil
	}
	a.lease.Release()
	return err
}

// Slot is a piece of an arena for one batch, page-aligned. Its bytes are not
// zeroed.
type Slot struct {
	bytes []byte
	at    extent
}

// Bytes is the memory, of exactly the length asked for.
func (s *Slot) Bytes() []byte { return s.bytes }

// cost is the number of bytes the slot takes from the arena.
func (s *Slot) cost() int64 { return int64(s.at.to-s.at.from) * step }

// alloc is false when there is no room for n bytes in one piece.
func (a *Arena) alloc(n int) (*Slot, bool) {
	need := max(n+step-1, step) / step
	from, ok := a.steps.take(need)
	if !ok {
		return nil, false
	}
	off := from * step
	return &Slot{bytes: a.mem[off : off+n : off+n], at: extent{from, from + need}}, true
}

// free ends a slot.
func (a *Arena) free(s *Slot) {
	a.steps.give(s.at)
	s.bytes = nil
}
