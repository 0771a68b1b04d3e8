package write

import "github.com/weir-data/weir/internal/mem"

// steady is the layout that the schema and the size of row groups decide
// alone: pages such that one of every column takes an eighth of a row group.
func steady(o *options) layout {
	values := mostBytes
	for values > leastPage && int64(values)*int64(len(o.leaves)) > o.group/8 {
		values /= 2
	}
	return divide(o, values, o.group)
}

// steadyMemory is what holds row groups whose pages are not compressed at all,
// as many as there are side by side, and what the footer says of a file of such.
func steadyMemory(o *options) int64 {
	y := steady(o)
	n, pages := y.need(o), int64(0)
	for _, l := range o.leaves {
		page := y.pageOf(l)
		pages = max(pages, heldCost(int(o.group), int(o.group/8), page)-o.group)
		n += int64(mem.BlockSize(page))
	}
	n += o.group + pages + int64(o.threads*(y.block+y.spill))
	n = n*int64(o.side) + y.index + y.index/2 + 3*leastTape + (1+o.part/o.group)*(y.footer+y.footer/2)
	return n + n/16 // what sizes of blocks round up
}
