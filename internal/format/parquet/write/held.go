package write

import (
	"encoding/binary"
	"sync"

	"github.com/weir-data/weir/internal/mem"
)

// held keeps the pages of the row group under construction until they can be
// written column by column. Pages lie in blocks in the order in which they
// were made; each is a record that points to the column's next.
type held struct {
	share *mem.Budget
	size  int // of a block, unless a page needs more

	mu     sync.Mutex
	blocks []*mem.Block
}

// ref is the place of a record: block and offset. Zero is none.
type ref uint64

// Layout of a record: a header of recordSize, the smallest and the largest
// value, some bytes unused, the data.
const (
	recordNext   = 0  // ref
	recordLen    = 8  // bytes of data
	recordRows   = 12 // of the page
	recordNulls  = 16 // of the page
	recordData   = 20 // where the data begins
	recordFlags  = 22
	recordMin    = 23 // length
	recordMax    = 24 // length
	recordSize   = 25
	pageHeader   = 48 // more than the longest header of a page
	leastSplit   = 256
	recordExtent = recordSize + 2*mostStat + pageHeader // the most beside compressed bytes
)

// Flags of a record.
const (
	goesOn   = 1 << iota // it has more bytes of the page before
	hasStats             // a smallest and a largest value
	allNull              // it has no values
	cutMin
	cutMax
)

// grow adds a block of at least n bytes. The plan has seen to it that there
// is room; if it was wrong, that is an error and nobody waits.
func (h *held) grow(n int) (index int, buf []byte, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	b, ok := h.share.TryMap(max(n, h.size))
	if !ok && n < h.size {
		b, ok = h.share.TryMap(n)
	}
	if !ok {
		return 0, nil, &mem.TooSmallError{Share: "a page", Need: int64(n), Limit: h.share.Free()}
	}
	h.blocks = append(h.blocks, b)
	return len(h.blocks), b.Bytes(), nil
}

// at is the memory from a record on.
func (h *held) at(r ref) []byte {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.blocks[r>>32-1].Bytes()[uint32(r):]
}

// free gives all memory back.
func (h *held) free() {
	for _, b := range h.blocks {
		b.Free()
	}
	h.blocks = h.blocks[:0]
}

// chain is a list of records.
type chain struct{ head, tail ref }

// link appends a record.
func (c *chain) link(h *held, r ref) {
	if c.head == 0 {
		c.head = r
	} else {
		binary.LittleEndian.PutUint64(h.at(c.tail)[recordNext:], uint64(r))
	}
	c.tail = r
}

// record is what a page's record says.
type record struct {
	rows, nulls int
	flags       byte
	stats       *stats
	data        []byte // in the record's memory
	next        ref
}

// read reads the record at r.
func (h *held) read(r ref) (out record, lo, hi []byte) {
	b := h.at(r)
	le := binary.LittleEndian
	out = record{rows: int(le.Uint32(b[recordRows:])), nulls: int(le.Uint32(b[recordNulls:])),
		flags: b[recordFlags], next: ref(le.Uint64(b[recordNext:]))}
	data := int(le.Uint16(b[recordData:]))
	out.data = b[data : data+int(le.Uint32(b[recordLen:]))]
	n, m := int(b[recordMin]), int(b[recordMax])
	return out, b[recordSize : recordSize+n], b[recordSize+n : recordSize+n+m]
}

// put writes the header of a record whose data, size bytes, begins at data.
func (r *record) put(b []byte, data, size int) {
	le := binary.LittleEndian
	le.PutUint64(b[recordNext:], 0)
	le.PutUint32(b[recordLen:], uint32(size))
	le.PutUint32(b[recordRows:], uint32(r.rows))
	le.PutUint32(b[recordNulls:], uint32(r.nulls))
	le.PutUint16(b[recordData:], uint16(data))
	b[recordFlags] = r.flags
	b[recordMin], b[recordMax] = 0, 0
	if r.flags&hasStats != 0 {
		b[recordMin], b[recordMax] = r.stats.minLen, r.stats.maxLen
		n := copy(b[recordSize:], r.stats.min())
		copy(b[recordSize+n:], r.stats.max())
	}
}

// extent is the bytes of the record before its data, which begins with a page
// header.
func (r *record) extent() int {
	n := recordSize + pageHeader
	if r.flags&hasStats != 0 {
		n += int(r.stats.minLen) + int(r.stats.maxLen)
	}
	return n
}

// log is where one thread puts its records.
type log struct {
	held  *held
	index int
	buf   []byte
	pos   int
}

// reset lets go of the block, which is freed with all others.
func (l *log) reset() { l.index, l.buf, l.pos = 0, nil, 0 }

// room is the bytes left in the block.
func (l *log) room() int { return len(l.buf) - l.pos }

// grow begins a block of at least n bytes.
func (l *log) grow(n int) (err error) {
	l.index, l.buf, err = l.held.grow(n)
	l.pos = 0
	return err
}

// here is the place of the next record.
func (l *log) here() ref { return ref(l.index)<<32 | ref(l.pos) }

// add copies a page that lies elsewhere, over as many blocks as it takes.
func (l *log) add(c *chain, r record, page []byte) error {
	for {
		head := r.extent() - pageHeader
		if l.room() < head+min(len(page), leastSplit) {
			if err := l.grow(head + min(len(page), leastSplit)); err != nil {
				return err
			}
		}
		n := min(len(page), l.room()-head)
		b := l.buf[l.pos:]
		r.put(b, head, n)
		copy(b[head:], page[:n])
		c.link(l.held, l.here())
		l.pos += head + n
		if page = page[n:]; len(page) == 0 {
			return nil
		}
		r = record{flags: goesOn}
	}
}
