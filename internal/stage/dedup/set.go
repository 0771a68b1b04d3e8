package dedup

import (
	"context"
	"fmt"
	"io"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

// Floor is the least share of a Set.
const Floor = 4 << 20

const (
	// accounts is what a Set keeps on the Go heap: the lists of chunks and the
	// names and sizes of the partitions' files.
	accounts = 256 << 10
	// stageBytes is what a partition collects before it is moved.
	stageBytes = 64 * keyBytes
	// stageStride is how far apart partitions lie in stage: not a multiple of
	// a power of two, so that they do not fight for lines of the cache.
	stageStride = stageBytes + 16
	// fixed is what is leased from Open to Close.
	fixed = accounts + 256<<10
)

// Config is what a Set works with.
type Config struct {
	Share   *mem.Budget // all of it may be used; at least Floor
	Scratch *spill.Dir  // where keys go that find no room
	Threads int         // that solve partitions; 0: one
	// Examples is how many of the rows that are not kept are told with the row
	// they equal, 1000 at most: the first ones.
	Examples int
}

// Set takes the keys of rows in order and says which of them are the first of
// their kind. It is used by one goroutine. The answer is the same whatever the
// share, the threads, and the calls of Add the rows are cut into.
type Set struct {
	c     Config
	arena *arena
	lease *mem.Lease

	parts [parts]series
	order series // the partition of each row

	stage  *mem.Block    // keys on their way to partitions
	staged [parts]uint16 // bytes of each partition

	earlier     [parts]int64 // keys of earlier runs in each partition
	description string       // of save
	save        io.Writer    // where the keys go; nil: nowhere

	before int64 // rows that stand for the keys of earlier runs
	rows   int64 // with those
	err    error // of a call that left the Set unusable
}

// Open makes an empty set.
func Open(c Config) (*Set, error) {
	if c.Share.Limit() < Floor {
		return nil, fmt.Errorf("dedup: %w", &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: c.Share.Limit()})
	}
	c.Threads = max(c.Threads, 1)
	s := &Set{c: c}
	var ok bool
	if s.lease, ok = c.Share.TryAcquire(accounts); !ok {
		return nil, fmt.Errorf("dedup: %w", &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: c.Share.Free()})
	}
	if s.stage, ok = c.Share.TryMap(parts * stageStride); !ok {
		s.lease.Release()
		return nil, fmt.Errorf("dedup: %w", &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: c.Share.Free()})
	}
	// A quarter is for tables; see plan.
	s.arena = newArena(c.Share, int(c.Share.Limit()/4*3-fixed))
	s.order = series{name: "dedup-order", entry: 1, block: 1}
	for p := range s.parts {
		s.parts[p] = series{name: fmt.Sprintf("dedup-keys-%02x", p), entry: keyBytes, block: stageBytes}
	}
	return s, nil
}

// Scratch is the most scratch space that rows need, in bytes.
func Scratch(rows int64) int64 { return rows*(keyBytes+1) + rows/2 + 4096*(2*parts+2) }

// Add takes the keys of the next rows.
func (s *Set) Add(ctx context.Context, keys []Key) error {
	if s.err != nil {
		return s.err
	}
	for len(keys) > 0 {
		if s.order.n == len(s.order.buf) {
			if err := s.turn(ctx, &s.order); err != nil {
				return err
			}
		}
		n := min(len(keys), len(s.order.buf)-s.order.n)
		if err := s.deal(ctx, keys[:n], s.order.buf[s.order.n:s.order.n+n]); err != nil {
			return err
		}
		s.order.n += n
		s.rows += int64(n)
		keys = keys[n:]
	}
	return nil
}

// deal gives keys to their partitions and notes those in order. A partition's
// keys are collected in stage and moved 64 at a time: single keys written to
// so many places would have the processor wait for memory with every one.
func (s *Set) deal(ctx context.Context, keys []Key, order []byte) error {
	order = order[:len(keys)]
	stage := s.stage.Bytes()
	for i, k := range keys {
		p := part(k)
		order[i] = p
		from, n := int(p)*stageStride, int(s.staged[p])
		pack(stage[from+n:from+n+keyBytes], k)
		if n += keyBytes; n == stageBytes {
			if err := s.move(ctx, p, stage[from:from+stageBytes]); err != nil {
				return err
			}
			n = 0
		}
		s.staged[p] = uint16(n)
	}
	return nil
}

// move appends keys to a partition.
func (s *Set) move(ctx context.Context, p byte, keys []byte) error {
	t := &s.parts[p]
	if t.n == len(t.buf) {
		if err := s.turn(ctx, t); err != nil {
			return err
		}
	}
	t.n += copy(t.buf[t.n:], keys)
	return nil
}

// settle moves what is left in stage. Behind it, either partitions go to disk
// whole or nothing is added any more: a chunk may end with fewer than 64 keys.
func (s *Set) settle(ctx context.Context) error {
	for p := range s.parts {
		n := int(s.staged[p])
		if n == 0 {
			continue
		}
		from := p * stageStride
		if err := s.move(ctx, byte(p), s.stage.Bytes()[from:from+n]); err != nil {
			return err
		}
		s.staged[p] = 0
	}
	return nil
}

// turn gives a series its next chunk, for which another series may have to go
// to disk.
func (s *Set) turn(ctx context.Context, t *series) error {
	for !t.turn(s.arena) {
		if err := s.relieve(ctx); err != nil {
			s.err = fmt.Errorf("dedup: %w", err)
			return s.err
		}
	}
	return nil
}

// relieve writes the full chunks of the series that has most of them to disk.
func (s *Set) relieve(ctx context.Context) error {
	most := &s.order
	for p := range s.parts {
		if s.parts[p].full() > most.full() {
			most = &s.parts[p]
		}
	}
	if most.full() == 0 {
		return &mem.TooSmallError{Share: "dedup", Need: Floor, Limit: s.c.Share.Free()}
	}
	return most.evict(ctx, s.c.Scratch, s.arena, false)
}

// flush writes everything to disk.
func (s *Set) flush(ctx context.Context) error {
	if err := s.settle(ctx); err != nil {
		return err
	}
	if err := s.order.evict(ctx, s.c.Scratch, s.arena, true); err != nil {
		return err
	}
	for p := range s.parts {
		if err := s.parts[p].evict(ctx, s.c.Scratch, s.arena, true); err != nil {
			return err
		}
	}
	return nil
}

// Close gives all memory back. Files stay, for Resume.
func (s *Set) Close() {
	s.arena.clear(0)
	s.stage.Free()
	s.lease.Release()
	if s.err == nil {
		s.err = fmt.Errorf("dedup: a bug in weir, please report it: the set is closed")
	}
}

// Remove takes the files of the set away; what Finish returned stays.
func (s *Set) Remove() error {
	for _, t := range s.all() {
		if t.w == nil {
			continue
		}
		if err := s.c.Scratch.Remove(t.name); err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
	}
	return nil
}

// all is every series that rows are in.
func (s *Set) all() []*series {
	all := make([]*series, parts+1)
	for p := range s.parts {
		all[p] = &s.parts[p]
	}
	all[parts] = &s.order
	return all
}
