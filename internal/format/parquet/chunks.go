package parquet

import (
	"bytes"
	"context"
	"errors"
)

// decodeChunks is decode for repeated columns and for values of varying
// length: levels are decoded some at a time, and those that do not fit r are
// kept for the next batch.
func (l *leaf) decodeChunks(ctx context.Context, w *worker, r *region, n int) error {
	for {
		if l.MaxRep == 0 && r.rows >= n {
			return nil
		}
		if l.at == l.n {
			ok, err := l.ready(ctx, w)
			if err != nil {
				return err
			}
			if !ok {
				return l.ended(r, n)
			}
			full, done, err := l.constantRun(r, n)
			if err != nil || full {
				return err
			}
			if done {
				continue
			}
			if err := l.refill(pendSize); err != nil {
				return err
			}
		}
		k := l.take(r, n)
		if k == 0 {
			// The next entry begins row n+1, or r has no room for it.
			if l.MaxRep > 0 && l.rep[l.at] == 0 {
				r.rows = r.starts
			}
			return nil
		}
		full, err := l.append(w, r, k)
		if err != nil || full {
			return err
		}
	}
}

// ended closes the last row at the end of the chunk.
func (l *leaf) ended(r *region, n int) error {
	r.rows = r.starts
	if r.rows < n {
		return l.missing(n - r.rows)
	}
	return nil
}

// constantRun decodes values of a column that is not repeated where no null
// comes for a while, without looking at levels one by one. done says that it
// found some, full that r has no room for more.
func (l *leaf) constantRun(r *region, n int) (full, done bool, err error) {
	if l.MaxRep > 0 {
		return false, false, nil
	}
	p := l.page
	run := p.left
	if l.MaxDef > 0 {
		c, err := p.def.constant(uint32(l.MaxDef))
		if err != nil {
			return false, false, bad("definition levels", err)
		}
		run = min(run, c)
	}
	if run == 0 {
		return false, false, nil
	}
	want := min(run, n-r.rows)
	got, err := p.vals.bytes(&r.col, want)
	if err != nil {
		return false, false, bad("values", err)
	}
	p.left -= got
	if l.MaxDef > 0 {
		p.def.left -= got
		setBits(r.valid, r.slots, got)
	}
	if l.keepDef {
		d := r.def[r.entries : r.entries+got]
		for i := range d {
			d[i] = uint8(l.MaxDef)
		}
	}
	r.entries += got
	r.slots += got
	r.starts += got
	r.rows += got
	return got < want, true, nil
}

// refill decodes the next levels of the page, at most n or pendSize.
func (l *leaf) refill(n int) error {
	if l.def == nil {
		ram := make([]byte, 2*pendSize)
		l.rep, l.def = ram[:pendSize], ram[pendSize:]
	}
	p := l.page
	l.at, l.n = 0, min(n, pendSize, p.left)
	if l.MaxRep > 0 {
		if err := fillHybrid(&p.rep, l.rep[:l.n]); err != nil {
			l.n = 0
			return bad("repetition levels", err)
		}
	}
	if l.MaxDef > 0 {
		if err := fillHybrid(&p.def, l.def[:l.n]); err != nil {
			l.n = 0
			return bad("definition levels", err)
		}
	}
	p.left -= l.n
	return nil
}

// take says how many of the pending entries belong to the first n rows of r
// and have room for their levels.
func (l *leaf) take(r *region, n int) int {
	k := min(l.n-l.at, r.cap-r.entries)
	if l.MaxRep == 0 {
		return min(k, n-r.rows)
	}
	starts := r.starts
	rep := l.rep[l.at : l.at+k]
	for i := 0; ; {
		j := bytes.IndexByte(rep[i:], 0)
		if j < 0 {
			return k
		}
		if starts >= n {
			return i + j
		}
		starts++
		i += j + 1
	}
}

// append decodes the values of the next k pending entries into r. full says
// that r had no room for all of them.
func (l *leaf) append(w *worker, r *region, k int) (full bool, err error) {
	def := l.def[l.at : l.at+k]
	slots, valid := countBoth(def, l.slotDef, uint8(l.MaxDef))
	if l.shape == byteShape {
		if k, err = l.appendBytes(r, k, slots, valid); err != nil {
			return false, err
		}
		full = k < len(def)
		def = def[:k]
	} else {
		if r.valid != nil {
			markValid(r.valid, r.slots, def, l.slotDef, uint8(l.MaxDef))
		}
		if err := l.put(w, r, slots, valid); err != nil {
			return false, err
		}
	}
	if l.keepDef {
		copy(r.def[r.entries:], def)
	}
	if l.keepRep {
		rep := l.rep[l.at : l.at+k]
		if r.entries == 0 && k > 0 && rep[0] != 0 {
			return false, bad("repetition levels", errors.New("the column begins inside a row"))
		}
		copy(r.rep[r.entries:], rep)
		r.starts += bytes.Count(rep, []byte{0})
		// The last row begun may go on.
		r.rows = max(0, r.starts-1)
	} else {
		r.starts += k
		r.rows = r.starts
	}
	r.entries += k
	l.at += k
	return full, nil
}

// appendBytes decodes values of varying length and returns the entries there
// was room for.
func (l *leaf) appendBytes(r *region, k, slots, valid int) (int, error) {
	first := r.col.n
	got, err := l.page.vals.bytes(&r.col, valid)
	if err != nil {
		return 0, bad("values", err)
	}
	def := l.def[l.at : l.at+k]
	if got < valid {
		// Up to, not including, the first value that found no room.
		seen := 0
		for i, d := range def {
			if d == uint8(l.MaxDef) {
				if seen == got {
					k = i
					break
				}
				seen++
			}
		}
		def = def[:k]
		slots, valid = countBoth(def, l.slotDef, uint8(l.MaxDef))
	}
	if r.valid != nil {
		markValid(r.valid, r.slots, def, l.slotDef, uint8(l.MaxDef))
	}
	if valid < slots {
		spreadEnds(r.col.offsets[first:first+slots+1], r.valid, r.slots, slots, valid)
		r.nulls += slots - valid
	}
	r.col.n = first + slots
	r.slots += slots
	return k, nil
}

// spreadEnds is spread for ends[1:]: a slot that is null ends where the one
// before it does.
func spreadEnds(ends []int32, valid []byte, at, n, k int) {
	for i, j := n, k; i > j; i-- {
		ends[i] = ends[j]
		b := at + i - 1
		j -= int(valid[b>>3] >> (b & 7) & 1)
	}
}

// countBoth counts the levels from low on and those that are full.
func countBoth(levels []byte, low, full uint8) (slots, valid int) {
	for _, d := range levels {
		if d >= low {
			slots++
		}
		if d == full {
			valid++
		}
	}
	return slots, valid
}
