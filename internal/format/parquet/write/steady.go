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

// steadyMemory is what holds a row group whose pages are not compressed at all,
// and what the footer says of a file of such row groups.
func steadyMemory(o *options) int64 {
	y := steady(o)
	n := y.need(o) + y.index + y.index/2 + 3*leastTape
	pages := int64(0)
	for _, l := range o.leaves {
		page := y.pageOf(l)
		pages = max(pages, heldCost(int(o.group), int(o.group/8), page)-o.group)
		n += int64(mem.BlockSize(page))
	}
	groups := 1 + o.part/o.group
	n += o.group + pages + int64(o.threads*(y.block+y.spill)) + groups*(y.footer+y.footer/2)
	return n + n/16 // what sizes of blocks round up
}

// shareDicts gives each leaf the memory of its dictionary: all from one, or, where
// none may take another's, a part of its own.
func (f *file) shareDicts() (err error) {
	for _, l := range f.leaves {
		if l.dicts = f.dicts; !f.steady {
			continue
		}
		if l.dicts, err = f.dicts.Carve("dictionary", f.layout.dicts/int64(len(f.leaves))); err != nil {
			return err
		}
	}
	return nil
}

// closeDicts gives that memory back.
func (f *file) closeDicts() {
	for _, l := range f.leaves {
		if l.dicts != f.dicts {
			l.dicts.Close()
		}
	}
	f.dicts.Close()
}
