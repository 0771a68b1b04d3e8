package write

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
)

// leaf is a stored column: how its values are stored, where they are in the
// batch at hand, the page that is being filled, and the chunk.
type leaf struct {
	stored
	path   []string
	name   string // the path with dots
	column int    // at the top
	steps  []step
	maxDef uint8
	maxRep uint8
	index  arrow.Type // of an Arrow dictionary's indices; NULL: it is not one

	// The batch at hand.
	first     int // place of the first row
	src       source
	dictValid []byte // of a dictionary with nulls among its values

	// The page that is being filled.
	slot       []byte // the leaf's own memory
	buf        []byte // slot, or that of a single large row
	start      int    // where values begin in buf, behind room for levels
	used       int    // bytes of values
	count      int    // levels
	vals, rows int
	defs, reps levels

	chunk chunk
	dicts *mem.Budget // of the chunk's dictionary
}

// chunk is what there is of the row group's part of a column.
type chunk struct {
	mode         mode
	dict         dict
	pages        chain
	encodings    uint // a bit for the number of each that data pages have
	raw          bool // not compressed
	values       int64
	nulls        int64
	uncompressed int64
	compressed   int64
	count        int // data pages
	unbounded    bool
	stats        stats
}

// levelArea is the room for levels beside so many bytes of values.
func levelArea(values int, width uint8) int {
	if width == 0 {
		return 0
	}
	return 4 + values/8 + 64
}

// slotSize is the memory of a page with so many bytes of values.
func (l *leaf) slotSize(values int) int {
	return align(levelArea(values, l.defs.width)+levelArea(values, l.reps.width)) + align(values)
}

func align(n int) int { return (n + 63) &^ 63 }

// fill begins a page in buf, with so many bytes for each kind of levels.
func (l *leaf) fill(buf []byte, defs, reps int) {
	l.buf = buf
	if reps > 0 {
		l.reps.reset(buf[4:reps])
	}
	if defs > 0 {
		l.defs.reset(buf[reps+4 : reps+defs])
	}
	l.start = align(defs + reps)
	l.used, l.count, l.vals, l.rows = 0, 0, 0, 0
}

// refill begins a page in the leaf's own memory.
func (l *leaf) refill(values int) {
	l.fill(l.slot, levelArea(values, l.defs.width), levelArea(values, l.reps.width))
}

// pending is the bytes of the page that is being filled.
func (l *leaf) pending() int { return l.used + l.defs.n + l.reps.n }

// fits says whether n levels and so many bytes of values fit in the page.
func (l *leaf) fits(n, bytes, most int) bool {
	return (l.count == 0 || l.count+n <= most) && l.start+l.used+bytes <= len(l.buf) &&
		l.defs.room(n) && l.reps.room(n)
}

// page is one to be encoded. Body is levels and values where they lie one
// behind the other.
type page struct {
	levels, values []byte
	body           []byte
	count          int // levels
	vals, rows     int
}

// flush encodes the page that was filled.
func (l *leaf) flush(t *thread) error {
	if l.count == 0 {
		return nil
	}
	at := l.start
	for _, lv := range []*levels{&l.defs, &l.reps} {
		if lv.width > 0 {
			b := lv.end()
			at -= len(b)
			copy(l.buf[at:], b)
			at -= 4
			binary.LittleEndian.PutUint32(l.buf[at:], uint32(len(b)))
		}
	}
	end := l.start + l.used
	p := page{levels: l.buf[at:l.start], values: l.buf[l.start:end], body: l.buf[at:end],
		count: l.count, vals: l.vals, rows: l.rows}
	if err := t.encode(l, &p); err != nil {
		return err
	}
	l.refill(t.pageOf(l))
	return nil
}

// single encodes a row that is too large for the leaf's memory in a block of
// its own.
func (l *leaf) single(t *thread, row, n, bytes int) error {
	size := func(width uint8) int {
		if width == 0 {
			return 0
		}
		return 4 + levelBytes(n, width) + 32
	}
	defs, reps := size(l.defs.width), size(l.reps.width)
	total := align(defs+reps) + bytes
	block, ok := t.log.held.share.TryMap(total)
	if !ok {
		return &mem.TooSmallError{Share: "a row", Need: int64(total), Limit: t.log.held.share.Free()}
	}
	defer block.Free()
	l.fill(block.Bytes(), defs, reps)
	if err := l.shred(row, row+1); err != nil {
		return err
	}
	return l.flush(t)
}

// encode compresses a page and keeps it.
func (t *thread) encode(l *leaf, p *page) error {
	if len(p.levels)+len(p.values) > math.MaxInt32 {
		return format.Error(format.ErrData, "column %q: a row of %s is more than a page of Parquet holds",
			l.name, mem.Format(int64(len(p.values))))
	}
	c := &l.chunk
	r := record{rows: p.rows, nulls: p.count - p.vals, stats: &t.stats}
	switch {
	case p.vals == 0:
		r.flags |= allNull
	default:
		if t.stats.known = false; l.order != noOrder {
			t.stats.measure(l.order, p.values, p.vals, l.width)
		}
		r.flags |= t.stats.flags()
		if c.unbounded = c.unbounded || !t.stats.known; t.stats.known {
			c.stats.join(l.order, &t.stats)
		}
	}
	body, encoding, ok := t.shorten(l, p)
	if ok {
		p.levels, p.values, p.body = nil, nil, body
	}
	c.encodings |= 1 << encoding
	c.values += int64(p.count)
	c.nulls += int64(r.nulls)
	c.count++
	return t.hold(l, r, p, func(h *thrift) {
		outer := h.begin(5)
		h.i32(1, int32(p.count))
		h.i32(2, int32(encoding))
		h.i32(3, int32(meta.RLE))
		h.i32(4, int32(meta.RLE))
		h.end(outer)
	})
}

func (s *stats) flags() (f byte) {
	if !s.known {
		return 0
	}
	f = hasStats
	if s.cutMin {
		f |= cutMin
	}
	if s.cutMax {
		f |= cutMax
	}
	return f
}

// hold compresses the page straight to where it is kept, or where the block
// has too little left, by way of the thread's own memory.
func (t *thread) hold(l *leaf, r record, p *page, describe func(*thrift)) error {
	a, b := p.levels, p.values
	if p.body != nil {
		a, b = nil, p.body
	}
	size := len(a) + len(b)
	head := r.extent()
	comp := t.compressor(&l.chunk)
	bound := comp.bound(size)
	direct := t.log.room() >= head+bound
	if !direct && pageHeader+bound > len(t.spill) {
		if err := t.log.grow(head + bound); err != nil {
			return err
		}
		direct = true
	}
	dst, at := t.spill, pageHeader
	if direct {
		dst, at = t.log.buf[t.log.pos:], head
	}
	n, err := comp.pack(dst[at:at+bound], a, b)
	if err == nil && l.chunk.vain(comp, size, n) {
		l.chunk.raw = true
		n, err = uncompressed.pack(dst[at:at+bound], a, b)
	}
	if err != nil {
		return fmt.Errorf("column %q: %w", l.name, err)
	}
	h := t.header(meta.DataPage, size, n, describe)
	from := at - len(h)
	copy(dst[from:], h)
	l.chunk.uncompressed += int64(len(h) + size)
	l.chunk.compressed += int64(len(h) + n)
	if !direct {
		return t.log.add(&l.chunk.pages, r, dst[from:at+n])
	}
	r.put(dst, from, len(h)+n)
	l.chunk.pages.link(t.log.held, t.log.here())
	t.log.pos += at + n
	return nil
}

// header is a page's header; it stays valid until the next one.
func (t *thread) header(kind meta.PageKind, size, compressed int, describe func(*thrift)) []byte {
	h := thrift{b: t.head[:0]}
	h.i32(1, int32(kind))
	h.i32(2, int32(size))
	h.i32(3, int32(compressed))
	describe(&h)
	return append(h.b, 0)
}
