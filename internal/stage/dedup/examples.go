package dedup

import (
	"context"

	"github.com/weir-data/weir/internal/mem"
)

// Example is a row that is not kept.
type Example struct {
	Row   int64 `json:"row"`
	First int64 `json:"first"` // the row it equals; -1: one of an earlier run
}

// place is where a row lies among the keys.
type place struct {
	part byte
	at   int64 // in the partition
}

// examples finds out which rows the dropped ones equal. They are the first
// that were dropped, in order, so that only the beginning is read again: what
// lies before the last of them.
func (s *Set) examples(ctx context.Context, dropped []int64) ([]Example, error) {
	if len(dropped) == 0 {
		return nil, nil
	}
	block, err := s.c.Share.Map(ctx, hashBuffer)
	if err != nil {
		return nil, err
	}
	defer block.Free()
	out := make([]Example, len(dropped))
	places := make([]place, len(dropped))
	next := 0
	err = s.walk(block, func(row int64, at place) bool {
		if row == dropped[next]+s.before {
			out[next].Row, places[next] = dropped[next], at
			next++
		}
		return next < len(dropped)
	})
	if err != nil {
		return nil, err
	}
	for i := range places {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if places[i], err = s.first(block, places[i]); err != nil {
			return nil, err
		}
	}
	left := len(out)
	err = s.walk(block, func(row int64, at place) bool {
		for i := range places {
			if places[i] == at {
				out[i].First = max(row-s.before, -1)
				left--
			}
		}
		return left > 0
	})
	return out, err
}

// walk goes through the rows in order, those of earlier runs first, until visit
// has seen enough.
func (s *Set) walk(block *mem.Block, visit func(row int64, at place) bool) error {
	var count [parts]int64
	rows := s.order.scan(s.c.Scratch, s.arena, block.Bytes())
	for row := int64(0); ; {
		b, err := rows.next()
		if err != nil || len(b) == 0 {
			return err
		}
		for _, p := range b {
			if !visit(row, place{p, count[p]}) {
				return nil
			}
			count[p]++
			row++
		}
	}
}

// first is where the key that lies at a place comes first.
func (s *Set) first(block *mem.Block, of place) (place, error) {
	keys := s.parts[of.part].scan(s.c.Scratch, s.arena, block.Bytes())
	var low, high uint64
	err := each(&keys, func(at int64, l, h uint64) bool {
		low, high = l, h
		return at < of.at
	})
	if err != nil {
		return of, err
	}
	keys = s.parts[of.part].scan(s.c.Scratch, s.arena, block.Bytes())
	err = each(&keys, func(at int64, l, h uint64) bool {
		of.at = at
		return l != low || h != high
	})
	return of, err
}

// each goes through keys until visit has seen enough.
func each(keys *scan, visit func(at int64, low, high uint64) bool) error {
	for at := int64(0); ; {
		b, err := keys.next()
		if err != nil || len(b) == 0 {
			return err
		}
		for ; len(b) > 0; b = b[keyBytes:] {
			low, high := unpack(b)
			if !visit(at, low, high) {
				return nil
			}
			at++
		}
	}
}
