package arrow

import (
	"context"
	"math/bits"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

const (
	// slabMost is the largest slab unless the user asks for larger batches.
	slabMost = 4 << 20
	// slabLeast is the smallest one.
	slabLeast = 16 << 10
	// laneQueue is the most batches that wait in a lane; mostly its memory
	// ends before.
	laneQueue = 256
	// remoteLanes is how many batches are asked for at once where a read
	// costs a round trip.
	remoteLanes = 4
)

// heap is what one lane has on the Go heap.
func (d *dataset) heap() int64 {
	n := d.needs
	return n.index + max(n.meta, remotePiece) + n.footer + n.codecs*int64(max(1, d.opt.Threads))
}

// slab is the memory of a batch of few rows.
func (d *dataset) slab() int64 { return max(slabLeast, 2*align*d.needs.parts+4*d.needs.row) }

func blockSize64(n int64) int64 {
	if n == 0 {
		return 0
	}
	return int64(mem.BlockSize(int(n)))
}

// blockWithin is the largest block that costs no more than n.
func blockWithin(n int64) int64 {
	step := int64(4096)
	if n > 128<<10 {
		step = 1 << (bits.Len64(uint64(n-1)) - 5)
	}
	return n - n%step
}

// Floor is the least share: two batches of few rows, and what cannot be read
// in parts, which is dictionaries and compressed batches.
func (d *dataset) Floor() int64 {
	return d.keptHeap + d.heap() + d.needs.dict + blockSize64(d.needs.part) + blockSize64(d.needs.batch) + 2*blockSize64(d.slab())
}

// Open reads from a cursor on. Compressed batches are read side by side as far
// as the share holds them, and the threads that are left decompress the
// buffers of one together. Remote batches are read side by side too.
func (d *dataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, waits *stream.Waits) (stream.Stream, error) {
	if floor := d.Floor(); share.Limit() < floor {
		return nil, &mem.TooSmallError{Share: "reading", Need: floor, Limit: share.Limit()}
	}
	if waits == nil {
		waits = new(stream.Waits)
	}
	kept, ok := share.TryAcquire(d.keptHeap)
	if !ok {
		return nil, &mem.TooSmallError{Share: "reading", Need: d.Floor(), Limit: share.Free()}
	}
	lanes := d.lanes(share.Limit() - d.keptHeap)
	var out []stream.Stream
	for i := range lanes {
		s, err := d.lane(share, (share.Limit()-d.keptHeap)/int64(lanes), from, waits)
		if err != nil {
			for _, l := range out {
				l.Close()
			}
			kept.Release()
			return nil, err
		}
		s.lane, s.stride = i, lanes
		s.bodies.pool = stream.NewPool(d.opt.Threads/lanes, func() *codec.Decoder { return new(codec.Decoder) })
		if i == 0 {
			s.kept = kept
		}
		if lanes == 1 && d.opt.Threads < 2 && !d.remote {
			return s, nil
		}
		out = append(out, stream.Prefetch(s, laneQueue, waits))
	}
	return stream.Interleave(out), nil
}

// lanes is how many batches are read side by side. Those that are not
// compressed are read as fast as memory is copied.
func (d *dataset) lanes(share int64) int {
	want := int64(1)
	if d.needs.compressed > 0 {
		want = int64(d.opt.Threads)
	} else if d.remote {
		want = max(remoteLanes, int64(d.opt.Threads))
	}
	each := d.heap() + d.needs.dict + blockSize64(d.needs.stored) + 3*max(blockSize64(d.needs.batch), slabMost)
	return int(max(1, min(want, share/each, d.info.Groups)))
}

// lane divides its part of the share and makes a stream.
func (d *dataset) lane(share *mem.Budget, limit int64, from stream.Cursor, waits *stream.Waits) (*scan, error) {
	s := &scan{ds: d, waits: waits, object: from.Object, skip: from.Row, cursor: from, stride: 1,
		dicts: map[int64]*dictionary{}}
	var err error
	if s.share, err = share.Carve("batches", limit); err != nil {
		return nil, err
	}
	if err := s.divide(limit); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// divide takes the memory that does not change while the lane lasts.
func (s *scan) divide(limit int64) error {
	d, n := s.ds, s.ds.needs
	rest := limit - d.heap() - n.dict
	scratch := n.part
	if n.batch > 0 {
		// Better than the least: compressed batches read at once, and given
		// out where they were decompressed.
		if all := n.stored; rest-blockSize64(all)-2*blockSize64(n.batch) >= 4*blockSize64(d.slab()) {
			scratch = max(all, scratch)
		}
		if rest -= blockSize64(scratch); rest < 2*blockSize64(n.batch) {
			s.heldLimit = blockSize64(n.batch)
			rest -= s.heldLimit
		}
	}
	var err error
	if s.heap, err = s.share.Acquire(context.Background(), d.heap()); err != nil {
		return err
	}
	if scratch > 0 {
		block, ok := s.share.TryMap(int(scratch))
		if !ok {
			return &mem.TooSmallError{Share: "reading", Need: d.Floor(), Limit: limit}
		}
		s.scratch, s.bodies.scratch = block, block.Bytes()
	}
	s.dictReader.bodies = &s.bodies
	if s.dictReader.budget, err = s.share.Carve("dictionaries", n.dict); err != nil {
		return err
	}
	if s.held, err = s.share.Carve("a compressed batch", s.heldLimit); err != nil {
		return err
	}
	s.slabs, err = s.share.Carve("batches", rest)
	s.target = s.slabTarget(rest)
	return err
}

// slabTarget is the memory of one batch: what the user's batches need, or else
// what stays in a core's cache, and less where there is no room for four.
func (s *scan) slabTarget(slabs int64) int64 {
	d := s.ds
	most := int64(slabMost)
	if d.opt.BatchRows > 0 {
		most = max(most, min(d.needs.row*int64(min(d.opt.BatchRows, 1<<24))*5/4, slabs/4))
	}
	return max(blockWithin(min(most, slabs/4)), d.slab())
}
