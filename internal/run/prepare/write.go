package prepare

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stream"
)

// writing is the second pass.
type writing struct {
	*work
	ctx   context.Context
	out   *arrow.Schema
	spans []span    // that are left
	first [][]int64 // of each the numbers of its parts

	mu     sync.Mutex
	done   []result       // in order, not permanent
	busy   bool           // some are being made so
	err    error          // that ended it
	ending *stream.Future // the last call; nil: none
}

// result is what a writer made of a span.
type result struct {
	parts  []*parts.Ended
	look   *looking
	assign []byte // the Assigner's state behind it
}

func (r result) drop() {
	for _, e := range r.parts {
		e.Drop()
	}
}

// write is the second pass: every span becomes a part of each split.
func (w *work) write(ctx context.Context, out *arrow.Schema) (run.Report, error) {
	s := &writing{work: w, ctx: ctx, out: out}
	if err := s.plan(); err != nil {
		return run.Report{}, err
	}
	shop := run.Workshop[result]{Alone: w.assign.State() != nil, Open: s.open, Take: s.take, Drop: result.drop, Settle: s.settled}
	for _, one := range s.spans {
		shop.Pieces = append(shop.Pieces, one.Piece)
	}
	shop.Memory = func(threads int) (least, most int64) {
		least, most, _ = w.writeMemory(out, w.params, w.state.Group, threads) // it worked with other threads
		return least, most
	}
	return run.Pieces(ctx, w.Run, shop)
}

// plan chooses the row group and finds out what is left to do.
func (s *writing) plan() error {
	if s.state.Group == 0 {
		if err := s.chooseGroup(s.out, s.params); err != nil {
			return err
		}
	}
	all, err := s.state.Spans.all(len(s.from.Splits))
	if err != nil {
		return err
	}
	next := make([]int64, len(s.from.Splits))
	for i, split := range s.from.Splits {
		next[i] = split.Parts
	}
	if s.spans, err = left(all, next); err != nil {
		return err
	}
	for _, one := range s.spans {
		numbers := make([]int64, len(next))
		copy(numbers, next)
		s.first = append(s.first, numbers)
		for i, n := range one.rows {
			if n > 0 {
				next[i]++
			}
		}
	}
	return nil
}

func (s *writing) open(ctx context.Context, share *mem.Budget, threads int) (run.Worker[result], error) {
	w := &writer{writing: s, ctx: ctx}
	if err := w.open(share, threads); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

// take has spans made permanent while others are written.
func (s *writing) take(_ int, r result) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		r.drop()
		return s.err
	}
	s.done = append(s.done, r)
	if !s.busy {
		s.busy = true
		s.ending = stream.Async(s.settle)
	}
	return nil
}

// settled waits until all that was taken is permanent.
func (s *writing) settled() error {
	if s.ending == nil {
		return nil
	}
	return s.ending.Wait()
}

// settle makes permanent what is done, until there is nothing.
func (s *writing) settle() error {
	for {
		s.mu.Lock()
		done := s.done
		s.done, s.busy = nil, len(done) > 0
		s.mu.Unlock()
		if len(done) == 0 {
			return nil
		}
		if err := s.commit(done); err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.err = err
			for _, r := range s.done {
				r.drop()
			}
			return err
		}
	}
}

// commit makes spans permanent, with a checkpoint behind them.
func (s *writing) commit(done []result) error {
	var all []*parts.Ended
	for _, r := range done {
		all = append(all, r.parts...)
		s.look.merge(r.look)
		s.state.Assign = r.assign
	}
	s.state.Look = s.look.state()
	state, err := json.Marshal(s.state)
	made, e := parts.CommitAll(s.ctx, all)
	if e != nil || err != nil {
		return errors.Join(e, err)
	}
	return s.data.Checkpoint(s.ctx, dataset.Checkpoint{Pass: passWrite, State: state, Parts: made})
}
