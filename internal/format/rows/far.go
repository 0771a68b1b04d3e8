package rows

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
)

// far is where values are that rows point to: texts by views, or entries of a
// dictionary.
type far struct {
	data [][]byte // of views
	dict *part    // else the dictionary's values; then wide is the bytes of an index
	wide int
}

// bindViews finds texts that point to where they lie.
func (p *part) bindViews(d arrow.ArrayData) bool {
	const head = arrow.ViewHeaderSizeBytes
	views := bufferOf(d, 1)
	if len(views)/head < p.off+p.n {
		return false
	}
	p.values, p.far = views[p.off*head:(p.off+p.n)*head], &far{}
	for i := range d.Buffers()[min(2, len(d.Buffers())):] {
		p.far.data = append(p.far.data, bufferOf(d, 2+i))
	}
	for i := range p.n {
		if _, ok := p.view(i); !ok && !p.null(i) {
			return false
		}
	}
	return true
}

// view is the text that row i points to; false: it is nowhere.
func (p *part) view(i int) ([]byte, bool) {
	h := &arrow.GetData[arrow.ViewHeader](p.values)[i]
	n := h.Len()
	if n < 0 {
		return nil, false
	}
	if h.IsInline() {
		return h.InlineBytes(), true
	}
	data := p.far.data
	b, from := int(h.BufferIndex()), int(h.BufferOffset())
	if b < 0 || b >= len(data) || from < 0 || from > len(data[b])-n {
		return nil, false
	}
	return data[b][from : from+n], true
}

// bindDictionary finds values and which of them rows are.
func (p *part) bindDictionary(nd *node, d arrow.ArrayData, t *arrow.DictionaryType) bool {
	values := d.Dictionary()
	if values == nil {
		return false
	}
	dict := &part{n: values.Len(), off: values.Offset()}
	if !dict.bind(nd, values) {
		return false
	}
	p.far = &far{dict: dict, wide: t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8}
	wide, raw := p.far.wide, bufferOf(d, 1)
	if len(raw)/wide < p.off+p.n {
		return false
	}
	p.values = raw[p.off*wide : (p.off+p.n)*wide]
	for i := range p.n {
		if !p.null(i) && uint(p.index(i)) >= uint(dict.n) {
			return false
		}
	}
	return true
}

// index is the number of row i's value in the dictionary. One below zero comes
// out as one that no dictionary has.
func (p *part) index(i int) int {
	switch p.far.wide {
	case 1:
		return int(p.values[i])
	case 2:
		return int(binary.LittleEndian.Uint16(p.values[2*i:]))
	case 4:
		return int(binary.LittleEndian.Uint32(p.values[4*i:]))
	}
	return int(binary.LittleEndian.Uint64(p.values[8*i:]))
}

// entry is index, or -1 where row i or its value is null.
func (p *part) entry(i int) int {
	if p.null(i) {
		return -1
	}
	k := p.index(i)
	if p.far.dict.null(k) {
		return -1
	}
	return k
}

// missing says that row i is null, or what it points to.
func (p *part) missing(i int) bool {
	if p.far != nil && p.far.dict != nil {
		return p.entry(i) < 0
	}
	return p.null(i)
}

// text is that of row i; nil where it is null in a way that has none.
func (p *part) text(width, i int) []byte {
	switch {
	case p.far == nil:
		return p.values[p.end(width, i):p.end(width, i+1)]
	case p.far.dict != nil:
		if k := p.entry(i); k >= 0 {
			return p.far.dict.text(width, k)
		}
		return nil
	case p.null(i):
		return nil
	}
	b, _ := p.view(i)
	return b
}
