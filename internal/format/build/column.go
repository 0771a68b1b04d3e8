package build

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Kind is how a column's values lie in memory.
type Kind uint8

const (
	Nulls   Kind = iota // nothing but nulls
	Bits                // booleans
	Fixed               // Width bytes a value
	Bytes               // strings and binaries
	List                // lists and maps
	Struct              // a value of every child
	Vectors             // fixed-size lists
)

// Column is one column, or one child of a column, being built. Values are
// appended; a value that finds no room is dropped and makes the batch full,
// which is asked once a row.
type Column struct {
	Field    arrow.Field
	Kind     Kind
	Width    int       // of Fixed: bytes; of Vectors: values
	Children []*Column // of List and Vectors: one; of maps a struct

	b     *Batch
	n     int    // slots
	room  int    // slots there is room for
	fixed []byte // values, or bits
	ends  []byte // int32 offsets, one more than slots
	data  []byte // of Bytes
	end   int    // bytes of data used
	valid []byte // nil: no null so far
	nulls int

	wantSlots, wantData int // of the batch before, and a little more
}

// newColumn makes a column for a field.
func newColumn(b *Batch, f arrow.Field) (*Column, error) {
	c := &Column{Field: f, b: b}
	children := []arrow.Field(nil)
	typ := f.Type
	if ext, ok := typ.(arrow.ExtensionType); ok {
		typ = ext.StorageType()
	}
	switch t := typ.(type) {
	case *arrow.NullType:
		c.Kind = Nulls
	case *arrow.BooleanType:
		c.Kind = Bits
	case *arrow.StringType, *arrow.BinaryType:
		c.Kind = Bytes
	case *arrow.ListType:
		c.Kind, children = List, []arrow.Field{t.ElemField()}
	case *arrow.MapType:
		c.Kind, children = List, []arrow.Field{t.ElemField()}
	case *arrow.FixedSizeListType:
		c.Kind, c.Width, children = Vectors, int(t.Len()), []arrow.Field{t.ElemField()}
	case *arrow.StructType:
		c.Kind, children = Struct, t.Fields()
	case *arrow.DictionaryType:
		return nil, fmt.Errorf("%s cannot be built; use %s", t, t.ValueType)
	case arrow.FixedWidthDataType:
		c.Kind, c.Width = Fixed, t.BitWidth()/8
	default:
		return nil, fmt.Errorf("%s cannot be built", t)
	}
	for _, f := range children {
		child, err := newColumn(b, f)
		if err != nil {
			return nil, err
		}
		c.Children = append(c.Children, child)
	}
	return c, nil
}

func (c *Column) forget() {
	c.wantSlots, c.wantData = 0, 0
	for _, k := range c.Children {
		k.forget()
	}
}

// Reserve sets room aside for n more values, of Bytes for so many bytes in
// all, so that they need not move while they come.
func (c *Column) Reserve(n, bytes int) {
	c.reserve(c.n+n, c.n+n)
	if c.Kind == Bytes && c.end+bytes+Slack > len(c.data) {
		c.growData(bytes)
	}
}

// Len is the number of values.
func (c *Column) Len() int { return c.n }

// grow makes room for one more slot at least; false: there is none.
func (c *Column) grow() bool { return c.reserve(c.n+1, max(16, 2*c.n)) }

// reserve makes room for least slots, for want of them if it can.
func (c *Column) reserve(least, want int) bool {
	if least <= c.room {
		return true
	}
	want = max(want, least)
	room := 1 << 31
	get := func(buf []byte, keep int, size func(slots int) int, slots func(bytes int) int) []byte {
		out := c.b.larger(buf, keep, size(least), size(want))
		if out != nil {
			room = min(room, slots(len(out)))
		}
		return out
	}
	switch c.Kind {
	case Bits:
		buf := get(c.fixed, (c.n+7)/8, bitBytes, bitSlots)
		if buf == nil {
			return false
		}
		c.fixed = buf
	case Fixed:
		w := max(1, c.Width)
		buf := get(c.fixed, c.n*c.Width, func(n int) int { return n * w }, func(n int) int { return n / w })
		if buf == nil {
			return false
		}
		c.fixed = buf
	case Bytes, List:
		buf := get(c.ends, 4*(c.n+1), func(n int) int { return 4 * (n + 1) }, func(n int) int { return n/4 - 1 })
		if buf == nil {
			return false
		}
		if c.ends == nil {
			binary.LittleEndian.PutUint32(buf, 0)
		}
		c.ends = buf
	}
	if c.valid != nil {
		buf := get(c.valid, (c.n+7)/8, bitBytes, bitSlots)
		if buf == nil {
			return false
		}
		c.valid = buf
	}
	if room == 1<<31 {
		room = want
	}
	c.room = room
	return true
}

func bitBytes(slots int) int { return (slots + 7) / 8 }
func bitSlots(n int) int     { return 8 * n }

// begin makes room for one slot.
func (c *Column) begin() bool { return c.n < c.room || c.grow() }

// done counts the slot as valid.
func (c *Column) done() {
	if c.valid != nil {
		if c.n&7 == 0 {
			c.valid[c.n>>3] = 0
		}
		c.valid[c.n>>3] |= 1 << (c.n & 7)
	}
	c.n++
}

// Null appends a null.
func (c *Column) Null() {
	if !c.begin() || c.valid == nil && c.Kind != Nulls && !c.startValid() {
		return
	}
	switch c.Kind {
	case Bits:
		c.clearBit(c.fixed)
	case Fixed:
		clear(c.fixed[c.n*c.Width : (c.n+1)*c.Width])
	case Bytes:
		binary.LittleEndian.PutUint32(c.ends[4*(c.n+1):], uint32(c.end))
	case List:
		binary.LittleEndian.PutUint32(c.ends[4*(c.n+1):], uint32(c.Children[0].n))
	case Struct:
		for _, k := range c.Children {
			if k.n == c.n {
				k.Null()
			}
		}
	case Vectors:
		for range c.Width {
			c.Children[0].Null()
		}
	}
	if c.Kind != Nulls {
		c.clearBit(c.valid)
	}
	c.n++
	c.nulls++
}

// clearBit makes the bit of the slot to come 0, and those behind it if it is
// the first of its byte.
func (c *Column) clearBit(bits []byte) {
	if c.n&7 == 0 {
		bits[c.n>>3] = 0
		return
	}
	bits[c.n>>3] &^= 1 << (c.n & 7)
}

// startValid begins the bitmap: all so far are valid.
func (c *Column) startValid() bool {
	buf := c.b.larger(nil, 0, bitBytes(c.n+1), bitBytes(max(c.room, c.n+1)))
	if buf == nil {
		return false
	}
	c.valid = buf
	for i := range (c.n + 7) / 8 {
		buf[i] = 0xff
	}
	c.room = min(c.room, bitSlots(len(buf)))
	return true
}

// Cut drops all values from the n-th on, and what was begun of one more: the
// elements of a list come before the list.
func (c *Column) Cut(n int) {
	n = min(n, c.n)
	if c.valid != nil {
		for i := n; i < c.n; i++ {
			if c.valid[i>>3]>>(i&7)&1 == 0 {
				c.nulls--
			}
		}
	} else if c.Kind == Nulls {
		c.nulls = n
	}
	c.n = n
	switch c.Kind {
	case Bytes:
		c.end = c.offset(n)
	case List:
		c.Children[0].Cut(c.offset(n))
	case Struct:
		for _, k := range c.Children {
			k.Cut(n)
		}
	case Vectors:
		c.Children[0].Cut(n * c.Width)
	}
}

// offset is where the n-th value begins.
func (c *Column) offset(n int) int {
	if c.ends == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint32(c.ends[4*n:]))
}
