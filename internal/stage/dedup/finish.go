package dedup

import (
	"context"
	"fmt"
)

// layout is how the share is used to solve the partitions.
type layout struct {
	threads int
	table   int // bytes of each thread's table
	buffer  int // bytes of each of a thread's two buffers for reading
	flushed bool
}

const (
	leastBuffer = 16 << 10
	mostBuffer  = 256 << 10
)

// plan divides the share. While the tables fit what the arena leaves and the
// answers fit what the keys leave, partitions stay where they are. Else all of
// them go to disk, and the tables get nearly everything; the fewer threads
// there are then, the fewer times a partition has to be read.
func (s *Set) plan() layout {
	var most int64
	for p := range s.parts {
		most = max(most, s.parts[p].size(s.arena)/keyBytes)
	}
	rest := s.c.Share.Limit() - fixed
	if s.answers() <= s.arena.room()+s.keys()/4 {
		for n := s.c.Threads; n > 0; n-- {
			if l, whole := divide(rest-s.arena.most(), n, most); whole {
				return l
			}
		}
	}
	for n := s.c.Threads; ; n-- {
		l, whole := divide(rest-s.flushing(n), n, most)
		if whole || n == 1 {
			l.flushed = true
			return l
		}
	}
}

// divide gives each of n threads its part of memory; whole: the table holds
// the keys of the largest partition.
func divide(memory int64, n int, keys int64) (l layout, whole bool) {
	each := memory / int64(n) / 17 * 16 // a block costs up to a sixteenth more than it has
	l = layout{threads: n, buffer: int(min(mostBuffer, max(leastBuffer, each/16)))}
	want := slotsFor(keys) * slotBytes
	room := max(each-2*int64(l.buffer), slotBytes)
	l.table = int(min(want, room) / slotBytes * slotBytes)
	return l, want <= room
}

// keys is the number of chunks in memory that are full.
func (s *Set) keys() int {
	n := s.order.full()
	for p := range s.parts {
		n += s.parts[p].full()
	}
	return n
}

// answers is the number of chunks that the answers of all partitions take.
func (s *Set) answers() int {
	n := 0
	for p := range s.parts {
		n += int(s.parts[p].size(s.arena)/keyBytes/8)/s.arena.chunk + 2
	}
	return n
}

// flushing is the memory for answers on their way to disk: two chunks a thread.
func (s *Set) flushing(threads int) int64 {
	slabs := (2*threads*s.arena.chunk + s.arena.slab - 1) / s.arena.slab
	return int64(slabs * s.arena.slab)
}

// makeRoom moves to disk what the layout has no room for.
func (s *Set) makeRoom(ctx context.Context, l layout) error {
	if l.flushed {
		if err := s.flush(ctx); err != nil {
			return err
		}
		s.arena.clear(int(s.flushing(l.threads)))
		return nil
	}
	need := s.answers()
	for s.arena.room() < need {
		if err := s.relieve(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Finish says which rows are the first of their kind. The answer lies on
// scratch space, durably; the set can only be closed and removed afterwards.
// The files of the set stay until Remove, so that a run that ends before it
// has noted the answer can be resumed.
func (s *Set) Finish(ctx context.Context) (*Kept, error) {
	if s.err != nil {
		return nil, s.err
	}
	k, err := s.finish(ctx)
	s.err = err
	if err != nil {
		s.err = fmt.Errorf("dedup: %w", err)
		return nil, s.err
	}
	s.Close()
	return k, nil
}

func (s *Set) finish(ctx context.Context) (*Kept, error) {
	if err := s.settle(ctx); err != nil {
		return nil, err
	}
	return s.solved(ctx, s.plan())
}

// solved solves the partitions and puts their answers together.
func (s *Set) solved(ctx context.Context, l layout) (*Kept, error) {
	if err := s.makeRoom(ctx, l); err != nil {
		return nil, err
	}
	var answers [parts]series
	if err := s.solveAll(ctx, l, &answers); err != nil {
		return nil, err
	}
	k, err := s.merge(ctx, &answers)
	if err == nil && s.save != nil {
		err = s.saveHashes(ctx, &answers, k.Distinct)
	}
	for p := range answers {
		if e := answers[p].reset(s.c.Scratch, s.arena); err == nil {
			err = e
		}
	}
	return k, err
}
