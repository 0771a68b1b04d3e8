package build

import (
	"encoding/binary"
	"math"
)

// Bool appends to a column of Bits.
func (c *Column) Bool(v bool) {
	if !c.begin() {
		return
	}
	if c.n&7 == 0 {
		c.fixed[c.n>>3] = 0
	}
	bit := byte(1) << (c.n & 7)
	if v {
		c.fixed[c.n>>3] |= bit
	} else {
		c.fixed[c.n>>3] &^= bit
	}
	c.done()
}

// Uint64 appends to a Fixed column of Width 8.
func (c *Column) Uint64(v uint64) {
	if c.n == c.room && !c.grow() {
		return
	}
	binary.LittleEndian.PutUint64(c.fixed[8*c.n:], v)
	c.done()
}

// Float64 appends to a Fixed column of Width 8.
func (c *Column) Float64(v float64) { c.Uint64(math.Float64bits(v)) }

// Uint32 appends to a Fixed column of Width 4.
func (c *Column) Uint32(v uint32) {
	if c.n == c.room && !c.grow() {
		return
	}
	binary.LittleEndian.PutUint32(c.fixed[4*c.n:], v)
	c.done()
}

// Uint16 appends to a Fixed column of Width 2.
func (c *Column) Uint16(v uint16) {
	if !c.begin() {
		return
	}
	binary.LittleEndian.PutUint16(c.fixed[2*c.n:], v)
	c.done()
}

// Uint8 appends to a Fixed column of Width 1.
func (c *Column) Uint8(v uint8) {
	if !c.begin() {
		return
	}
	c.fixed[c.n] = v
	c.done()
}

// Value appends Width bytes to a Fixed column; a p of another length is a bug
// of the caller.
func (c *Column) Value(p []byte) {
	if !c.begin() {
		return
	}
	copy(c.fixed[c.n*c.Width:(c.n+1)*c.Width], p[:c.Width])
	c.done()
}

// Append appends n values to a Fixed column and returns their bytes, which the
// caller fills; nil: there is no room.
func (c *Column) Append(n int) []byte {
	if !c.reserve(c.n+n, max(c.n+n, 2*c.n)) {
		return nil
	}
	out := c.fixed[c.n*c.Width : (c.n+n)*c.Width]
	if c.valid == nil {
		c.n += n
		return out
	}
	for range n {
		c.done()
	}
	return out
}

// Values appends the values that p holds to a Fixed column.
func (c *Column) Values(p []byte) { copy(c.Append(len(p)/max(1, c.Width)), p) }

// Bytes appends p to a column of Bytes.
func (c *Column) Bytes(p []byte) {
	dst := c.Room(len(p))
	if dst == nil {
		return
	}
	copy(dst, p)
	c.Commit(len(p))
}

// Room is where the next value of a column of Bytes may be written: n bytes,
// and Slack more that may be spoiled. The value is appended by Commit; without
// that nothing was. Nil: there is no room.
func (c *Column) Room(n int) []byte {
	if n+Slack > len(c.data)-c.end && !c.growData(n) {
		return nil
	}
	return c.data[c.end : c.end+n+Slack]
}

// Commit appends the first n bytes that were written where Room said.
func (c *Column) Commit(n int) {
	if c.n == c.room && !c.grow() {
		return
	}
	c.end += n
	binary.LittleEndian.PutUint32(c.ends[4*(c.n+1):], uint32(c.end))
	c.done()
}

// growData makes room for n more bytes and Slack.
func (c *Column) growData(n int) bool {
	least := c.end + n + Slack
	buf := c.b.larger(c.data, c.end, least, max(least, 2*c.end, 256))
	if buf == nil {
		return false
	}
	c.data = buf
	return true
}

// EndList appends the list of all that was appended to the child since the
// last list ended.
func (c *Column) EndList() {
	if !c.begin() {
		return
	}
	binary.LittleEndian.PutUint32(c.ends[4*(c.n+1):], uint32(c.Children[0].n))
	c.done()
}

// EndStruct appends a struct of the values that were appended to the children;
// a child that got none gets null.
func (c *Column) EndStruct() {
	for _, k := range c.Children {
		if k.n == c.n {
			k.Null()
		}
	}
	if !c.begin() {
		return
	}
	c.done()
}

// EndVector appends the fixed-size list of the last Width values of the child.
func (c *Column) EndVector() {
	if c.begin() {
		c.done()
	}
}
