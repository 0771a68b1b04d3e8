package write

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// mode is how the chunk's next page is encoded. The values decide alone, those
// of the first page and where the dictionary gets too large those of that one.
type mode uint8

const (
	undecided mode = iota
	coded          // indices into a dictionary
	delta          // differences of integers
	plain
)

// shorten encodes the page's values behind its levels; false: they are better
// stored as they are.
func (t *thread) shorten(l *leaf, p *page) ([]byte, meta.Encoding, bool) {
	c := &l.chunk
	if p.vals == 0 {
		return nil, meta.Plain, false
	}
	switch {
	case c.mode == undecided:
		if body, ok := t.begin(l, p, t.choose(l, p)); ok {
			return body, meta.RLEDictionary, true
		}
	case c.mode == coded && t.indexable(p):
		if body, ok := t.index(l, p); ok {
			return body, meta.RLEDictionary, true
		}
		t.choose(l, p)
	}
	if c.mode == delta {
		if body, ok := t.differ(l, p); ok {
			return body, meta.DeltaBinaryPacked, true
		}
	}
	return nil, meta.Plain, false
}

// choose decides between differences and values as they are, by what is left of
// a sample of them when it is compressed, and returns what a dictionary and the
// page's indices may take, compressed; 0: no dictionary. Where compression takes
// less than a twentieth from the differences, and there is much to compress, a
// chunk that has no pages is not compressed.
func (t *thread) choose(l *leaf, p *page) int {
	c := &l.chunk
	c.mode = plain
	if l.form == fromBool {
		return 0
	}
	limit := len(p.values) / 4 * 3
	n := t.sample(l, p)
	if n == 0 {
		return limit
	}
	values := p.values[:n*l.width]
	long := t.packed(values)
	limit = min(limit, samplePart*long)
	body := appendDeltas(t.codes[:0], values, l.width)
	if len(body) > len(values)/16*15 {
		return limit
	}
	short := min(len(body), t.packed(body))
	if short > long {
		return limit
	}
	c.mode = delta
	c.raw = c.count == 0 && len(body) > len(values)/8 && short > len(body)/20*19 && len(p.levels) <= len(p.values)/64
	return min(limit, samplePart*short)
}

// begin begins a dictionary if it takes no more than limit with the indices of
// the chunk's first page. A sample shows most of those that take more.
func (t *thread) begin(l *leaf, p *page, limit int) ([]byte, bool) {
	if limit == 0 || !t.indexable(p) || !repeats(p.values, p.vals, l.width) {
		return nil, false
	}
	c := &l.chunk
	cost, ok := 0, true
	var body []byte
	n := t.sample(l, p)
	if n > 0 {
		body, ok = t.index(l, &page{values: p.values[:n*l.width], vals: n})
		cost = samplePart * t.packed(body)
	}
	if ok && c.dict.used+cost <= limit {
		body, ok = t.index(l, p)
		if n == 0 {
			cost = len(body) - len(p.levels)
		}
	}
	if !ok || c.dict.used+cost > limit {
		c.dict.free()
		return nil, false
	}
	c.mode, c.raw = coded, false
	return body, true
}

// indexable says whether the thread has memory for the page's indices; it may
// not for a single large row.
func (t *thread) indexable(p *page) bool {
	return p.vals <= len(t.indices) && len(p.levels)+4*p.vals <= len(t.codes)
}

// index encodes the values as indices; false: the dictionary takes no more.
func (t *thread) index(l *leaf, p *page) ([]byte, bool) {
	d := &l.chunk.dict
	idx := t.indices[:p.vals]
	room := dictRoom{share: l.dicts, limit: min(mostDict, t.values), width: l.width}
	if !d.add(&room, p.values, idx, l.width) {
		return nil, false
	}
	width := uint8(max(1, bits.Len(uint(d.n-1))))
	body := append(t.codes[:0], p.levels...)
	return packIndices(append(body, width), idx, width), true
}

// Samples: the first quarter of a page.
const (
	samplePart   = 4
	leastSampled = 64 // values
)

// sample is how many values of a page tell what its differences take; 0: the
// column has none, or better without. Codecs that code single bytes by how
// often they are do better with whole ones.
func (t *thread) sample(l *leaf, p *page) int {
	n := p.vals / samplePart
	if l.typ != meta.Int32 && l.typ != meta.Int64 || !t.comp.matchesOnly() || n < leastSampled ||
		deltaBytes(n, l.width) > len(t.codes) || t.comp.bound(n*l.width) > len(t.spill) {
		return 0
	}
	return n
}

// packed is how many bytes are left of some when they are compressed.
func (t *thread) packed(b []byte) int {
	n, err := t.comp.pack(t.spill, nil, b)
	if err != nil || len(b) == 0 {
		return len(b)
	}
	return n
}

// differ encodes the values as differences; false: they are not shorter, or
// the page is that of a row too large for the thread's memory.
func (t *thread) differ(l *leaf, p *page) ([]byte, bool) {
	if len(p.levels)+deltaBytes(p.vals, l.width) > len(t.codes) {
		return nil, false
	}
	body := append(t.codes[:0], p.levels...)
	body = appendDeltas(body, p.values, l.width)
	return body, len(body) < len(p.levels)+len(p.values)
}

// appendDeltas is packDeltas for plain values of 4 or 8 bytes.
func appendDeltas(dst, values []byte, width int) []byte {
	if width == 8 {
		return packDeltas(dst, arrow.Int64Traits.CastFromBytes(values), width)
	}
	return packDeltas(dst, arrow.Int32Traits.CastFromBytes(values), width)
}
