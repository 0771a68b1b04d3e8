package rows

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/stream"
)

// align is where Arrow wants buffers to begin.
const align = 64

// sizes are the bytes of a node's buffers.
func (nd *node) sizes(st *state) (valid, values, ends int) {
	if st.nulls > 0 && nd.kind != nulls {
		valid = (st.rows + 7) / 8
	}
	switch nd.kind {
	case bools:
		values = (st.rows + 7) / 8
	case plain:
		values = st.rows * nd.width
	case text, list:
		ends = (st.rows + 1) * nd.width
		if nd.kind == text {
			values = st.data
		}
	}
	return valid, values, ends
}

// place gives every node its buffers, in ram where it is not nil, and returns
// the bytes of them all.
func (d *Decoder) place(ram []byte) int {
	used := 0
	region := func(n int) []byte {
		at := used
		used += (n + align - 1) &^ (align - 1)
		if ram == nil {
			return nil
		}
		return ram[at : at+n : at+n]
	}
	for i, nd := range d.f.nodes {
		st := &d.st[i]
		valid, values, ends := nd.sizes(st)
		st.valid, st.ends, st.values = region(valid), region(ends), region(values)
		if ram == nil {
			continue
		}
		st.n, st.put = 0, 0
		clear(st.valid)
		if nd.kind == bools {
			clear(st.values)
		}
		if ends > 0 {
			clear(st.ends[:nd.width])
		}
	}
	return used
}

// Record makes a record of what Take wrote, which lies in slab: its buffers refer
// to it.
func (d *Decoder) Record(slab *stream.Slab) arrow.RecordBatch {
	cols := make([]arrow.Array, len(d.f.roots))
	rows := int64(0)
	for i, root := range d.f.roots {
		data := d.array(root, d.f.out.Field(i).Type, slab)
		cols[i] = array.MakeFromData(data)
		data.Release()
		defer cols[i].Release()
		rows = int64(d.st[root.id].rows)
	}
	return array.NewRecordBatch(d.f.out, cols, rows)
}

// array makes that of a node, children first.
func (d *Decoder) array(nd *node, t arrow.DataType, slab *stream.Slab) arrow.ArrayData {
	st := &d.st[nd.id]
	buffers := []*memory.Buffer{nil}
	if len(st.valid) > 0 {
		buffers[0] = slab.Buffer(st.valid)
	}
	switch nd.kind {
	case bools, plain:
		buffers = append(buffers, slab.Buffer(st.values))
	case text:
		buffers = append(buffers, slab.Buffer(st.ends), slab.Buffer(st.values))
	case list:
		buffers = append(buffers, slab.Buffer(st.ends))
	}
	var kids []arrow.ArrayData
	for i, k := range nd.kids {
		kids = append(kids, d.array(k, kidType(t, i), slab))
	}
	data := array.NewData(t, st.rows, buffers, kids, st.nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, k := range kids {
		k.Release()
	}
	return data
}

// kidType is the type of a nested type's part.
func kidType(t arrow.DataType, i int) arrow.DataType {
	switch s := layout.Storage(t).(type) {
	case *arrow.MapType:
		return s.ElemField().Type
	case *arrow.StructType:
		return s.Field(i).Type
	default:
		return s.(arrow.ListLikeType).Elem()
	}
}
