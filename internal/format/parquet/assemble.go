package parquet

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// assembler makes Arrow arrays of the first rows of the regions.
type assembler struct {
	slab    *slab
	regions []region
	rows    int
	next    int // leaf
}

// level is a place in the schema: how many lists are above, and from which
// definition level on there is a slot.
type level struct {
	rep  uint8
	slot uint8
}

// column makes the array of the top-level column whose first leaf is at index
// leaf.
func (a *assembler) column(n *meta.Node, leaf int) (arrow.Array, error) {
	a.next = leaf
	d, err := a.node(n, level{})
	if err != nil {
		return nil, err
	}
	defer d.Release()
	if d.Len() != a.rows {
		return nil, damaged("%d rows where %d are expected", d.Len(), a.rows)
	}
	return array.MakeFromData(d), nil
}

func (a *assembler) node(n *meta.Node, at level) (arrow.ArrayData, error) {
	switch n.Kind {
	case meta.LeafKind:
		a.next++
		return a.leaf(&a.regions[a.next-1])
	case meta.StructKind:
		return a.structure(n, at)
	case meta.ListKind:
		if n.Size > 0 {
			return a.fixedList(n)
		}
	}
	return a.list(n, at)
}

// wrap makes the data of an array and drops the references that were only
// needed to make it. buffers may have nil entries.
func wrap(typ arrow.DataType, length, nulls int, buffers []*memory.Buffer, children []arrow.ArrayData) arrow.ArrayData {
	d := array.NewData(typ, length, buffers, children, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return d
}

// leaf makes the array of stored values.
func (a *assembler) leaf(r *region) (arrow.ArrayData, error) {
	l := r.leaf
	typ := l.Node.Field.Type
	_, slots := r.cut(a.rows)
	nulls := r.nulls
	if slots < r.slots && nulls > 0 {
		nulls = slots - countBits(r.valid, 0, slots)
	}
	if typ.ID() == arrow.NULL {
		return wrap(typ, slots, slots, []*memory.Buffer{nil}, nil), nil
	}
	// What is required may be missing with the struct it is in.
	if nulls > 0 && !l.Node.Field.Nullable && int(l.slotDef) == int(l.MaxDef) {
		return nil, damaged("%q: a null where none may be", l.Path)
	}
	buffers := make([]*memory.Buffer, 2, 3)
	if nulls > 0 {
		buffers[0] = a.slab.Buffer(r.valid[:(slots+7)/8])
	}
	switch l.shape {
	case fixedShape:
		buffers[1] = a.slab.Buffer(r.fixed[:slots*l.width])
	case bitShape:
		buffers[1] = a.slab.Buffer(r.bits[:(slots+7)/8])
	case byteShape:
		end := r.col.offsets[slots]
		buffers[1] = a.slab.Buffer(bytesOf(r.col.offsets[:slots+1]))
		buffers = append(buffers, a.slab.Buffer(r.col.data[:end]))
	}
	return wrap(typ, slots, nulls, buffers, nil), nil
}

// structure makes a struct array; its validity is in the first leaf's levels.
func (a *assembler) structure(n *meta.Node, at level) (arrow.ArrayData, error) {
	first := &a.regions[a.next]
	slots, nulls := a.rows, 0
	var valid []byte
	if first.leaf.keepDef {
		entries, _ := first.cut(a.rows)
		valid = first.takeUpper((entries + 7) / 8)
		slots, nulls = slotValidity(valid, first, entries, at, uint8(n.Def))
	}
	children, err := a.children(n, at, slots)
	if err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{nil}
	if nulls > 0 {
		buffers[0] = a.slab.Buffer(valid[:(slots+7)/8])
	}
	return wrap(n.Field.Type, slots, nulls, buffers, children), nil
}

// children makes the arrays below a node and checks their lengths.
func (a *assembler) children(n *meta.Node, at level, length int) ([]arrow.ArrayData, error) {
	var out []arrow.ArrayData
	drop := func() {
		for _, d := range out {
			d.Release()
		}
	}
	for _, c := range n.Children {
		d, err := a.node(c, at)
		if err != nil {
			drop()
			return nil, err
		}
		out = append(out, d)
		if d.Len() != length {
			drop()
			return nil, damaged("%q: %d elements where its neighbours have %d", c.Name, d.Len(), length)
		}
	}
	return out, nil
}

// list makes a list or map array from the first leaf's levels.
func (a *assembler) list(n *meta.Node, at level) (arrow.ArrayData, error) {
	first := &a.regions[a.next]
	entries, _ := first.cut(a.rows)
	offsets := view[int32](first.takeUpper(4 * (entries + 1)))
	valid := first.takeUpper((entries + 7) / 8)
	slots, nulls, err := listOffsets(offsets, valid, first, entries, at, n)
	if err != nil {
		return nil, err
	}
	below := level{rep: uint8(n.Rep), slot: uint8(n.ElemDef)}
	children, err := a.children(n, below, int(offsets[slots]))
	if err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{nil, a.slab.Buffer(bytesOf(offsets[:slots+1]))}
	if nulls > 0 {
		buffers[0] = a.slab.Buffer(valid[:(slots+7)/8])
	}
	return wrap(n.Field.Type, slots, nulls, buffers, children), nil
}

// fixedList makes the array of a column of fixed-size lists.
func (a *assembler) fixedList(n *meta.Node) (arrow.ArrayData, error) {
	r := &a.regions[a.next]
	a.next++
	values, err := a.leaf(r)
	if err != nil {
		return nil, err
	}
	buffers, nulls := []*memory.Buffer{nil}, 0
	if r.absent > 0 {
		if nulls = a.rows - countBits(r.there, 0, a.rows); nulls > 0 {
			buffers[0] = a.slab.Buffer(r.there[:(a.rows+7)/8])
		}
	}
	return wrap(n.Field.Type, a.rows, nulls, buffers, []arrow.ArrayData{values}), nil
}

// takeUpper cuts size bytes off the room for lists and structs, zeroed.
func (r *region) takeUpper(size int) []byte {
	b := r.upper[:size:size]
	r.upper = r.upper[align(size):]
	clear(b)
	return b
}

// slotValidity sets a bit for every slot whose level is at least low.
func slotValidity(valid []byte, r *region, entries int, at level, low uint8) (slots, nulls int) {
	repeated := r.leaf.keepRep
	for i, d := range r.def[:entries] {
		if d < at.slot || (repeated && r.rep[i] > at.rep) {
			continue
		}
		if d >= low {
			valid[slots>>3] |= 1 << (slots & 7)
		} else {
			nulls++
		}
		slots++
	}
	return slots, nulls
}

// listOffsets finds where the lists of a node begin.
func listOffsets(offsets []int32, valid []byte, r *region, entries int, at level, n *meta.Node) (slots, nulls int, err error) {
	own, elem, low := uint8(n.Rep), uint8(n.ElemDef), uint8(n.Def)
	count := int32(0)
	rep := r.rep[:entries]
	for i, d := range r.def[:entries] {
		switch {
		case rep[i] > own:
			continue
		case rep[i] == own:
			if d < elem {
				return 0, 0, damaged("%q: a list goes on without an element", r.leaf.Path)
			}
			count++
		case d >= at.slot:
			offsets[slots] = count
			if d >= low {
				valid[slots>>3] |= 1 << (slots & 7)
			} else {
				nulls++
			}
			slots++
			if d >= elem {
				count++
			}
		}
	}
	offsets[slots] = count
	return slots, nulls, nil
}
