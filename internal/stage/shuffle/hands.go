package shuffle

import (
	"context"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stream"
)

// hands are the rows dealt to each partition that are not on disk, as blocks
// without a head.
type hands struct {
	block *mem.Block
	room  int // bytes of a hand, its head included
	used  []int
	rows  []int
	files []*spill.Writer
	parts []Part
	pool  *stream.Pool[struct{}]
}

func newHands(ctx context.Context, c Config, share *mem.Budget, from *State) (_ *hands, err error) {
	h := &hands{used: make([]int, c.Partitions), rows: make([]int, c.Partitions), parts: make([]Part, c.Partitions)}
	defer func() {
		if err != nil {
			h.free()
		}
	}()
	h.room = min(handsBytes(share.Limit())/c.Partitions, mostHand(share.Limit(), c.Threads))
	if h.block, err = share.Map(ctx, h.room*c.Partitions); err != nil {
		return nil, err
	}
	for p := range c.Partitions {
		h.used[p] = headBytes
		name, w := partitionName(c.Name, p), (*spill.Writer)(nil)
		if from == nil {
			w, err = c.Scratch.Create(ctx, name, share, 0)
		} else {
			w, err = c.Scratch.Append(ctx, name, from.Partitions[p].Bytes, share, 0)
		}
		if err != nil {
			return nil, err
		}
		h.files = append(h.files, w)
	}
	if from != nil {
		copy(h.parts, from.Partitions)
	}
	h.pool = stream.NewPool(max(c.Threads, 1), func() *struct{} { return nil })
	return h, nil
}

// take sets size bytes aside for a row of partition p and says where they begin;
// false: its hand is full.
func (h *hands) take(p, size int) (at int, ok bool) {
	if h.used[p]+size > h.room {
		return 0, false
	}
	at = p*h.room + h.used[p]
	h.used[p] += size
	h.rows[p]++
	return at, true
}

// holds says that a row of size bytes fits a hand.
func (h *hands) holds(size int) bool { return headBytes+size <= h.room }

// flush writes all hands.
func (h *hands) flush() error {
	return h.pool.Each(len(h.used), func(p int, _ *struct{}) error { return h.empty(p) })
}

// makeRoom writes the hand of partition full, and those that are half full too.
func (h *hands) makeRoom(full int) error {
	return h.pool.Each(len(h.used), func(p int, _ *struct{}) error {
		if p != full && h.used[p] < h.room/2 {
			return nil
		}
		return h.empty(p)
	})
}

// empty writes one hand.
func (h *hands) empty(p int) error {
	if h.rows[p] == 0 {
		return nil
	}
	err := h.write(p, h.block.Bytes()[p*h.room:][:h.used[p]], h.rows[p])
	h.used[p], h.rows[p] = headBytes, 0
	return err
}

// write appends a block to a partition.
func (h *hands) write(p int, b []byte, rows int) error {
	seal(b, rows)
	if _, err := h.files[p].Write(b); err != nil {
		return err
	}
	h.parts[p].Bytes += int64(len(b))
	h.parts[p].Rows += int64(rows)
	return nil
}

// sync makes what was written durable.
func (h *hands) sync() error {
	return h.pool.Each(len(h.files), func(p int, _ *struct{}) error { return h.files[p].Sync() })
}

func (h *hands) free() {
	if h.pool != nil {
		h.pool.Close()
	}
	for _, f := range h.files {
		f.Discard()
	}
	h.block.Free()
}
