package wire

import "slices"

// extent is the steps [from, to) of an arena.
type extent struct{ from, to int }

// extents knows which steps of an arena are free: sorted, none empty, no two
// adjacent. Slots are few, so that a scan is as good as a tree.
type extents struct{ free []extent }

func newExtents(steps int) extents {
	if steps == 0 {
		return extents{}
	}
	return extents{free: []extent{{0, steps}}}
}

// take finds n steps, n > 0, at the lowest place: what was used last is used
// again first, while it is in the caches, and the rest stays untouched.
func (e *extents) take(n int) (from int, ok bool) {
	for i := range e.free {
		f := &e.free[i]
		if f.to-f.from < n {
			continue
		}
		from = f.from
		if f.from += n; f.from == f.to {
			e.free = slices.Delete(e.free, i, i+1)
		}
		return from, true
	}
	return 0, false
}

// give makes steps free that take returned.
func (e *extents) give(x extent) {
	i, _ := slices.BinarySearchFunc(e.free, x.from, func(f extent, at int) int { return f.from - at })
	left := i > 0 && e.free[i-1].to == x.from
	right := i < len(e.free) && e.free[i].from == x.to
	switch {
	case left && right:
		e.free[i-1].to = e.free[i].to
		e.free = slices.Delete(e.free, i, i+1)
	case left:
		e.free[i-1].to = x.to
	case right:
		e.free[i].from = x.from
	default:
		e.free = slices.Insert(e.free, i, x)
	}
}
