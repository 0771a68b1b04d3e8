package stream

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
)

// Interleave makes one stream of several that each hold every len(lanes)th
// group of batches: the first group of the first lane, the first of the second,
// and so on. It ends where the lane whose turn it is ends.
func Interleave(lanes []Stream) Stream {
	return &interleave{lanes: lanes, cursor: lanes[0].Cursor()}
}

type interleave struct {
	lanes  []Stream
	turn   int
	cursor Cursor
}

func (s *interleave) Schema() *arrow.Schema { return s.lanes[0].Schema() }

func (s *interleave) Cursor() Cursor { return s.cursor }

func (s *interleave) Next(ctx context.Context) (*Batch, error) {
	b, err := s.lanes[s.turn].Next(ctx)
	if err != nil {
		return nil, err
	}
	s.cursor = b.After
	if b.Last {
		s.turn = (s.turn + 1) % len(s.lanes)
	}
	return b, nil
}

func (s *interleave) Close() error {
	var errs []error
	for _, l := range s.lanes {
		errs = append(errs, l.Close())
	}
	return errors.Join(errs...)
}
