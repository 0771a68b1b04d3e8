package arrow

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/stream"
)

// build makes an array of what was loaded. Its buffers hold the slab.
func (l *loader) build(n *node, slab *stream.Slab) *array.Data {
	bufs := make([]*memory.Buffer, len(n.data))
	for i, b := range n.data {
		if b != nil {
			bufs[i] = slab.Buffer(b)
			defer bufs[i].Release()
		}
	}
	if n.shape == indexShape {
		return array.NewDataWithDictionary(n.Type, int(n.have), bufs, n.empty, 0, l.dicts[n.dict].data)
	}
	kids := make([]arrow.ArrayData, len(n.kids))
	for i := range n.kids {
		kids[i] = l.build(&n.kids[i], slab)
		defer kids[i].Release()
	}
	return array.NewData(n.Type, int(n.have), bufs, kids, n.empty, 0)
}

// record loads rows of all columns of a batch and makes a record of them,
// whose memory the slab is.
func (l *loader) record(b *batch, s *arrow.Schema, start, rows int64, slab *stream.Slab) (arrow.RecordBatch, error) {
	for i := range b.cols {
		if err := l.load(&b.cols[i], start, rows); err != nil {
			return nil, inColumn(b.cols[i].Name, err)
		}
	}
	cols := make([]arrow.Array, len(b.cols))
	for i := range b.cols {
		d := l.build(&b.cols[i], slab)
		cols[i] = array.MakeFromData(d)
		d.Release()
		defer cols[i].Release()
	}
	return array.NewRecordBatch(s, cols, rows), nil
}
