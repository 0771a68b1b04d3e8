package parquet

import (
	"context"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// slabMost is the largest slab unless the user asks for larger batches.
	slabMost = 2 << 20
	// slabLeaf is a slab's part for one column of very many: some 2,000
	// numbers, so that beginning a batch costs little beside decoding it.
	slabLeaf = 16 << 10
	// rowsMost is the largest batch unless the user asks for larger ones.
	rowsMost = 64 << 10
	// laneQueue is the most batches that wait in a lane; mostly its memory
	// ends before.
	laneQueue = 256
)

// Open reads the dataset from a cursor on. Where the share can hold several
// decoded row groups, they are read side by side, each by one thread; else all
// threads work on one.
func (d *dataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	if floor := d.Floor(); share.Limit() < floor {
		return nil, &mem.TooSmallError{Share: "reading", Need: floor, Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	threads := max(1, d.opt.Threads)
	lanes := d.lanes(share.Limit(), threads)
	if lanes == 1 {
		s, err := d.scan(ctx, share, from, waits, threads, 0)
		if err != nil || threads == 1 {
			return s, err
		}
		return stream.Prefetch(s, 1, waits), nil
	}
	var out []stream.Stream
	for i := range lanes {
		own, err := share.Carve("row groups", share.Limit()/int64(lanes))
		var s *scan
		if err == nil {
			s, err = d.scan(ctx, own, from, waits, threads/lanes, d.groupMemory())
			if err != nil {
				own.Close()
			}
		}
		if err != nil {
			for _, l := range out {
				l.Close()
			}
			return nil, err
		}
		s.own, s.lane, s.stride = own, i, lanes
		out = append(out, stream.Prefetch(s, laneQueue, waits))
	}
	return stream.Interleave(out), nil
}

// Divide makes dataset a format.Divider.
func (d *dataset) Divide(threads int) format.Dataset {
	out := *d
	out.opt.Threads = threads
	return &out
}

// groupMemory is what the batches of one row group take, generously.
func (d *dataset) groupMemory() int64 { return d.info.LargestIn*5/4 + 4*slabMost }

// lanes is how many row groups are read side by side. Many columns are better
// divided among the threads, and of text it is mostly decompressing that takes
// time, which is done ahead: less memory is in use, more of it in the caches.
// Lists of numbers are where the one thread that decodes would be the limit.
func (d *dataset) lanes(share int64, threads int) int {
	n := d.needs
	if d.leaves >= 4*int64(threads) || 2*d.lists < d.info.InMemory {
		return 1
	}
	each := n.meta + n.pages*5/4 + n.giant + 4*int64(mem.BlockSize(int(n.slab))) + d.groupMemory()
	return int(max(1, min(int64(threads), share/each, d.info.Groups)))
}

// scan divides the share and makes the stream. ready is memory for batches
// that wait for their turn.
func (d *dataset) scan(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits, threads int, ready int64) (*scan, error) {
	s := &scan{ds: d, share: share, waits: waits, object: from.Object, skip: from.Row, cursor: from, stride: 1}
	s.slabSize = d.slabSize(share.Limit()-ready, threads)
	var err error
	if s.slabs, err = share.Carve("batches", slabCount*int64(mem.BlockSize(s.slabSize))+ready); err != nil {
		return nil, err
	}
	if s.giant, err = share.Carve("rows", d.needs.giant); err != nil {
		s.Close()
		return nil, err
	}
	rest := share.Limit() - s.slabs.Limit() - s.giant.Limit() - d.needs.meta
	if spare := rest - d.needs.pages; d.remote && spare > 0 {
		if s.ahead, err = share.Carve("reading ahead", spare*2/3); err != nil {
			s.Close()
			return nil, err
		}
		rest -= s.ahead.Limit()
	}
	if s.pages, err = share.Carve("pages", rest); err != nil {
		s.Close()
		return nil, err
	}
	s.ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.pool = stream.NewPool(threads, newWorker)
	return s, nil
}

// slabSize is the memory of one batch: what the user's batches need, or else
// what stays in a core's cache but has many rows; less where there is no room
// for slabCount of them.
func (d *dataset) slabSize(share int64, threads int) int {
	most := max(int64(slabMost)*int64(min(threads, 4)), slabLeaf*d.leaves)
	if d.opt.BatchRows > 0 && d.info.Rows > 0 {
		want := d.info.InMemory / d.info.Rows * int64(d.opt.BatchRows) * 5 / 4
		most = max(most, min(want, share/(2*slabCount)))
	}
	free := share - d.needs.meta - d.needs.pages - d.needs.giant
	size := int(max(min(free/(2*slabCount), most), int64(mem.BlockSize(int(d.needs.slab)))))
	for n := size; n > size/2; n -= 4096 {
		if mem.BlockSize(n) <= size {
			return max(n, int(d.needs.slab))
		}
	}
	return size
}
