package near

import (
	"context"
	"fmt"
	"math"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/spill"
)

// State is a place between two rows from which a Set goes on. It is a plain
// value; what came before it lies in scratch space.
type State struct {
	Options
	Rows int64   `json:"rows"`
	Keys []int64 `json:"keys"` // in each partition
	// Grams is how many n-grams are kept of all rows.
	Grams int64 `json:"grams,omitempty"`
}

// Checkpoint writes all that is in memory to scratch space, durably, and says
// how to go on from there. A row is written once, however many checkpoints
// there are.
func (s *Set) Checkpoint(ctx context.Context) (State, error) {
	if s.err != nil {
		return State{}, s.err
	}
	st := State{Options: s.c.Options, Rows: s.rows, Keys: make([]int64, parts)}
	if err := s.checkpoint(ctx); err != nil {
		s.err = fmt.Errorf("dedup: %w", err)
		return State{}, s.err
	}
	for p := range parts {
		st.Keys[p] = s.keys.entries(p)
	}
	if s.sets != nil {
		st.Grams = s.sets.Size() / gramBytes
	}
	return st, nil
}

func (s *Set) checkpoint(ctx context.Context) error {
	if err := s.keys.flushAll(ctx); err != nil {
		return err
	}
	if err := s.keys.sync(); err != nil {
		return err
	}
	for _, w := range s.writers() {
		if err := w.Sync(); err != nil {
			return err
		}
	}
	return nil
}

// Resume opens a set that goes on behind a checkpoint of the same options, with
// any share and any number of threads.
func Resume(ctx context.Context, c Config, st State) (*Set, error) {
	if st.Options != c.Options {
		return nil, format.Error(format.ErrData, "dedup: checkpoint: it was made with other options")
	}
	s, err := open(ctx, c)
	if err != nil {
		return nil, err
	}
	if err = s.goOn(ctx, st); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// goOn takes the files up. A state comes from a file: nothing in it is trusted.
func (s *Set) goOn(ctx context.Context, st State) (err error) {
	ok, sum := len(st.Keys) == parts && st.Rows >= 0 && st.Rows <= mostRows, int64(0)
	for _, n := range st.Keys {
		ok = ok && n >= 0 && n <= mostRows*Places
		sum += n
	}
	ok = ok && st.Grams >= 0 && st.Grams <= math.MaxInt64/gramBytes
	if !ok || sum != st.Rows*int64(s.bands.Count) {
		return format.Error(format.ErrData, "dedup: checkpoint: the partitions have not the bands of %d rows", st.Rows)
	}
	s.rows = st.Rows
	for p, n := range st.Keys {
		if err := s.keys.goOn(ctx, p, n*keyBytes); err != nil {
			return fmt.Errorf("dedup: %w", err)
		}
	}
	again := func(name string, size int64) (*spill.Writer, error) {
		return s.c.Scratch.Append(ctx, name, size, s.c.Share, sketchBuffer)
	}
	if s.c.Check {
		s.sketches, err = again(sketchesName, st.Rows*sketchBytes)
	}
	if s.c.Exact {
		if s.places, err = again(placesName, st.Rows*placeBytes); err == nil {
			s.sets, err = again(setsName, st.Grams*gramBytes)
		}
	}
	if err != nil {
		return fmt.Errorf("dedup: %w", err)
	}
	return nil
}
