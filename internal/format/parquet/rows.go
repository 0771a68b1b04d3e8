package parquet

import (
	"bytes"
	"context"
)

// Lists that all have one size lie in a region like values that are not
// repeated: row i has slots [i*every, (i+1)*every), also if it is null. Their
// levels are only looked at to see that this is so, and mostly they are a long
// run for every row.

const (
	// fewLevels is how many levels are looked at before a run is hoped for:
	// writers pack the beginning of a row in a group of eight.
	fewLevels = 16
	// leastRun is a run that is worth the way around the levels.
	leastRun = 48
)

// checkCount says no to a chunk whose entries cannot be rows of lists of one
// size: a list has its elements, a null is one entry.
func (l *leafPlan) checkCount(entries, rows int64) error {
	n := int64(l.every)
	if n == 0 || entries == rows*n {
		return nil
	}
	if lacks := rows*n - entries; lacks < 0 || n == 1 || lacks%(n-1) != 0 || lacks/(n-1) > rows || !l.rowNull {
		return damaged("%d values in %d rows, which are lists of %d by the file's Arrow schema", entries, rows, n)
	}
	return nil
}

// decodeRows is decode for lists of one size. Every row that is begun is whole
// at the end.
func (l *leaf) decodeRows(ctx context.Context, w *worker, r *region, n int) error {
	left := 0 // values that the row lacks which was begun
	for left > 0 || (r.rows < n && r.cap-r.entries >= l.every) {
		if l.at == l.n {
			ok, err := l.ready(ctx, w)
			if err != nil {
				return err
			}
			if !ok && left > 0 {
				return l.uneven(r.rows, l.every-left)
			}
			if !ok {
				return l.missing(n - r.rows)
			}
			k, err := l.longRun(w, r, left)
			if err != nil {
				return err
			}
			if k > 0 {
				left = l.grown(r, left-k)
				continue
			}
			if err := l.refill(max(l.step, fewLevels)); err != nil {
				return err
			}
			l.step = min(2*l.n, pendSize)
		}
		var err error
		if left, err = l.takeRows(w, r, n, left); err != nil {
			return err
		}
	}
	return nil
}

// grown counts a row as soon as it lacks nothing.
func (l *leaf) grown(r *region, left int) int {
	if left == 0 {
		r.rows++
		r.starts++
	}
	return left
}

// uneven is the error of a row that has another number of values.
func (l *leaf) uneven(row, has int) error {
	return damaged("row %d: a list of %d values, by the file's Arrow schema it has %d", l.first+int64(row), has, l.every)
}

// longRun decodes values up to left where levels say for a while that there is
// nothing but values; 0: they do not.
func (l *leaf) longRun(w *worker, r *region, left int) (int, error) {
	p := l.page
	k := min(left, p.left)
	if k < leastRun {
		return 0, nil
	}
	c, err := p.rep.constant(1)
	if err != nil {
		return 0, bad("repetition levels", err)
	}
	if k = min(k, c); k < leastRun {
		return 0, nil
	}
	if c, err = p.def.constant(uint32(l.MaxDef)); err != nil {
		return 0, bad("definition levels", err)
	}
	if k = min(k, c); k < leastRun {
		return 0, nil
	}
	p.rep.left -= k
	p.def.left -= k
	p.left -= k
	if r.valid != nil {
		setBits(r.valid, r.slots, k)
	}
	r.entries += k
	l.step = fewLevels
	return k, l.put(w, r, k, k)
}

// takeRows decodes the values of pending entries, up to the end of row n or of
// the room in r, and returns how many the last row still lacks.
func (l *leaf) takeRows(w *worker, r *region, n, left int) (int, error) {
	rep, def := l.rep[l.at:l.n], l.def[l.at:l.n]
	i, from := 0, 0 // values of entries [from, i) are to be decoded
	for i < len(rep) {
		if left > 0 {
			k := min(left, len(rep)-i)
			if j := bytes.IndexByte(rep[i:i+k], 0); j >= 0 {
				return 0, l.uneven(r.rows, l.every-left+j)
			}
			i += k
			left = l.grown(r, left-k)
			continue
		}
		if r.rows == n || r.cap-r.entries-(i-from) < l.every {
			break
		}
		switch {
		case rep[i] != 0 && r.rows == 0 && l.first == 0:
			return 0, damaged("repetition levels: the column begins inside a row")
		case rep[i] != 0:
			return 0, l.uneven(r.rows-1, l.every+1)
		case def[i] >= l.slotDef:
			if r.there != nil {
				setBits(r.there, r.rows, 1)
			}
			i++
			left = l.grown(r, l.every-1)
			continue
		case !l.rowNull || def[i] > 0:
			return 0, l.uneven(r.rows, 0)
		}
		if err := l.putRows(w, r, def[from:i]); err != nil {
			return 0, err
		}
		l.putNull(r)
		i++
		from = i
	}
	l.at += i
	return left, l.putRows(w, r, def[from:i])
}

// putRows decodes the values of entries that all have one.
func (l *leaf) putRows(w *worker, r *region, def []byte) error {
	n := len(def)
	valid := bytes.Count(def, []byte{uint8(l.MaxDef)})
	if valid < n && countLevels(def, l.slotDef) < n {
		return damaged("definition levels: a list goes on without an element")
	}
	switch {
	case r.valid == nil:
	case valid == n:
		setBits(r.valid, r.slots, n)
	default:
		markValid(r.valid, r.slots, def, l.slotDef, uint8(l.MaxDef))
	}
	r.entries += n
	return l.put(w, r, n, valid)
}

// putNull adds a row that is null: its values are, and zero.
func (l *leaf) putNull(r *region) {
	if l.shape == fixedShape {
		clear(r.fixed[r.slots*l.width : (r.slots+l.every)*l.width])
	}
	if r.valid != nil {
		r.nulls += l.every
	}
	r.slots += l.every
	r.entries += l.every
	r.absent++
	r.rows++
	r.starts++
}
