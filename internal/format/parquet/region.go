package parquet

import "github.com/weir-data/weir/internal/mem"

// align rounds up to Arrow's alignment of buffers.
func align(n int) int { return (n + 63) &^ 63 }

// region is where one leaf's values of one batch are decoded: levels as far
// as the structure above needs them, validity, and values. An entry is a pair
// of levels; a slot is an entry at which the leaf's array has an element.
type region struct {
	leaf  *leafPlan
	cap   int    // most entries
	def   []byte // a level an entry, if leaf.keepDef
	rep   []byte // a level an entry, if leaf.keepRep
	valid []byte // a bit a slot, if the leaf can be null
	fixed []byte // leaf.width bytes a slot, for fixedShape
	bits  []byte // a bit a slot, for bitShape
	there []byte // a bit a row that is not null, if leaf.rowNull
	col   byteColumn
	upper []byte // room for the arrays of the lists and structs this leaf describes

	own *mem.Block // the region's memory, if it is not a part of a larger block

	entries int
	slots   int
	nulls   int // slots that are null
	absent  int // rows that are, by there
	starts  int // rows begun
	rows    int // rows that are whole
}

// regionSize is the bytes of a region for n entries and data value bytes.
func regionSize(l *leafPlan, n, data int) int {
	size := 0
	if l.keepDef {
		size += align(n)
	}
	if l.keepRep {
		size += align(n)
	}
	if l.slotNull {
		size += align(n/8 + slack)
	}
	if l.rowNull {
		size += align(n/l.every/8 + slack)
	}
	switch l.shape {
	case fixedShape:
		size += align(n*l.width + slack)
	case bitShape:
		size += align(n/8 + slack)
	case byteShape:
		size += align(4*(n+1)) + align(data+slack)
	}
	return size + upperSize(l, n)
}

// upperSize is the room for the arrays of the owned lists and structs.
func upperSize(l *leafPlan, n int) int {
	return l.lists*(align(4*(n+1))+align(n/8+slack)) + l.structs*align(n/8+slack)
}

// newRegion lays a region out in ram, which has regionSize bytes or more.
func newRegion(l *leafPlan, n, data int, ram []byte) region {
	take := func(size int) []byte {
		b := ram[:size:align(size)]
		ram = ram[align(size):]
		return b
	}
	r := region{leaf: l, cap: n}
	if l.keepDef {
		r.def = take(n)
	}
	if l.keepRep {
		r.rep = take(n)
	}
	if l.slotNull {
		r.valid = take(n/8 + slack)
		clear(r.valid)
	}
	if l.rowNull {
		r.there = take(n/l.every/8 + slack)
		clear(r.there)
	}
	switch l.shape {
	case fixedShape:
		r.fixed = take(n*l.width + slack)
	case bitShape:
		r.bits = take(n/8 + slack)
		clear(r.bits)
	case byteShape:
		r.col.offsets = view[int32](take(4 * (n + 1)))
		r.col.offsets[0] = 0
		b := take(data + slack)
		r.col.data = b[:data]
	}
	r.upper = ram[:upperSize(l, n)]
	return r
}

// cut finds the entries and slots of the first n rows.
func (r *region) cut(n int) (entries, slots int) {
	l := r.leaf
	if l.MaxRep == 0 {
		return n, n
	}
	if l.every > 0 {
		return n * l.every, n * l.every
	}
	if n >= r.starts {
		return r.entries, r.slots
	}
	rows := 0
	for i, rep := range r.rep[:r.entries] {
		if rep == 0 {
			if rows == n {
				return i, countLevels(r.def[:i], l.slotDef)
			}
			rows++
		}
	}
	return r.entries, r.slots
}

// countLevels counts the levels that are at least low.
func countLevels(levels []byte, low uint8) int {
	n := 0
	for _, v := range levels {
		if v >= low {
			n++
		}
	}
	return n
}

// restSize is the value bytes of the slots from on.
func (r *region) restSize(slot int) int {
	if r.leaf.shape != byteShape {
		return 0
	}
	return r.col.end - int(r.col.offsets[slot])
}

// carry appends what from has behind its first rows to r, which is empty.
func (r *region) carry(from *region, rows int) {
	entry, slot := from.cut(rows)
	n := from.slots - slot
	r.entries = from.entries - entry
	r.slots = n
	r.starts = from.starts - rows
	r.rows = from.rows - rows
	copy(r.def, from.def[min(entry, len(from.def)):][:min(r.entries, len(r.def))])
	copy(r.rep, from.rep[min(entry, len(from.rep)):][:min(r.entries, len(r.rep))])
	if r.valid != nil {
		r.nulls = n - orBits(r.valid, 0, from.valid, slot, n)
	}
	if r.there != nil {
		r.absent = r.rows - orBits(r.there, 0, from.there, rows, r.rows)
	}
	switch r.leaf.shape {
	case fixedShape:
		w := r.leaf.width
		copy(r.fixed, from.fixed[slot*w:(slot+n)*w])
	case bitShape:
		orBits(r.bits, 0, from.bits, slot, n)
	case byteShape:
		base := from.col.offsets[slot]
		for i := range n + 1 {
			r.col.offsets[i] = from.col.offsets[slot+i] - base
		}
		r.col.n = n
		r.col.end = copy(r.col.data, from.col.data[base:from.col.end])
	}
}
