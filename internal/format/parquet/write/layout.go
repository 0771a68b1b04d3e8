package write

import (
	"math"

	"github.com/weir-data/weir/internal/mem"
)

// layout is how a file's share of memory is divided.
type layout struct {
	values  int // bytes of the values of a page
	most    int // values of a page
	block   int // of held pages
	spill   int // a thread's memory for a compressed page
	codes   int // a thread's memory for a page of indices
	buffer  int // of the output
	dicts   int64
	slots   int   // the pages that are being filled, all leaves together
	heap    int64 // on the Go heap: leaves, compressors, the footer's schema
	fixed   int64 // all of that is there while the file is written
	footer  int64 // about what the footer says of a row group
	reserve int64 // the most that it says
	index   int64 // the most of the indexes of pages
}

const (
	// mostFixed and mostBytes are the sizes of pages where there is memory
	// enough: values of a fixed size are compressed as well in smaller pages,
	// and faster, because they stay in the cache.
	mostFixed = 256 << 10
	mostBytes = 1 << 20
	leastPage = 512
	// mostValues is how many values a page has at most.
	mostValues = 128 << 10

	// leafCost is the Go heap for a leaf beside its steps and names.
	leafCost = 1 << 10
	stepCost = 160
	// chunkCost is the footer's description of a chunk beside names.
	chunkCost = 192 + 4*mostStat

	defaultGroup = 64 << 20
	defaultPart  = 512 << 20
	mostBlock    = 1 << 20
	leastBlock   = 4 << 10
)

// pageOf is the bytes of values of the leaf's pages.
func (y *layout) pageOf(l *leaf) int {
	if l.width > 0 || l.form == fromBool {
		return min(y.values, mostFixed)
	}
	return y.values
}

// divide is the layout with pages of so many bytes, in a share of limit bytes.
func divide(o *options, values int, limit int64) layout {
	y := layout{values: values, most: max(256, min(values, mostValues))}
	slot, levels := 0, 0
	for _, l := range o.leaves {
		size := l.slotSize(y.pageOf(l))
		slot = max(slot, size)
		levels = max(levels, size-y.pageOf(l))
		y.slots += size
		names := int64(len(l.name))
		y.heap += leafCost + stepCost*int64(len(l.steps)) + 4*names
		y.footer += chunkCost/3 + names
		y.reserve += chunkCost + 2*names
	}
	y.reserve += leastTape + y.reserve/4
	y.block = leastBlock
	for y.block < mostBlock && int64(4*y.block*o.threads) < limit/16 {
		y.block *= 2
	}
	y.spill = pageHeader + (&compressor{compression: o.comp}).bound(max(slot, values))
	y.codes = 4*y.most + levels + 64
	y.buffer = max(leastBlock, min(values, 64<<10))
	y.dicts, y.index = limit/8, limit/8
	y.heap += int64(o.threads) * (o.comp.heap(values) + 16<<10)
	perThread := mem.BlockSize(y.spill) + mem.BlockSize(y.codes) + mem.BlockSize(4*y.most)
	y.fixed = y.heap + int64(mem.BlockSize(y.slots)) + int64(o.threads*perThread) + int64(mem.BlockSize(y.buffer)) + y.dicts
	return y
}

// need is what the layout takes with every page full.
func (y *layout) need(o *options) int64 {
	n := y.fixed + y.reserve + int64(2*o.threads*y.block)
	for _, l := range o.leaves {
		page := y.pageOf(l)
		n += heldCost(page, page/4, page)
	}
	return n
}

// heldCost is the most memory for pages with so many bytes of values and of
// levels.
func heldCost(values, levels, page int) int64 {
	// Two pages in a row have more than one would hold, of values or levels.
	pages := 2 + 2*values/page + 2*levels/(page/8+64)
	size := values + levels
	return int64(size + size/250 + pages*(recordExtent+64))
}

// leastMemory is the least share that works for a file of about part bytes.
// The footer grows with the number of row groups, which is the larger the
// smaller they are: together they need the least where both are as large as
// the root of the file's size times the footer's bytes for a row group. Three
// times that, because row groups get smaller as the footer grows.
func leastMemory(o *options) int64 {
	if o.steady {
		return steadyMemory(o)
	}
	y := divide(o, leastPage, 0)
	n := y.need(o) + 3*int64(math.Sqrt(float64(o.part)*float64(y.footer)))
	return n + n/6 // an eighth of the share goes to dictionaries
}

// mostMemory is the share beyond which nothing gets faster.
func mostMemory(o *options) int64 {
	if o.steady {
		return steadyMemory(o)
	}
	y := divide(o, mostBytes, 1<<40)
	n := y.need(o) - y.dicts + o.group + o.group/32
	return n + n/6
}

// choose is the layout for a share: pages as large as a third of it allows.
func choose(o *options, limit int64) layout {
	if o.steady {
		return steady(o)
	}
	for values := mostBytes; values > leastPage; values /= 2 {
		y := divide(o, values, limit)
		if y.need(o)-y.dicts <= limit/3 {
			return y
		}
	}
	return divide(o, leastPage, limit)
}

// room is what a share leaves for the pages of the first row group.
func (y *layout) room(limit int64, threads int) int64 {
	return limit - y.fixed - y.reserve - int64(threads*(y.block+leastSplit))
}

// enough is about the least share that leaves so much for pages.
func enough(o *options, cost, limit int64) int64 {
	for y := choose(o, limit); y.room(limit, o.threads) < cost; y = choose(o, limit) {
		limit += limit / 16
	}
	return limit
}
