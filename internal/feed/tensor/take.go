package tensor

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/mem"
)

// Take makes the batch that was measured in dst, which begins at a multiple of
// 64 and of which it writes all of the bytes that Measure said. Too few are
// mem.ErrTooSmall.
func (t *Taker) Take(dst []byte) (Taken, error) {
	if need := t.size(); len(dst) < need {
		return Taken{}, &mem.TooSmallError{Share: "tensor: batch", Need: int64(need), Limit: int64(len(dst))}
	}
	for i := range t.st {
		t.st[i].n, t.st[i].at = 0, 0
	}
	t.place(dst)
	out := Taken{Rows: t.rows, Tensors: t.tensors}
	if t.body > 0 {
		t.message(dst[:t.body])
		out.Message = t.bodyEnd
	}
	for i := range t.f.columns {
		c := &t.f.columns[i]
		switch {
		case c.form == asRagged || c.form == asPadded:
			t.addLists(c)
		case c.root.kind == fixed && t.st[c.root.id].plain && t.gather(c.root):
		default:
			for _, r := range t.runs {
				t.add(c.root, r.src, int(r.row), int(r.n))
			}
		}
	}
	return out, nil
}

// gather copies values that have no nulls; false: they are of no usual width, or
// are bits.
func (t *Taker) gather(nd *node) bool {
	st := &t.st[nd.id]
	if len(t.runs) < t.rows {
		return false // longer runs are copied as they are
	}
	switch nd.width {
	case 8:
		pick(arrow.GetData[uint64](st.values), nd.id, t.runs)
	case 4:
		pick(arrow.GetData[uint32](st.values), nd.id, t.runs)
	case 2:
		pick(arrow.GetData[uint16](st.values), nd.id, t.runs)
	default:
		return false
	}
	return true
}

// pick copies the first value of every run.
func pick[T uint16 | uint32 | uint64](dst []T, id int, runs []run) {
	dst = dst[:len(runs)]
	for i, r := range runs {
		p := &r.src.parts[id]
		dst[i] = arrow.GetData[T](p.values)[p.off+int(r.row)]
	}
}

// add copies n rows of a node from i on.
func (t *Taker) add(nd *node, s *source, i, n int) {
	if n == 0 {
		return
	}
	st, p := &t.st[nd.id], &s.parts[nd.id]
	if nd.dense && nd.kind == vector && p.valid != nil {
		t.addVectors(nd, s, i, n)
		return
	}
	if p.dict != nil {
		st.addEntries(nd, p, i, n)
		return
	}
	st.addValid(p, i, n)
	switch nd.kind {
	case bits:
		bitutil.CopyBitmap(p.values, p.off+i, n, st.values, st.n)
	case fixed:
		st.addFixed(nd, p, i, n)
	case text:
		st.addText(nd, p, i, n)
	case list:
		from, to := p.bounds(i, n)
		st.addEnds(nd.width, p, i, n, from)
		t.add(nd.kids[0], s, from, to-from)
	case vector:
		t.add(nd.kids[0], s, (p.off+i)*nd.width, n*nd.width)
	case record:
		for _, k := range nd.kids {
			t.add(k, s, p.off+i, n)
		}
	}
	st.n += n
}

// addValid copies which of n rows are null.
func (st *state) addValid(p *part, i, n int) {
	switch {
	case len(st.valid) == 0:
	case p.valid == nil:
		bitutil.SetBitsTo(st.valid, int64(st.n), int64(n), true)
	case n == 1:
		if !p.null(i) {
			bitutil.SetBit(st.valid, st.n)
		}
	default:
		bitutil.CopyBitmap(p.valid, p.off+i, n, st.valid, st.n)
	}
}

// addFixed copies values; in a tensor nulls are NaN, and bits are bytes.
func (st *state) addFixed(nd *node, p *part, i, n int) {
	w := nd.width
	out := st.values[st.n*w : (st.n+n)*w]
	if nd.bool {
		unpack(out, p.values, p.off+i)
		return
	}
	copy(out, p.values[(p.off+i)*w:])
	if nd.nan == nil || p.valid == nil {
		return
	}
	for k := range n {
		if p.null(i + k) {
			copy(out[k*w:], nd.nan)
		}
	}
}

// addText copies texts and where they end.
func (st *state) addText(nd *node, p *part, i, n int) {
	if p.views == nil {
		from, to := p.bounds(i, n)
		copy(st.values[st.at:], p.data[0][from:to])
		st.addEnds(nd.width, p, i, n, from)
		return
	}
	for k := range n {
		st.at += copy(st.values[st.at:], p.text(i+k))
		st.putEnd(nd.width, st.n+k+1)
	}
}

// putEnd says that row k-1 ends where the data ends.
func (st *state) putEnd(width, k int) {
	if width == 4 {
		binary.LittleEndian.PutUint32(st.ends[4*k:], uint32(st.at))
	} else {
		binary.LittleEndian.PutUint64(st.ends[8*k:], uint64(st.at))
	}
}

// addEnds copies where rows end, moved to where they lie in the batch.
func (st *state) addEnds(width int, p *part, i, n, from int) {
	if width == 4 {
		shift(arrow.GetData[int32](st.ends)[st.n+1:], p.short[i+1:i+n+1], int32(st.at-from))
	} else {
		shift(arrow.GetData[int64](st.ends)[st.n+1:], p.long[i+1:i+n+1], int64(st.at-from))
	}
	_, to := p.bounds(i, n)
	st.at += to - from
}

func shift[T int32 | int64](dst, src []T, by T) {
	dst = dst[:len(src)]
	for i, x := range src {
		dst[i] = x + by
	}
}

// addEntries copies rows of a dictionary, one after the other.
func (st *state) addEntries(nd *node, p *part, i, n int) {
	for k := range n {
		e := p.entry(i + k)
		if e >= 0 && len(st.valid) > 0 {
			bitutil.SetBit(st.valid, st.n)
		}
		switch {
		case nd.kind == text:
			st.at += copy(st.values[st.at:], p.text(i+k))
			st.putEnd(nd.width, st.n+1)
		case nd.kind == bits && e >= 0:
			bitutil.SetBitTo(st.values, st.n, bitutil.BitIsSet(p.dict.values, p.dict.off+e))
		case nd.kind == fixed && e >= 0:
			st.addFixed(nd, p.dict, e, 1)
		case nd.kind == fixed:
			out := st.values[st.n*nd.width:][:nd.width]
			clear(out)
			copy(out, nd.nan)
		}
		st.n++
	}
}

// addVectors copies rows of a tensor, NaN for those that are null.
func (t *Taker) addVectors(nd *node, s *source, i, n int) {
	p, kid := &s.parts[nd.id], nd.kids[0]
	for k := range n {
		if !p.null(i + k) {
			t.add(kid, s, (p.off+i+k)*nd.width, nd.width)
			continue
		}
		leaf, count := kid, nd.width
		for leaf.kind == vector {
			leaf, count = leaf.kids[0], count*leaf.width
		}
		t.st[leaf.id].repeat(leaf.nan, count)
	}
}

// repeat adds a value n times.
func (st *state) repeat(value []byte, n int) {
	w := len(value)
	out := st.values[st.n*w : (st.n+n)*w]
	done := copy(out, value)
	for done < len(out) {
		done += copy(out[done:], out[:done])
	}
	st.n += n
}

// addLists copies lists as the tensors of a column.
func (t *Taker) addLists(c *column) {
	nd, kid := c.root, c.root.kids[0]
	st := &t.st[nd.id]
	for _, r := range t.runs {
		p := &r.src.parts[nd.id]
		for k := range int(r.n) {
			from, n := p.list(int(r.row) + k)
			if c.form == asRagged {
				t.add(kid, r.src, from, n)
				st.at += n
				st.n++
				st.putEnd(nd.width, st.n)
				continue
			}
			n = min(n, st.length)
			t.add(kid, r.src, from, n)
			t.st[kid.id].repeat(c.fill, st.length-n)
			binary.LittleEndian.PutUint64(st.lengths[8*st.n:], uint64(n))
			st.n++
		}
	}
}
