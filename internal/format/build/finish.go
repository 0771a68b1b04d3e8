package build

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/stream"
)

// array is the column's data as it lies in the slab.
func (c *Column) array(slab *stream.Slab) arrow.ArrayData {
	var children []arrow.ArrayData
	for _, k := range c.Children {
		d := k.array(slab)
		defer d.Release()
		children = append(children, d)
	}
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 && c.valid != nil {
		buffers[0] = slab.Buffer(c.valid[:bitBytes(c.n)])
	}
	switch c.Kind {
	case Bits:
		buffers = append(buffers, slab.Buffer(c.fixed[:bitBytes(c.n)]))
	case Fixed:
		buffers = append(buffers, slab.Buffer(c.fixed[:c.n*c.Width]))
	case Bytes:
		buffers = append(buffers, slab.Buffer(c.offsets()), slab.Buffer(c.data[:c.end]))
	case List:
		buffers = append(buffers, slab.Buffer(c.offsets()))
	}
	c.wantSlots, c.wantData = c.n+c.n/8+1, c.end+c.end/8+Slack
	d := array.NewData(c.Field.Type, c.n, buffers, children, c.nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return d
}

// noOffsets are those of a column without slots, for which no room was taken.
var noOffsets [4]byte

func (c *Column) offsets() []byte {
	if c.ends == nil {
		return noOffsets[:]
	}
	return c.ends[:4*(c.n+1)]
}

// slotBytes is what n slots take.
func (c *Column) slotBytes(n int) int {
	size := 0
	switch c.Kind {
	case Bits:
		size = bitBytes(n)
	case Fixed:
		size = n * c.Width
	case Bytes, List:
		size = 4 * (n + 1)
	}
	return size + align + bitBytes(n) + align
}

// least is the room for n slots with little in them.
func (c *Column) least(n int) int {
	size := c.slotBytes(max(16, n))
	if c.Kind == Bytes {
		size += 256 + align
	}
	if c.Kind == Vectors {
		n *= c.Width
	}
	for _, k := range c.Children {
		size += k.least(n)
	}
	return size
}

// wanted is what the batch before lets expect.
func (c *Column) wanted() int {
	n := 0
	if c.wantSlots > 0 {
		n = c.slotBytes(c.wantSlots)
	}
	if c.wantData > 0 && c.Kind == Bytes {
		n += c.wantData + align
	}
	for _, k := range c.Children {
		n += k.wanted()
	}
	return n
}

// reset forgets all values and sets scale of what is wanted aside.
func (c *Column) reset(scale float64) {
	c.n, c.room, c.end, c.nulls = 0, 0, 0, 0
	c.fixed, c.ends, c.data, c.valid = nil, nil, nil, nil
	if slots := int(scale * float64(c.wantSlots)); slots > 0 {
		c.reserve(1, slots)
	}
	if n := int(scale * float64(c.wantData)); n > 0 && c.Kind == Bytes {
		c.data = c.b.take(n)
	}
	for _, k := range c.Children {
		k.reset(scale)
	}
}
