package scale

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// fillFrom copies the rows that were measured: those of rows, or all n.
func (c *copied) fillFrom(n int, rows []int32) {
	c.begin()
	if rows == nil || c.nullable || c.words != nil || c.fixed != 4 && c.fixed != 8 {
		spans(n, rows, c.add)
		return
	}
	c.mask(0, len(rows))
	if c.fixed == 8 {
		gather(arrow.GetData[uint64](c.values)[c.n:], arrow.GetData[uint64](c.src.Buffers()[1].Bytes())[c.src.Offset():], rows)
	} else {
		gather(arrow.GetData[uint32](c.values)[c.n:], arrow.GetData[uint32](c.src.Buffers()[1].Bytes())[c.src.Offset():], rows)
	}
	c.n += len(rows)
}

// begin adds what is new in the dictionaries of the array at hand.
func (c *copied) begin() {
	if c.words != nil {
		c.words.add()
	}
	for _, k := range c.children {
		k.begin()
	}
}

func gather[T uint32 | uint64](dst, src []T, rows []int32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

// mask copies which of n rows from i on are null. As long as none is, there is
// no bitmap.
func (c *copied) mask(i, n int) {
	switch {
	case c.nullable && c.fill == nil:
		if !c.masked {
			clear(c.valid)
			bitutil.SetBitsTo(c.valid, 0, int64(c.n), true)
			c.masked = true
		}
		raw, at := c.src.Buffers()[0].Bytes(), c.src.Offset()+i
		bitutil.CopyBitmap(raw, at, n, c.valid, c.n)
		c.nulls += n - bitutil.CountSetBits(raw, at, n)
	case c.masked:
		bitutil.SetBitsTo(c.valid, int64(c.n), int64(n), true)
	}
}

// add copies n rows from i on.
func (c *copied) add(i, n int) {
	if n == 0 {
		return
	}
	at := c.src.Offset() + i
	c.mask(i, n)
	switch {
	case c.bits:
		bitutil.CopyBitmap(c.src.Buffers()[1].Bytes(), at, n, c.values, c.n)
	case c.words != nil && c.words.moved != nil:
		c.words.translate(c.values[c.n*c.fixed:], c.src.Buffers()[1].Bytes()[at*c.fixed:(at+n)*c.fixed])
	case c.fixed > 0:
		copy(c.values[c.n*c.fixed:], c.src.Buffers()[1].Bytes()[at*c.fixed:(at+n)*c.fixed])
	case c.fill != nil:
		c.addFilled(i, n)
		return
	case c.ends > 0:
		from, to := c.bounds(i, n)
		switch {
		case !c.text:
			c.addOffsets(i, n, from, c.children[0].n)
			c.children[0].add(from, to-from)
		case to > from:
			copy(c.tail[c.data:], c.src.Buffers()[2].Bytes()[from:to])
			fallthrough
		default:
			c.addOffsets(i, n, from, c.data)
			c.data += to - from
		}
	case c.list > 0:
		c.children[0].add(at*c.list, n*c.list)
	default:
		for _, k := range c.children {
			k.add(at, n)
		}
	}
	c.n += n
}

// addOffsets copies where rows end, moved to where they lie in the copy: what
// was at from is at to.
func (c *copied) addOffsets(i, n, from, to int) {
	raw := c.src.Buffers()[1].Bytes()[(c.src.Offset()+i+1)*c.ends:]
	out := c.offsets[(c.n+1)*c.ends:]
	if c.ends == 4 {
		move := uint32(to - from)
		for k := range n {
			binary.LittleEndian.PutUint32(out[4*k:], binary.LittleEndian.Uint32(raw[4*k:])+move)
		}
		return
	}
	move := uint64(to - from)
	for k := range n {
		binary.LittleEndian.PutUint64(out[8*k:], binary.LittleEndian.Uint64(raw[8*k:])+move)
	}
}

// addFilled copies text with fill for nulls.
func (c *copied) addFilled(i, n int) {
	for k := range n {
		text := c.fill
		if !c.null(i + k) {
			if from, to := c.bounds(i+k, 1); to > from {
				text = c.src.Buffers()[2].Bytes()[from:to]
			} else {
				text = nil
			}
		}
		c.data += copy(c.tail[c.data:], text)
		c.n++
		if c.ends == 4 {
			binary.LittleEndian.PutUint32(c.offsets[4*c.n:], uint32(c.data))
		} else {
			binary.LittleEndian.PutUint64(c.offsets[8*c.n:], uint64(c.data))
		}
	}
}

// array is the copy, in buffers that wrap makes.
func (c *copied) array(wrap func([]byte) *memory.Buffer) arrow.ArrayData {
	var children []arrow.ArrayData
	for _, k := range c.children {
		d := k.array(wrap)
		defer d.Release()
		children = append(children, d)
	}
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 {
		buffers[0] = wrap(c.valid[:(c.n+7)/8])
	}
	if c.bits {
		buffers = append(buffers, wrap(c.values[:(c.n+7)/8]))
	}
	if c.fixed > 0 {
		buffers = append(buffers, wrap(c.values[:c.n*c.fixed]))
	}
	if c.ends > 0 {
		buffers = append(buffers, wrap(c.offsets[:(c.n+1)*c.ends]))
	}
	if c.text {
		buffers = append(buffers, wrap(c.tail[:c.data]))
	}
	defer func() {
		for _, b := range buffers {
			if b != nil {
				b.Release()
			}
		}
	}()
	nulls := c.nulls
	if c.typ.ID() == arrow.NULL {
		nulls = c.n
	}
	if c.words != nil {
		dict := c.words.values.array(wrap)
		defer dict.Release()
		return array.NewDataWithDictionary(c.out, c.n, buffers, nulls, 0, dict.(*array.Data))
	}
	return array.NewData(c.out, c.n, buffers, children, nulls, 0)
}
