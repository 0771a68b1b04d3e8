package arrow

import (
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
)

// views loads views and the parts of the data buffers they point to.
func (l *loader) views(n *node, start, rows int64) error {
	v, err := l.values(&n.parts[1], start, rows, n.width)
	if err != nil {
		return err
	}
	n.data = append(n.data, v)
	parts := n.parts[2:]
	used := make([]extent, len(parts))
	if !checkViews(v, n.data[0], parts, used) {
		return damaged("%q: a view points outside of its buffers", n.Name)
	}
	for i := range parts {
		if l.whole {
			used[i].lo = 0
		}
		b, err := l.take(&parts[i], used[i].lo, used[i].hi-used[i].lo)
		if err != nil {
			return err
		}
		n.data = append(n.data, b)
	}
	if !l.whole {
		moveViews(v, used)
	}
	return nil
}

// listViews loads list views and the part of the child they point to.
func (l *loader) listViews(n *node, start, rows int64) error {
	offs, err := l.values(&n.parts[1], start, rows, n.width)
	if err != nil {
		return err
	}
	sizes, err := l.values(&n.parts[2], start, rows, n.width)
	if err != nil {
		return err
	}
	n.data = append(n.data, offs, sizes)
	var lo, hi int64
	ok := false
	if n.width == 4 {
		lo, hi, ok = rangeOf(arrow.Int32Traits.CastFromBytes(offs), arrow.Int32Traits.CastFromBytes(sizes), n.kids[0].rows, l.whole)
	} else {
		lo, hi, ok = rangeOf(arrow.Int64Traits.CastFromBytes(offs), arrow.Int64Traits.CastFromBytes(sizes), n.kids[0].rows, l.whole)
	}
	if !ok {
		return damaged("%q: a list lies outside of its values", n.Name)
	}
	return l.load(&n.kids[0], lo, hi-lo)
}

// rangeOf is viewRange, and what bounds is to lists. Views that stay keep the
// whole child, to which empty ones may point anywhere.
func rangeOf[T offset](offs, sizes []T, rows int64, stay bool) (lo, hi int64, ok bool) {
	lo, hi, ok = viewRange(offs, sizes, rows)
	if !ok || stay {
		return 0, rows, ok
	}
	rebaseViews(offs, sizes, T(lo))
	return lo, hi, true
}

// union loads the type codes and what they choose from.
func (l *loader) union(n *node, start, rows int64) error {
	codes, err := l.values(&n.parts[0], start, rows, 1)
	if err != nil {
		return err
	}
	for _, c := range codes {
		if n.child[c] < 0 {
			return damaged("%q: a union's type code %d is not known", n.Name, c)
		}
	}
	n.data = append(n.data, codes)
	if n.shape == sparseShape {
		return l.children(n, start, rows)
	}
	b, err := l.values(&n.parts[1], start, rows, 4)
	if err != nil {
		return err
	}
	n.data = append(n.data, b)
	offs := arrow.Int32Traits.CastFromBytes(b)
	used := make([]extent, len(n.kids))
	for i, o := range offs {
		kid := n.child[codes[i]]
		if o < 0 || int64(o) >= n.kids[kid].rows {
			return damaged("%q: a union points outside of its values", n.Name)
		}
		used[kid].add(int64(o), int64(o)+1)
	}
	for i := range n.kids {
		if l.whole {
			used[i].lo = 0
		}
		if err := l.load(&n.kids[i], used[i].lo, used[i].hi-used[i].lo); err != nil {
			return err
		}
	}
	if !l.whole {
		for i := range offs {
			offs[i] -= int32(used[n.child[codes[i]]].lo)
		}
	}
	return nil
}

// runs loads the runs that rows lie in. The ends of those that are copied
// count from the first row and go no further than the last.
func (l *loader) runs(n *node, start, rows int64) error {
	ends, values := &n.kids[0], &n.kids[1]
	if ends.nulls > 0 || ends.rows > values.rows {
		return damaged("%q: its runs have no end or no value", n.Name)
	}
	first, last := int64(0), ends.rows
	if !l.whole {
		var err error
		if first, err = l.run(ends, start+1); err == nil {
			last, err = l.run(ends, start+rows)
		}
		if err != nil {
			return err
		}
		last++
	}
	if rows == 0 {
		first, last = 0, 0
	}
	if last > ends.rows {
		return damaged("%q: its runs end early", n.Name)
	}
	if err := l.load(ends, first, last-first); err != nil {
		return err
	}
	if ends.empty > 0 {
		return damaged("%q: a run's end is null", n.Name)
	}
	b, before := ends.data[1], int64(0)
	for i := range int(last - first) {
		end := runEnd(b, n.width, i)
		if !l.whole {
			end = min(end-start, rows)
			setRunEnd(b, n.width, i, end)
		}
		if end <= before {
			return damaged("%q: its runs go back", n.Name)
		}
		before = end
	}
	if before < rows {
		return damaged("%q: its runs end early", n.Name)
	}
	return l.load(values, first, last-first)
}

// run finds the first run that ends at row or behind it.
func (l *loader) run(ends *node, row int64) (int64, error) {
	p := &ends.parts[1]
	if ends.rows > p.size/int64(ends.width) {
		return 0, errShort
	}
	var failed error
	i := sort.Search(int(ends.rows), func(i int) bool {
		var b [8]byte
		at := int64(i) * int64(ends.width)
		if p.mem != nil {
			copy(b[:], p.mem[at:at+int64(ends.width)])
		} else if err := l.r.ReadAt(l.ctx, b[:ends.width], p.off+at); err != nil && failed == nil {
			failed = err
		}
		return runEnd(b[:], ends.width, 0) >= row
	})
	return int64(i), failed
}
