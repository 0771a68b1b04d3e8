package dedup

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/format"
)

// State is a place between two rows from which a Set goes on. It is a plain
// value; the keys before it lie in scratch space.
type State struct {
	Rows    int64   `json:"rows"`              // behind those of earlier runs
	Earlier []int64 `json:"earlier,omitempty"` // keys of earlier runs in each partition
	Keys    []int64 `json:"keys"`              // keys in each partition, with those
}

// Checkpoint writes all keys that are in memory to scratch space, durably, and
// says how to go on from there. A key is written once, however many
// checkpoints there are.
func (s *Set) Checkpoint(ctx context.Context) (State, error) {
	if s.err != nil {
		return State{}, s.err
	}
	st, err := s.checkpoint(ctx)
	if err != nil {
		s.err = fmt.Errorf("dedup: %w", err)
		return State{}, s.err
	}
	return st, nil
}

func (s *Set) checkpoint(ctx context.Context) (State, error) {
	if err := s.flush(ctx); err != nil {
		return State{}, err
	}
	st := State{Rows: s.rows - s.before, Keys: make([]int64, parts)}
	if s.before > 0 {
		st.Earlier = append(st.Earlier, s.earlier[:]...)
	}
	for _, t := range s.all() {
		if t.w == nil || t.synced == t.disk {
			continue
		}
		if err := t.w.Sync(); err != nil {
			return State{}, err
		}
		t.synced = t.disk
	}
	for p := range s.parts {
		st.Keys[p] = s.parts[p].disk / keyBytes
	}
	return st, nil
}

// Resume opens a set that goes on behind a checkpoint, with any share and any
// number of threads.
func Resume(ctx context.Context, c Config, st State) (*Set, error) {
	rows, before, err := st.count()
	if err != nil {
		return nil, err
	}
	s, err := Open(c)
	if err != nil {
		return nil, err
	}
	s.rows, s.before = rows, before
	copy(s.earlier[:], st.Earlier)
	s.order.disk = rows
	for p := range s.parts {
		s.parts[p].disk = st.Keys[p] * keyBytes
	}
	for _, t := range s.all() {
		if t.disk == 0 {
			continue
		}
		if t.w, err = c.Scratch.Append(ctx, t.name, t.disk, c.Share, 0); err != nil {
			s.Close()
			return nil, fmt.Errorf("dedup: %w", err)
		}
		t.synced = t.disk
	}
	return s, nil
}

// count adds the partitions up. A state comes from a file: nothing in it is
// trusted.
func (st State) count() (rows, before int64, err error) {
	ok := len(st.Keys) == parts && (len(st.Earlier) == 0 || len(st.Earlier) == parts)
	for p := 0; ok && p < parts; p++ {
		n, m := st.Keys[p], int64(0)
		if len(st.Earlier) > 0 {
			m = st.Earlier[p]
		}
		ok = m >= 0 && n >= m && n < 1<<48
		rows, before = rows+n, before+m
	}
	if !ok || rows-before != st.Rows {
		return 0, 0, format.Error(format.ErrData, "dedup: checkpoint: the partitions have not the keys of %d rows", st.Rows)
	}
	return rows, before, nil
}
