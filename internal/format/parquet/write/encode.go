package write

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

// thread is what one encoding thread has for itself.
type thread struct {
	*layout
	comp    *compressor
	log     log
	blocks  []*mem.Block
	spill   []byte
	codes   []byte
	indices []uint32
	stats   stats
	head    [2 * pageHeader]byte
}

// newThread leases its memory from share.
func newThread(y *layout, comp compression, h *held) (*thread, error) {
	t := &thread{layout: y, log: log{held: h}}
	var err error
	if t.comp, err = newCompressor(comp, y.values); err != nil {
		return nil, err
	}
	memory := func(n int) []byte {
		b, ok := h.share.TryMap(n)
		if !ok {
			err = &mem.TooSmallError{Share: "writing Parquet", Need: int64(n), Limit: h.share.Free()}
			return nil
		}
		t.blocks = append(t.blocks, b)
		return b.Bytes()
	}
	t.spill, t.codes = memory(y.spill), memory(y.codes)
	t.indices = arrow.Uint32Traits.CastFromBytes(memory(4 * y.most))
	if err != nil {
		t.free()
	}
	return t, err
}

func (t *thread) free() {
	for _, b := range t.blocks {
		b.Free()
	}
	t.blocks = nil
}

// add encodes rows of the batch at hand.
func (l *leaf) add(t *thread, from, to int) error {
	if done, err := l.straight(t, from, to); done || err != nil {
		return err
	}
	for from < to {
		end := l.fit(from, to, t.most)
		if end > from {
			if err := l.shred(from, end); err != nil {
				return err
			}
			from = end
			continue
		}
		if l.count > 0 {
			if err := l.flush(t); err != nil {
				return err
			}
			continue
		}
		n, bytes := l.need(from, from+1)
		if err := l.single(t, from, n, bytes); err != nil {
			return err
		}
		from++
	}
	return nil
}

// fit is the row up to which rows fit in the page that is being filled.
func (l *leaf) fit(from, to, most int) int {
	if l.maxRep == 0 {
		to = min(to, from+max(1, most-l.count))
	}
	ok := func(end int) bool {
		n, bytes := l.need(from, end)
		return l.fits(n, bytes, most)
	}
	if ok(to) {
		return to
	}
	lo, hi := from, to // lo fits, hi does not
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; ok(mid) {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// leastStraight is from how many bytes on a page is made of Arrow's own buffer.
const leastStraight = 32 << 10

// straight makes pages of Arrow's own buffer, without a copy, where it holds
// what a page would. False: it does not.
func (l *leaf) straight(t *thread, from, to int) (bool, error) {
	bytes := (to - from) * l.width
	page := t.pageOf(l)
	if l.form != asIs || l.width == 0 || l.index != arrow.NULL || len(l.steps) > 1 || l.steps[0].valid != nil ||
		l.maxDef > 0 && t.comp.whole() || bytes < min(leastStraight, page) {
		return false, nil
	}
	if err := l.flush(t); err != nil {
		return true, err
	}
	pages := max((bytes+page-1)/page, (to-from+t.most-1)/t.most)
	rows := (to - from + pages - 1) / pages
	for ; from < to; from += rows {
		n := min(rows, to-from)
		at := (l.first + from) * l.width
		p := fullPage(l, n)
		p.values = l.src.data[at : at+n*l.width]
		if err := t.encode(l, &p); err != nil {
			return true, err
		}
	}
	return true, nil
}

// fullPage is a page of n values without nulls, whose levels are one run.
func fullPage(l *leaf, n int) page {
	p := page{count: n, vals: n, rows: n}
	if l.maxDef > 0 {
		var run [4 + binary.MaxVarintLen64 + 1]byte
		k := 4 + binary.PutUvarint(run[4:], uint64(n)<<1)
		run[k] = l.maxDef
		binary.LittleEndian.PutUint32(run[:], uint32(k-3))
		p.levels = run[:k+1]
	}
	return p
}
