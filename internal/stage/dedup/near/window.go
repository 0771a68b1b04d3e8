package near

import "context"

// window is some rows in a row, and which of them belong together. What they
// have in common with rows before the window is passed on to those: a group
// remembers the earliest of them, and for each other one a pair of the two
// goes to the window that it is in. So windows are solved from the last to the
// first, and each row is looked at in one of them.
type window struct {
	lo, n  uint64   // the first row and the number of rows
	parent []uint32 // of a group, the earliest row is the root
	down   []uint64 // of a root: the earliest row before the window; noRow: none; nil: there are no windows before
	// pass takes a pair of rows before the window.
	pass func(ctx context.Context, row, earlier uint64) error
}

const noRow = ^uint64(0)

// windowRow is what a row of a window takes.
const windowRow = 4 + 8

// reset makes each row a group of its own.
func (w *window) reset(lo, n uint64) {
	w.lo, w.n = lo, n
	for i := range w.parent[:n] {
		w.parent[i] = uint32(i)
	}
	if w.down != nil {
		for i := range w.down[:n] {
			w.down[i] = noRow
		}
	}
}

// root is the earliest row of a group.
func (w *window) root(i uint32) uint32 {
	p := w.parent
	for p[i] != i {
		p[i] = p[p[i]]
		i = p[i]
	}
	return i
}

// join puts a row, by its place in the window, together with an earlier one.
func (w *window) join(ctx context.Context, i uint32, earlier uint64) error {
	r := w.root(i)
	if earlier < w.lo {
		return w.reach(ctx, r, earlier)
	}
	o := w.root(uint32(earlier - w.lo))
	if r == o {
		return nil
	}
	if o > r {
		r, o = o, r
	}
	w.parent[r] = o
	if w.down == nil || w.down[r] == noRow {
		return nil
	}
	return w.reach(ctx, o, w.down[r])
}

// reach notes that a group has something in common with a row before the window.
func (w *window) reach(ctx context.Context, root uint32, row uint64) error {
	d := w.down[root]
	w.down[root] = min(d, row)
	if d == noRow || d == row {
		return nil
	}
	return w.pass(ctx, max(d, row), min(d, row))
}

// first is whether a row is the earliest of its group in all windows, and else
// an earlier row of the group.
func (w *window) first(i uint32) (bool, uint64) {
	r := w.root(i)
	if r != i {
		return false, w.lo + uint64(r)
	}
	if w.down != nil && w.down[i] != noRow {
		return false, w.down[i]
	}
	return true, 0
}
