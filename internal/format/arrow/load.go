package arrow

import (
	"context"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
)

// align is what buffers begin at in memory, as the format recommends.
const align = 64

var (
	// errRoom says that rows do not fit the memory; fewer may.
	errRoom  = errors.New("no room")
	errShort = errors.New("a buffer is shorter than its rows need")
)

// noOffset is the one offset of no rows.
var noOffset [8]byte

// loader brings rows of a batch into memory and holds that they are what
// they say, so that nobody behind it needs to.
type loader struct {
	ctx context.Context
	r   direct
	// whole says that all parts were read to where they stay; else rows are
	// copied to room.
	whole bool
	room  []byte
	used  int
	dicts map[int64]*dictionary
}

// take gives n bytes of a part from off on, aligned to align and the caller's
// to change unless l is whole.
func (l *loader) take(p *part, off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || n > p.size || off > p.size-n {
		return nil, errShort
	}
	if l.whole {
		return p.mem[off : off+n : off+n], nil
	}
	if n == 0 {
		return []byte{}, nil
	}
	if n > int64(len(l.room)-l.used) {
		return nil, errRoom
	}
	dst := l.room[l.used:][:n:n]
	l.used = min(len(l.room), (l.used+int(n)+align-1)&^(align-1))
	if p.mem != nil {
		copy(dst, p.mem[off:])
		return dst, nil
	}
	err := l.r.ReadAt(l.ctx, dst, p.off+off)
	l.r.Drop(p.off+off, n)
	// The rows that come next are most likely as many.
	if next := min(n, p.size-off-n); next > 0 {
		l.r.Want(p.off+off+n, next)
	}
	return dst, err
}

// values takes n values of width bytes from the start-th on.
func (l *loader) values(p *part, start, n int64, width int) ([]byte, error) {
	if width > 0 && start+n > p.size/int64(width) {
		return nil, errShort
	}
	return l.take(p, start*int64(width), n*int64(width))
}

// bits takes n bits from the start-th on.
func (l *loader) bits(p *part, start, n int64) ([]byte, error) {
	b, err := l.take(p, start/8, (start+n+7)/8-start/8)
	if by := start % 8; err == nil && by > 0 {
		shiftBits(b, uint(by))
	}
	return b, err
}

// load loads the rows from start on.
func (l *loader) load(n *node, start, rows int64) error {
	if start > n.rows || rows > n.rows-start {
		return damaged("%q has %d rows where %d are needed", n.Name, n.rows, start+rows)
	}
	n.have, n.empty, n.data = rows, 0, n.data[:0]
	if n.shape == nullShape {
		n.empty = int(rows)
		n.data = append(n.data, nil)
		return nil
	}
	if err := l.validity(n, start, rows); err != nil {
		return err
	}
	switch n.shape {
	case bitShape:
		b, err := l.bits(&n.parts[1], start, rows)
		n.data = append(n.data, b)
		return err
	case fixedShape, indexShape:
		return l.fixed(n, start, rows)
	case textShape, listShape:
		return l.pointed(n, start, rows)
	case viewShape:
		return l.views(n, start, rows)
	case listViewShape:
		return l.listViews(n, start, rows)
	case fixedListShape:
		if rows > 0 && start+rows > n.kids[0].rows/int64(n.width) {
			return errShort
		}
		return l.load(&n.kids[0], start*int64(n.width), rows*int64(n.width))
	case structShape:
		return l.children(n, start, rows)
	case sparseShape, denseShape:
		return l.union(n, start, rows)
	default:
		return l.runs(n, start, rows)
	}
}

func (l *loader) children(n *node, start, rows int64) error {
	for i := range n.kids {
		if err := l.load(&n.kids[i], start, rows); err != nil {
			return err
		}
	}
	return nil
}

// validity takes the bitmap, if there are nulls, and counts them.
func (l *loader) validity(n *node, start, rows int64) error {
	n.data = append(n.data, nil)
	switch {
	case n.shape == sparseShape || n.shape == denseShape || n.shape == runShape:
		return nil
	case n.nulls == 0 || rows == 0 || (n.nulls < 0 && n.parts[0].size == 0):
		return nil
	}
	b, err := l.bits(&n.parts[0], start, rows)
	if err != nil {
		return err
	}
	if n.empty = int(rows) - bitutil.CountSetBits(b, 0, int(rows)); n.empty > 0 {
		n.data[0] = b
	}
	return nil
}

func (l *loader) fixed(n *node, start, rows int64) error {
	b, err := l.values(&n.parts[1], start, rows, n.width)
	if err != nil {
		return err
	}
	n.data = append(n.data, b)
	if n.shape != indexShape {
		return nil
	}
	d := l.dicts[n.dict]
	switch {
	case d == nil:
		return damaged("dictionary %d has not come before its use", n.dict)
	case !arrow.TypeEqual(d.data.DataType(), n.values.Type):
		return damaged("dictionary %d is not of %s", n.dict, n.values.Type)
	case !inside(b, n.width, n.data[0], min(d.data.Len(), n.indexMost())):
		return damaged("an index is outside of dictionary %d, which has %d values", n.dict, d.data.Len())
	}
	return nil
}

// indexMost is how many values the indices of a dictionary can tell apart.
func (f *field) indexMost() int {
	bits := 8 * f.width
	if typ := f.Type.(*arrow.DictionaryType).IndexType; arrow.IsSignedInteger(typ.ID()) {
		bits--
	}
	return int(uint64(1) << min(bits, 62))
}

// pointed loads texts or lists.
func (l *loader) pointed(n *node, start, rows int64) error {
	if rows == 0 {
		n.data = append(n.data, noOffset[:n.width])
		return l.pointedAt(n, 0, 0)
	}
	b, err := l.values(&n.parts[1], start, rows+1, n.width)
	if err != nil {
		return err
	}
	n.data = append(n.data, b)
	var lo, hi int64
	ok := false
	if n.width == 4 {
		lo, hi, ok = l.bounds32(b)
	} else {
		lo, hi, ok = l.bounds64(b)
	}
	if !ok {
		return damaged("%q: its offsets go back", n.Name)
	}
	return l.pointedAt(n, lo, hi)
}

func (l *loader) bounds32(b []byte) (lo, hi int64, ok bool) {
	return bounds(arrow.Int32Traits.CastFromBytes(b), l.whole)
}

func (l *loader) bounds64(b []byte) (lo, hi int64, ok bool) {
	return bounds(arrow.Int64Traits.CastFromBytes(b), l.whole)
}

// pointedAt loads what the offsets of texts or lists point to.
func (l *loader) pointedAt(n *node, lo, hi int64) error {
	if n.shape == textShape {
		b, err := l.take(&n.parts[2], lo, hi-lo)
		n.data = append(n.data, b)
		return err
	}
	kid := &n.kids[0]
	if err := l.load(kid, lo, hi-lo); err != nil {
		return err
	}
	if n.Type.ID() == arrow.MAP && (kid.empty > 0 || kid.kids[0].empty > 0) {
		return damaged("%q: a map has a key that is null", n.Name)
	}
	return nil
}
