package parquet

import (
	"context"

	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/stream"
)

// pass skips the first n rows of the group: whole pages by their headers where
// these say how many rows a page has, the rest by decoding.
func (g *group) pass(ctx context.Context, n int64) error {
	for i, l := range g.leaves {
		var err error
		if per := int64(l.every); per > 0 && l.chunk.Values == g.s.groupRows*per {
			err = l.seek(ctx, g.s.pool.Own(), n*per)
		} else if left, e := l.jump(ctx, g.s.pool.Own(), n); e != nil {
			err = e
		} else {
			err = g.discard(ctx, l, left)
		}
		if err != nil {
			return g.at(i, err)
		}
	}
	g.rows -= n
	return nil
}

// jump passes over pages that lie before row n and returns how many rows of
// the next page do too.
func (l *leaf) jump(ctx context.Context, w *worker, n int64) (int64, error) {
	for n > 0 {
		off, walked, pages := l.off, l.walked, l.pages
		ref, ok, err := l.walk(ctx, w)
		if err != nil || !ok {
			return n, err
		}
		rows := int64(ref.Values)
		if l.MaxRep > 0 {
			rows = int64(ref.Rows)
			if ref.Kind != meta.DataPageV2 {
				rows = n + 1 // v1 pages do not say
			}
		}
		if rows > n {
			l.off, l.walked, l.pages = off, walked, pages
			return n, nil
		}
		n -= rows
	}
	return 0, nil
}

// discard decodes n rows of one leaf and drops them.
func (g *group) discard(ctx context.Context, l *leaf, n int64) error {
	if n == 0 {
		return nil
	}
	half := g.s.slabSize / 2 &^ 63
	e := extent{entries: pendSize}
	if l.every > 0 {
		e.entries = max(1, pendSize/l.every) * l.every
	}
	for e.entries > max(1, l.every) && e.size(l.leafPlan) > half/2 {
		e.entries = max(e.entries/2, l.every)
	}
	if l.shape == byteShape {
		e.data = max(0, half-e.size(l.leafPlan))
	}
	half = max(half, e.size(l.leafPlan))
	block, err := g.s.slabs.Map(ctx, max(g.s.slabSize, 2*half))
	if err != nil {
		return err
	}
	sl := &slab{Slab: stream.NewSlab(block)}
	defer func() { sl.Release() }()
	fresh := func(i int) region {
		return newRegion(l.leafPlan, e.entries, e.data, block.Bytes()[i*half:])
	}
	// Two halves take turns, so that a row begun in one can go on in the other.
	r := fresh(0)
	for i := 1; ; i = 1 - i {
		want := int(min(n, int64(e.entries)))
		if err := l.decode(ctx, g.s.pool.Own(), &r, want); err != nil {
			return err
		}
		for r.rows == 0 {
			if err := g.enlarge(ctx, sl, &r); err != nil {
				return err
			}
			if err := l.decode(ctx, g.s.pool.Own(), &r, 1); err != nil {
				return err
			}
		}
		l.first += int64(r.rows)
		if n -= int64(r.rows); n == 0 {
			return nil
		}
		// A region that was enlarged holds one row and nothing behind it, so
		// that what is left of r fits.
		next := fresh(i)
		next.carry(&r, r.rows)
		r = next
		sl.trim()
	}
}
