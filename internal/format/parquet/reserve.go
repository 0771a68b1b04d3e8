package parquet

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
)

const (
	// leafHeap is what one open leaf costs on the Go heap: the reader, its
	// plan, pending levels and the Arrow objects of a batch. Measured with
	// 10,000 columns.
	leafHeap = 3 << 10
	// usualStream stands for the window of a codec whose header was not
	// looked at: zstd's default levels write at most 2 MiB.
	usualStream = 2<<20 + 512<<10
)

// loose is memory that surely suffices to read a chunk whole page by whole
// page, from the footer alone: dictionary and page together are no larger than
// the chunk, and the dictionary grows when it is made ready.
func loose(l *leafPlan, c *meta.Chunk) int64 {
	u := c.Uncompressed + 2*slack
	n := int64(mem.BlockSize(int(u))) + int64(mem.BlockSize(int(c.Compressed)+slack)) + 2*4096
	switch {
	case !c.HasDict:
	case l.shape == byteShape:
		n += u // where each value begins: four bytes behind four of length
	case l.conv != nil || l.phys == 0:
		n += u * int64(max(l.width, 4)) / int64(max(l.phys, 4)) * 2
	}
	return n + n/16
}

// tight is memory that suffices if large pages are streamed. It looks at the
// headers of the first pages.
func tight(ctx context.Context, l *leafPlan, c *meta.Chunk, src source, w *worker) (int64, error) {
	probe := &leaf{leafPlan: l, chunk: *c, src: src, off: c.Start}
	var dict, load int64 // the dictionary, and what loading it takes besides
	h, n, err := probe.header(ctx, w)
	if err != nil {
		return 0, fmt.Errorf("page 0: %w", err)
	}
	body := probe.off + int64(n)
	if h.Kind == meta.DictionaryPage {
		dict, load = dictNeed(l, &h)
		probe.off = body + int64(h.Compressed)
		if h, n, err = probe.header(ctx, w); err != nil {
			return 0, fmt.Errorf("page 0: %w", err)
		}
		body = probe.off + int64(n)
	}
	cost := int64(usualStream)
	if c.Codec != codec.None {
		head := make([]byte, min(64, h.Compressed))
		levels := int64(h.RepLen) + int64(h.DefLen)
		if err := src.read(ctx, head, min(body+levels, src.size()-int64(len(head)))); err != nil {
			return 0, err
		}
		if exact, err := c.Codec.StreamCost(head, int64(h.Uncompressed)); err == nil {
			cost = exact
		}
	} else {
		cost = 0
	}
	cost += int64(mem.BlockSize(streamRAM))
	need := cost*windows(&h, l.phys) + levelNeed(l, c, cost)
	// A chunk that is smaller than its stream would be is held whole.
	held := int64(mem.BlockSize(int(c.Uncompressed)+slack)) + int64(mem.BlockSize(int(c.Compressed)+slack))
	// No page is open yet while the dictionary is loaded, through a stream if
	// need be.
	return dict + max(min(need, held), load+min(cost, held)), nil
}

// windows is how many windows into a page its encoding reads from at once; see
// leaf.stored.
func windows(h *meta.PageHeader, phys int) int64 {
	switch h.Encoding {
	case meta.DeltaLengthByteArray:
		return 2
	case meta.DeltaByteArray:
		return 3
	case meta.ByteStreamSplit:
		return int64(max(1, phys))
	}
	return 1
}

// dictNeed is the memory of a dictionary, and of its page where the values
// must be converted.
func dictNeed(l *leafPlan, h *meta.PageHeader) (dict, load int64) {
	size, width := int(h.Uncompressed), l.width
	if l.shape == byteShape {
		width = 0
	}
	dict = int64(mem.BlockSize(dictBlock(size, int(h.Values), width)))
	if l.conv != nil || (l.shape == fixedShape && l.phys == 0) {
		load = int64(mem.BlockSize(size + slack))
	}
	return dict, load
}

// levelNeed is the memory for the levels of a streamed page: held if they are
// short, else streams of their own.
func levelNeed(l *leafPlan, c *meta.Chunk, cost int64) int64 {
	var need int64
	add := func(width uint) {
		// Runs and packed groups of eight values each have a byte for a header.
		size := c.Values*int64(width+1)/8 + 64
		if size > heldLevels {
			need += cost
			size = heldLevels
		}
		need += int64(mem.BlockSize(int(size) + slack))
	}
	switch {
	case l.MaxRep > 0:
		add(l.repWidth)
		add(l.defWidth)
	case l.MaxDef > 0 && c.Nulls == 0:
		// One run.
		need += int64(mem.BlockSize(0))
	case l.MaxDef > 0:
		add(l.defWidth)
	}
	return need
}
