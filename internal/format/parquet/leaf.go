package parquet

import (
	"context"
	"fmt"

	"github.com/weir-data/weir/internal/format/parquet/meta"
	"github.com/weir-data/weir/internal/mem"
)

// pendSize is how many levels are decoded at a time.
const pendSize = 1024

// leaf reads one column chunk from front to back.
type leaf struct {
	*leafPlan
	chunk    meta.Chunk
	src      source
	off      int64 // of the next page header
	walked   int64 // entries of the pages whose headers were read
	pages    int   // data pages seen
	dict     *dictionary
	dictRef  pageRef // where the dictionary page lies; body 0: none seen
	page     *page
	ahead    pageQueue
	siblings int64       // leaves of the row group
	extra    *mem.Budget // shared by all leaves
	reserve  *mem.Budget // this leaf's own
	share    int64       // what the whole scan was given

	// Levels that were decoded but not used: rep[at:n], def[at:n].
	rep, def []byte
	at, n    int
	step     int // with every: how many are decoded next

	first int64 // row of the row group that a region begins with
}

// close gives all memory back.
func (l *leaf) close() {
	l.ahead.close()
	l.page.free()
	l.page = nil
	l.dict.free()
	l.dict = nil
	l.reserve.Close()
}

// tooSmall is the error for n bytes that neither the leaf's own memory nor
// what is shared can give.
func (l *leaf) tooSmall(what string, n int64) error {
	return tooSmall(fmt.Sprintf("%s of column %q", what, l.Path), l.share, n)
}

// tooSmall says which share would have had n bytes more for reading: of what a
// share is larger, batches take up to a half.
func tooSmall(what string, share, n int64) error {
	return &mem.TooSmallError{Share: what, Need: share + 2*n, Limit: share}
}

// ready makes sure that the current page has entries left; false at the end
// of the chunk.
func (l *leaf) ready(ctx context.Context, w *worker) (bool, error) {
	for l.page == nil || l.page.left == 0 {
		l.page.free()
		l.page = nil
		p, err := l.ahead.next(ctx, l, w)
		if p == nil || err != nil {
			return false, err
		}
		l.page = p
		l.move(p)
		if !p.usesDict && !l.ahead.usesDict() {
			// Writers that gave a dictionary up do not come back to it.
			l.dict.free()
			l.dict = nil
		}
	}
	return true, nil
}

// move tells the source that pages before p are done with, and which bytes
// are next where unused memory can hold them for all columns.
func (l *leaf) move(p *page) {
	l.src.trim(p.body)
	if n := int64(p.stored); l.extra.Free() > n*l.siblings {
		l.src.want(l.off, n)
	}
}

// decode fills r until it has n whole rows or is full.
func (l *leaf) decode(ctx context.Context, w *worker, r *region, n int) error {
	if l.every > 0 {
		return l.decodeRows(ctx, w, r, n)
	}
	if l.MaxRep == 0 && l.shape != byteShape {
		return l.decodeFlat(ctx, w, r, n)
	}
	return l.decodeChunks(ctx, w, r, n)
}

// decodeFlat is decode for fixed-size values that are not repeated: every row
// is an entry and a slot, and r has room for n.
func (l *leaf) decodeFlat(ctx context.Context, w *worker, r *region, n int) error {
	for r.rows < n {
		ok, err := l.ready(ctx, w)
		if err != nil {
			return err
		}
		if !ok {
			return l.missing(n - r.rows)
		}
		p := l.page
		m := min(n-r.rows, p.left)
		valid := m
		switch {
		case l.keepDef:
			d := r.def[r.rows : r.rows+m]
			if err := fillHybrid(&p.def, d); err != nil {
				return bad("definition levels", err)
			}
			valid = markValid(r.valid, r.slots, d, 0, uint8(l.MaxDef))
		case l.MaxDef > 0:
			if valid, err = p.def.bitmap(r.valid, r.slots, m); err != nil {
				return bad("definition levels", err)
			}
		}
		if err := l.put(w, r, m, valid); err != nil {
			return err
		}
		p.left -= m
		r.entries, r.rows, r.starts = r.entries+m, r.rows+m, r.starts+m
	}
	return nil
}

// missing says that the chunk ended too early.
func (l *leaf) missing(n int) error {
	return damaged("the column has %d rows less than its row group", n)
}

// put decodes valid fixed-size values into the next m slots of r, whose
// validity is known, and moves them to where they belong.
func (l *leaf) put(w *worker, r *region, m, valid int) error {
	v := l.page.vals
	if l.shape == bitShape {
		return l.putBits(w, r, m)
	}
	dst := r.fixed[r.slots*l.width : (r.slots+m)*l.width]
	var err error
	switch {
	case valid == m:
		err = v.fixed(dst, valid)
	case l.width == 8:
		err = putSparse(view[uint64](dst), w.words[:], v, r.valid, r.slots)
	case l.width == 4:
		err = putSparse(view[uint32](dst), view[uint32](bytesOf(w.words[:])), v, r.valid, r.slots)
	default:
		if err = v.fixed(dst, valid); err == nil {
			spreadFixed(dst, l.width, r.valid, r.slots, m, valid)
		}
	}
	if err != nil {
		return bad("values", err)
	}
	r.nulls += m - valid
	r.slots += m
	return nil
}

// putSparse decodes values into the slots of dst whose bits, from bit at on,
// are set, some at a time by way of tmp.
func putSparse[T uint32 | uint64](dst, tmp []T, v values, valid []byte, at int) error {
	for len(dst) > 0 {
		k := min(len(dst), len(tmp)-1)
		n := countBits(valid, at, k)
		part := tmp
		if n == k {
			part = dst
		}
		if err := v.fixed(bytesOf(part), n); err != nil {
			return err
		}
		if n < k {
			expand(dst[:k], tmp, valid, at)
		}
		dst, at = dst[k:], at+k
	}
	return nil
}

// putBits is put for booleans.
func (l *leaf) putBits(w *worker, r *region, m int) error {
	for m > 0 {
		k := min(m, len(w.tmp))
		valid := k
		if r.valid != nil {
			valid = countBits(r.valid, r.slots, k)
		}
		if err := l.page.vals.fixed(w.tmp[:], valid); err != nil {
			return bad("values", err)
		}
		if valid < k {
			spread(w.tmp[:], r.valid, r.slots, k, valid)
			r.nulls += k - valid
		}
		for i, b := range w.tmp[:k] {
			at := r.slots + i
			r.bits[at>>3] |= (b & 1) << (at & 7)
		}
		r.slots += k
		m -= k
	}
	return nil
}

// spreadFixed is spread for any width.
func spreadFixed(dst []byte, width int, valid []byte, at, n, k int) {
	switch width {
	case 1:
		spread(dst, valid, at, n, k)
	case 2:
		spread(view[uint16](dst), valid, at, n, k)
	case 4:
		spread(view[uint32](dst), valid, at, n, k)
	case 8:
		spread(view[uint64](dst), valid, at, n, k)
	default:
		for i, j := n, k; j < i && j > 0; {
			one, run := runBack(valid, at+i, i)
			if one {
				copy(dst[(i-run)*width:i*width], dst[(j-run)*width:j*width])
				j -= run
			}
			i -= run
		}
	}
}

// markValid sets a bit for every level that is full, from bit at on; levels
// below low have no slot and no bit. It returns how many are full.
func markValid(m []byte, at int, levels []byte, low, full uint8) int {
	n := 0
	for _, d := range levels {
		if d < low {
			continue
		}
		if d == full {
			m[at>>3] |= 1 << (at & 7)
			n++
		}
		at++
	}
	return n
}
