package parquet

import (
	"context"

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

// demand is what one chunk needs.
type demand struct {
	pages int64 // dictionary and pages, large ones streamed
	giant int64 // room in a batch for a value that may be as large as a page
}

// probePages is how many data pages of a chunk are looked at beforehand.
const probePages = 8

// tight is memory that suffices if large pages are streamed. It looks at the
// headers of the first pages.
func tight(ctx context.Context, l *leafPlan, c *meta.Chunk, src source, w *worker, pages int) (demand, error) {
	probe := &leaf{leafPlan: l, chunk: *c, src: src, off: c.Start}
	var d demand
	var dict, load, cost, need int64 // cost: of the most expensive stream; need: of all of a page
	for range pages {
		ref, ok, err := probe.look(ctx, w)
		if err != nil {
			return d, err
		}
		if !ok {
			break
		}
		n, err := probe.streamCost(ctx, ref)
		if err != nil {
			return d, err
		}
		cost = max(cost, n)
		need = max(need, n*windows(&ref.PageHeader, l.phys))
		d.giant = max(d.giant, l.giant(&ref.PageHeader))
	}
	if ref := probe.dictRef; ref.body > 0 {
		stream, err := probe.streamCost(ctx, ref)
		if err != nil {
			return d, err
		}
		dict, load = dictNeed(l, &ref.PageHeader)
		load += min(stream, int64(mem.BlockSize(int(ref.Compressed)+slack)))
		d.giant = max(d.giant, l.giant(&probe.dictRef.PageHeader))
	}
	need += levelNeed(l, c, cost)
	// A chunk that is smaller than its stream would be is held whole.
	held := int64(mem.BlockSize(int(c.Uncompressed)+slack)) + int64(mem.BlockSize(int(c.Compressed)+slack))
	// No page is open yet while the dictionary is loaded, through a stream if
	// need be.
	d.pages = dict + max(min(need, held), load)
	return d, nil
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

// streamCost is what streaming a page holds, its window included.
func (l *leaf) streamCost(ctx context.Context, ref pageRef) (int64, error) {
	cost := int64(0)
	if c := l.codec(ref); c != codec.None {
		levels := int64(ref.RepLen) + int64(ref.DefLen)
		head := make([]byte, min(64, int64(ref.Compressed)-levels))
		if err := l.src.read(ctx, head, ref.body+levels); err != nil {
			return 0, err
		}
		exact, err := c.StreamCost(head, int64(ref.Uncompressed)-levels)
		if err != nil {
			exact = usualStream // the page is damaged, which is said when it is read
		}
		cost = exact
	}
	return cost + int64(mem.BlockSize(streamRAM)), nil
}

// giant is room for a value as large as the whole page, where its few values
// are so large that one of them may be.
func (l *leafPlan) giant(h *meta.PageHeader) int64 {
	size, n := int64(h.Uncompressed), int64(max(h.Values, 1))
	if l.shape != byteShape || size < giantPage || size/n < giantMean {
		return 0
	}
	return int64(mem.BlockSize(regionSize(l, pendSize, int(size+size/64)+4096)))
}

const (
	// giantPage is a page that is larger than writers make them unless a
	// value is; giantMean is a mean size that text does not have. DuckDB
	// writes pages of 93 MB, but of thousands of values.
	giantPage = 4 << 20
	giantMean = 16 << 10
)

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
