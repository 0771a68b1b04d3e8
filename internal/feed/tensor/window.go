package tensor

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// Window is records whose rows are numbered one after the other. It refers to
// their buffers, which must stay. On the Go heap it takes about 200 bytes for
// every record and column, counting nested ones. It does not change.
type Window struct {
	sources []source
	rows    int
}

// source is a record, its arrays as the nodes of a frame see them.
type source struct {
	first int // the window's number of its first row
	rows  int
	parts []part
}

// part is the array of a node.
type part struct {
	off, n int
	valid  []byte // nil: no nulls
	values []byte
	short  []int32  // offsets of 4 bytes, from off on
	long   []int64  // of 8 bytes
	data   [][]byte // of text
	views  []byte
	dict   *part // its values; then wide is the bytes of an index
	wide   int
}

// Open looks at records, of the schema that was planned for, and checks what
// they point to: damage is ErrData.
func (f *Frame) Open(recs []arrow.RecordBatch) (*Window, error) {
	w := &Window{sources: make([]source, len(recs))}
	for i, rec := range recs {
		s := &w.sources[i]
		s.first, s.rows, s.parts = w.rows, int(rec.NumRows()), make([]part, len(f.nodes))
		w.rows += s.rows
		for j := range f.columns {
			c := &f.columns[j]
			if c.index >= int(rec.NumCols()) || !arrow.TypeEqual(rec.Column(c.index).DataType(), c.typ) {
				return nil, format.Error(format.ErrData, "column %q: the batch is of another schema", c.name)
			}
			if !s.bind(c.root, rec.Column(c.index).Data()) {
				return nil, format.Error(format.ErrData, "column %q: the batch points outside itself", c.name)
			}
		}
	}
	return w, nil
}

// Rows is the number of rows of all records.
func (w *Window) Rows() int { return w.rows }

// bind finds the buffers of an array and of those below it; false: they are
// damaged.
func (s *source) bind(n *node, d arrow.ArrayData) bool {
	p := &s.parts[n.id]
	if !p.bind(n, d) {
		return false
	}
	if len(n.kids) == 0 {
		return true
	}
	kids := d.Children()
	if len(kids) != len(n.kids) {
		return false
	}
	for i, k := range kids {
		if !s.bind(n.kids[i], k) {
			return false
		}
		end := p.off + p.n
		switch n.kind {
		case vector:
			end *= n.width
		case list:
			end = p.end()
		}
		if end > k.Len() {
			return false
		}
	}
	return true
}

// end is where the last row's values end.
func (p *part) end() int {
	switch {
	case p.n == 0:
		return 0
	case p.short != nil:
		return int(p.short[p.n])
	}
	return int(p.long[p.n])
}

// bufferOf is a buffer of an array, nil if it has none.
func bufferOf(d arrow.ArrayData, i int) []byte {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

// bind finds the buffers of one array.
func (p *part) bind(n *node, d arrow.ArrayData) bool {
	p.off, p.n = d.Offset(), d.Len()
	end := p.off + p.n
	if p.n == 0 || n.kind == nulls {
		return true
	}
	if d.NullN() != 0 {
		p.valid = bufferOf(d, 0)
		if p.valid != nil && len(p.valid)*8 < end {
			return false
		}
	}
	t := layout.Storage(d.DataType())
	switch t := t.(type) {
	case *arrow.DictionaryType:
		return p.bindDictionary(n, d, t)
	case *arrow.BooleanType:
		p.values = bufferOf(d, 1)
		return len(p.values)*8 >= end
	case arrow.BinaryViewDataType:
		return p.bindViews(d)
	}
	switch n.kind {
	case fixed:
		p.values = bufferOf(d, 1)
		return len(p.values)/n.width >= end
	case text:
		data := bufferOf(d, 2)
		p.data = [][]byte{data}
		return p.bindOffsets(n.width, bufferOf(d, 1)) && p.end() <= len(data)
	case list:
		return p.bindOffsets(n.width, bufferOf(d, 1))
	}
	return true
}

// bindOffsets finds offsets, which must ascend from zero or more.
func (p *part) bindOffsets(width int, raw []byte) bool {
	if len(raw)/width < p.off+p.n+1 {
		return false
	}
	if width == 4 {
		p.short = arrow.GetData[int32](raw)[p.off : p.off+p.n+1]
		return ascend(p.short)
	}
	p.long = arrow.GetData[int64](raw)[p.off : p.off+p.n+1]
	return ascend(p.long)
}

func ascend[T int32 | int64](v []T) bool {
	last := T(0)
	ok := true
	for _, x := range v {
		ok = ok && x >= last
		last = x
	}
	return ok
}

// bindViews finds texts that point to where they lie.
func (p *part) bindViews(d arrow.ArrayData) bool {
	p.views = bufferOf(d, 1)
	if len(p.views)/arrow.ViewHeaderSizeBytes < p.off+p.n {
		return false
	}
	for i := range d.Buffers()[min(2, len(d.Buffers())):] {
		p.data = append(p.data, bufferOf(d, 2+i))
	}
	for i := range p.n {
		if _, ok := p.view(i); !ok && !p.null(i) {
			return false
		}
	}
	return true
}

// view is the text that row i points to.
func (p *part) view(i int) ([]byte, bool) {
	h := &arrow.GetData[arrow.ViewHeader](p.views)[p.off+i]
	if n := h.Len(); n < 0 {
		return nil, false
	}
	if h.IsInline() {
		return h.InlineBytes(), true
	}
	b, from := int(h.BufferIndex()), int(h.BufferOffset())
	if b < 0 || b >= len(p.data) || from < 0 || from > len(p.data[b])-h.Len() {
		return nil, false
	}
	return p.data[b][from : from+h.Len()], true
}

// bindDictionary finds values and which of them rows are.
func (p *part) bindDictionary(n *node, d arrow.ArrayData, t *arrow.DictionaryType) bool {
	p.dict = &part{}
	values := d.Dictionary()
	if values == nil || !p.dict.bind(n, values) {
		return false
	}
	p.wide = t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
	p.values = bufferOf(d, 1)
	if len(p.values)/p.wide < p.off+p.n {
		return false
	}
	for i := range p.n {
		if !p.null(i) && uint(p.index(i)) >= uint(p.dict.n) {
			return false
		}
	}
	return true
}

// index is the number of row i's value in the dictionary. One below zero comes
// out as one that no dictionary has.
func (p *part) index(i int) int {
	at := (p.off + i) * p.wide
	switch p.wide {
	case 1:
		return int(p.values[at])
	case 2:
		return int(binary.LittleEndian.Uint16(p.values[at:]))
	case 4:
		return int(binary.LittleEndian.Uint32(p.values[at:]))
	}
	return int(binary.LittleEndian.Uint64(p.values[at:]))
}

// entry is index, or -1 where row i or its value is null.
func (p *part) entry(i int) int {
	if p.null(i) {
		return -1
	}
	k := p.index(i)
	if p.dict.null(k) {
		return -1
	}
	return k
}

// null says that row i is.
func (p *part) null(i int) bool {
	return p.valid != nil && !bitutil.BitIsSet(p.valid, p.off+i)
}
