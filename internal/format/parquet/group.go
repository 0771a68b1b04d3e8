package parquet

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// group reads the chosen columns of one row group, batch by batch.
type group struct {
	s      *scan
	rows   int64 // not yet in a batch
	leaves []*leaf
	extra  *mem.Budget
	sum    int64 // set aside for the leaves
	ahead  []*readahead
	// carried are rows that some leaves decoded but the last batch did not
	// take, because another leaf had no room for them.
	carried []region
	block   *mem.Block
	// Used again for every batch.
	regions []region
	sizes   []extent
}

// openGroup sets the memory for row group i aside and opens its columns.
func (s *scan) openGroup(ctx context.Context, i int) (*group, error) {
	f := s.file
	var err error
	if s.chunks, err = f.meta.Chunks(ctx, i, f.ordinals, s.chunks); err != nil {
		return nil, err
	}
	_, rows := f.meta.Group(i)
	g := &group{s: s, rows: rows, carried: make([]region, len(f.leaves))}
	needs, err := g.needs(ctx, s.chunks)
	if err != nil {
		return nil, fmt.Errorf("parquet: %s: row group %d, %w", f.name, i, err)
	}
	for _, n := range needs {
		g.sum += n
	}
	rest := s.freePages() - g.sum
	if rest < 0 {
		return nil, fmt.Errorf("parquet: %s: row group %d: %w", f.name, i, tooSmall("reading", s.share.Limit(), -rest))
	}
	if g.extra, err = s.pages.Carve("pages", rest); err != nil {
		return nil, err
	}
	depth := s.depth(len(f.leaves))
	srcs := g.sources(ctx, i)
	for j, p := range f.leaves {
		own, err := s.pages.Carve(p.Path, needs[j])
		if err != nil {
			g.close()
			return nil, err
		}
		l := &leaf{leafPlan: p, chunk: s.chunks[j], src: srcs[j], off: s.chunks[j].Start,
			siblings: int64(len(f.leaves)), extra: g.extra, reserve: own, share: s.share.Limit()}
		l.ahead = pageQueue{pool: s.pool, depth: depth, ctx: s.ctx}
		g.leaves = append(g.leaves, l)
	}
	return g, nil
}

// freePages is the memory for a row group while none is open. Batches that the
// consumer still has may hold some of it; see group.lend.
func (s *scan) freePages() int64 { return s.pages.Limit() - s.pages.Used() }

// needs is the memory to set aside for each leaf: for whole pages where all of
// that fits, else what the first pages' headers say.
func (g *group) needs(ctx context.Context, chunks []meta.Chunk) ([]int64, error) {
	s := g.s
	out := make([]int64, len(chunks))
	var sum int64
	for i := range chunks {
		out[i] = loose(s.file.leaves[i], &chunks[i])
		sum += out[i]
	}
	if sum <= s.pages.Limit()/2 {
		return out, nil
	}
	for i, l := range s.file.leaves {
		if chunks[i].Values == 0 {
			continue
		}
		if s.ds.remote {
			// Not for the price of a request a column: as in the row group
			// that was measured, and a little more.
			out[i] = min(out[i], s.ds.needs.each[l.Path]*17/16)
			continue
		}
		d, err := tight(ctx, l, &chunks[i], s.file.src, s.pool.Own(), 2)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", l.Path, err)
		}
		out[i] = min(out[i], max(d.pages, s.ds.needs.each[l.Path]))
	}
	return out, nil
}

func (g *group) close() {
	for _, l := range g.leaves {
		l.close()
	}
	g.leaves = nil
	for _, r := range g.ahead {
		r.close()
	}
	g.ahead = nil
	g.block.Free()
	g.block = nil
	g.extra.Close()
}

// next decodes a batch of at most n rows.
func (g *group) next(ctx context.Context, limit int) (arrow.RecordBatch, error) {
	n := int(min(int64(limit), g.rows))
	sl, regions, n, err := g.layout(ctx, n)
	if err != nil {
		return nil, err
	}
	defer sl.Release()
	for _, l := range g.leaves {
		l.first = g.s.groupRows - g.rows
	}
	err = g.s.pool.Each(len(g.leaves), func(i int, w *worker) error {
		return g.at(i, g.leaves[i].decode(ctx, w, &regions[i], n))
	})
	if err != nil {
		return nil, err
	}
	if n, err = g.grow(ctx, sl, regions, n); err != nil {
		return nil, err
	}
	g.s.observe(regions)
	if err := g.carry(ctx, regions, n); err != nil {
		return nil, err
	}
	g.rows -= int64(n)
	return g.record(sl, regions, n)
}

// at says in which column an error lies.
func (g *group) at(i int, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("column %q, %w", g.leaves[i].Path, err)
}

// layout maps a batch's memory and divides it among the leaves, after making
// n small enough.
func (g *group) layout(ctx context.Context, n int) (*slab, []region, int, error) {
	s := g.s
	if g.regions == nil {
		g.regions, g.sizes = make([]region, len(g.leaves)), make([]extent, len(g.leaves))
	}
	regions, sizes := g.regions, g.sizes
	n, total := g.fit(sizes, n)
	size := total
	if size > s.slabSize/4 {
		// One size for nearly all slabs, so that each is used again.
		size = max(size, s.slabSize)
	}
	if need := int64(mem.BlockSize(size)); need > s.slabs.Limit() {
		return nil, nil, 0, tooSmall("a single row", s.share.Limit(), need)
	}
	block, err := s.slabs.Map(ctx, size)
	if err != nil {
		return nil, nil, 0, err
	}
	ram := block.Bytes()
	for i, l := range g.leaves {
		k := regionSize(l.leafPlan, sizes[i].entries, sizes[i].data)
		regions[i] = newRegion(l.leafPlan, sizes[i].entries, sizes[i].data, ram[:k])
		ram = ram[k:]
		if c := &g.carried[i]; c.leaf != nil {
			regions[i].carry(c, 0)
			*c = region{}
		}
	}
	g.block.Free()
	g.block = nil
	return &slab{Slab: stream.NewSlab(block)}, regions, n, nil
}

// grow finds how many rows all leaves have, at least one: a row that is larger
// than its region gets memory of its own.
func (g *group) grow(ctx context.Context, sl *slab, regions []region, n int) (int, error) {
	for i := range regions {
		r := &regions[i]
		for r.rows == 0 {
			if err := g.enlarge(ctx, sl, r); err != nil {
				return 0, g.at(i, err)
			}
			if err := g.leaves[i].decode(ctx, g.s.pool.Own(), r, 1); err != nil {
				return 0, g.at(i, err)
			}
		}
		n = min(n, r.rows)
	}
	return n, nil
}

// enlarge moves r to a region in which at least one more value fits.
func (g *group) enlarge(ctx context.Context, sl *slab, r *region) error {
	l := r.leaf
	entries, data := r.cap, len(r.col.data)
	switch {
	case l.every > 0:
		entries = r.entries + l.every
	case r.entries == r.cap:
		entries = 2*r.cap + pendSize
	}
	if r.col.wants > len(r.col.data)-r.col.end {
		data = r.col.end + r.col.wants + (r.col.end+r.col.wants)/64
	}
	if data > maxValue {
		return damaged("a row of more than 2 GiB")
	}
	size := regionSize(l, entries, data)
	block, err := g.giantBlock(ctx, sl, size)
	if err != nil {
		return err
	}
	sl.Add(block)
	bigger := newRegion(l, entries, data, block.Bytes())
	bigger.carry(r, 0)
	r.own.Free()
	*r = bigger
	r.own = block
	return nil
}

// giantBlock finds memory for a row of the batch sl. It never takes what is
// for slabs: what is carried over needs it.
func (g *group) giantBlock(ctx context.Context, sl *slab, size int) (*mem.Block, error) {
	if block, ok := g.lend(size); ok {
		return block, nil
	}
	need := int64(mem.BlockSize(size))
	if need > g.s.giant.Limit() {
		return nil, tooSmall("a single row", g.s.share.Limit(), need)
	}
	if !sl.giant {
		// Only batches before this one can have it, and they go away.
		sl.giant = true
		return g.s.giant.Map(ctx, size)
	}
	block, ok := g.s.giant.TryMap(size)
	if !ok {
		return nil, tooSmall("a single row", g.s.share.Limit(), need)
	}
	return block, nil
}

// lend maps memory for a batch out of what is for pages. The batch may outlive
// the row group, so it leaves as much as any row group needs.
func (g *group) lend(size int) (*mem.Block, bool) {
	keep := max(0, g.s.ds.needs.pages-g.sum)
	if g.extra.Limit()-g.extra.Used()-int64(mem.BlockSize(size)) < keep {
		return nil, false
	}
	return g.extra.TryMap(size)
}

// carry keeps what the leaves decoded behind the first n rows.
func (g *group) carry(ctx context.Context, regions []region, n int) error {
	total := 0
	for i := range regions {
		total += g.restSize(&regions[i], n)
	}
	if total == 0 {
		return nil
	}
	block, err := g.s.slabs.Map(ctx, total)
	if err != nil {
		return err
	}
	g.block = block
	ram := block.Bytes()
	for i := range regions {
		r := &regions[i]
		size := g.restSize(r, n)
		if size == 0 {
			continue
		}
		entry, slot := r.cut(n)
		c := newRegion(r.leaf, r.entries-entry, r.restSize(slot), ram[:size])
		c.carry(r, n)
		g.carried[i] = c
		ram = ram[size:]
	}
	return nil
}

// restSize is the size of a region for what r has behind n rows.
func (g *group) restSize(r *region, n int) int {
	entry, slot := r.cut(n)
	if entry == r.entries {
		return 0
	}
	return regionSize(r.leaf, r.entries-entry, r.restSize(slot))
}

// record makes the batch.
func (g *group) record(sl *slab, regions []region, n int) (arrow.RecordBatch, error) {
	f := g.s.file
	a := assembler{slab: sl, regions: regions, rows: n}
	cols := make([]arrow.Array, 0, len(f.columns))
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	for i, node := range f.columns {
		c, err := a.column(node, f.first[i])
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", node.Name, err)
		}
		cols = append(cols, c)
	}
	return array.NewRecordBatch(g.s.ds.schema, cols, int64(n)), nil
}
