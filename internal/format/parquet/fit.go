package parquet

// extent is how large a region is made.
type extent struct{ entries, data int }

// size is the bytes of such a region.
func (e extent) size(l *leafPlan) int { return regionSize(l, e.entries, e.data) }

// extents estimates the regions for n rows and returns their sum.
func (g *group) extents(out []extent, n int) int {
	total := 0
	for i, l := range g.leaves {
		e := extent{entries: n}
		est := &g.s.estimates[i]
		c := &g.carried[i]
		switch {
		case l.every > 0:
			e.entries = n * l.every
		case l.MaxRep > 0:
			per := est.entries
			if per == 0 {
				per = float64(l.chunk.Values) / float64(max(1, g.s.groupRows))
			}
			e.entries = int(float64(n)*per*1.25) + 16
			e.entries = max(e.entries, c.entries+16)
		}
		e.entries = max(e.entries, c.entries)
		if l.shape == byteShape {
			per := est.bytes
			if per == 0 {
				per = float64(l.chunk.Uncompressed) / float64(max(1, l.chunk.Values))
			}
			e.data = max(int(float64(e.entries)*per*1.25)+256, c.col.end+256)
			e.data = min(e.data, maxValue-64)
		}
		out[i] = e
		total += e.size(l.leafPlan)
	}
	return total
}

// fit makes n small enough that its regions fit a slab, and returns it with
// their sum.
func (g *group) fit(out []extent, n int) (rows, total int) {
	// What is carried over must fit the next slab beside a row.
	var least int
	for _, l := range g.leaves {
		least += leastExtent(l, 1, &region{}).size(l.leafPlan)
	}
	slab := g.s.slabSize
	room := max(slab-least, slab/2)
	total = g.extents(out, n)
	for total > room && n > 1 {
		n = max(1, min(n-1, int(float64(n)*float64(room)/float64(total)*0.98)))
		total = g.extents(out, n)
	}
	if total > room {
		total = g.squeeze(out, total)
	}
	return n, total
}

// leastExtent is room for what is carried over and a short row.
func leastExtent(l *leaf, n int, carried *region) extent {
	e := extent{entries: max(n, carried.entries)}
	switch {
	case l.every > 0:
		e.entries = max(n*l.every, carried.entries)
	case l.MaxRep > 0:
		e.entries += 16
	}
	if l.shape == byteShape {
		e.data = carried.col.end + 256
	}
	return e
}

// squeeze makes the regions of one row smaller than they should be, so that
// they fit a slab: the row before was a giant. One that is a giant too is
// enlarged later.
func (g *group) squeeze(out []extent, total int) int {
	var least int
	for i, l := range g.leaves {
		least += leastExtent(l, 1, &g.carried[i]).size(l.leafPlan)
	}
	share := 0.98 * float64(max(0, g.s.slabSize-least)) / float64(max(1, total-least))
	if share >= 1 {
		return total
	}
	total = 0
	for i, l := range g.leaves {
		e := leastExtent(l, 1, &g.carried[i])
		if l.MaxRep > 0 && l.every == 0 {
			e.entries += int(float64(max(0, out[i].entries-e.entries)) * share)
		}
		if l.shape == byteShape {
			e.data += int(float64(max(0, out[i].data-e.data)) * share)
		}
		out[i] = e
		total += e.size(l.leafPlan)
	}
	return total
}
