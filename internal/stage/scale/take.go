package scale

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/format/layout"
)

// align is Arrow's alignment of buffers.
const align = 64

func aligned(n int) int { return (n + align - 1) &^ (align - 1) }

// canTake says whether columns of t can be copied.
func canTake(t arrow.DataType) bool {
	switch t := layout.Storage(t).(type) {
	case *arrow.NullType, *arrow.BooleanType, *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		return true
	case *arrow.ListType:
		return canTake(t.Elem())
	case *arrow.LargeListType:
		return canTake(t.Elem())
	case *arrow.FixedSizeListType:
		return canTake(t.Elem())
	case *arrow.MapType:
		return canTake(t.Elem())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if !canTake(f.Type) {
				return false
			}
		}
		return true
	case *arrow.DictionaryType:
		return canTake(t.ValueType)
	case arrow.FixedWidthDataType:
		return t.BitWidth() >= 8
	}
	return false
}

// copied is a column being copied, rows of several arrays one behind the
// other. Of each array rows are measured, and added where there is room.
type copied struct {
	out      arrow.DataType
	typ      arrow.DataType // out as it lies in memory
	fixed    int            // bytes of a value or of an index; 0: none
	ends     int            // bytes of an offset; 0: none
	bits     bool           // values are bits
	text     bool           // offsets are into bytes, not into a child
	list     int            // values of a fixed-size list; 0: it is none
	fill     []byte         // stands for nulls of text; nil: nothing does
	children []*copied
	words    *lexicon // of a dictionary

	src                arrow.ArrayData // at hand
	nullable           bool            // it has nulls
	wantRows, wantData int             // measured of it

	n, data, nulls     int  // rows, bytes of text, nulls that are there
	masked             bool // valid is in use
	seenRows, seenData int  // of what was made before

	room, roomData      int // rows and bytes of text that there may be
	valid, values, tail []byte
	offsets             []byte
}

// newCopied begins the copy of a column.
func newCopied(t arrow.DataType) *copied {
	c := &copied{out: t, typ: layout.Storage(t)}
	switch t := c.typ.(type) {
	case *arrow.NullType:
	case *arrow.BooleanType:
		c.bits = true
	case *arrow.StringType, *arrow.BinaryType:
		c.ends, c.text = 4, true
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		c.ends, c.text = 8, true
	case *arrow.LargeListType:
		c.ends = 8
	case *arrow.FixedSizeListType:
		c.list = int(t.Len())
	case *arrow.StructType:
	case arrow.ListLikeType: // lists and maps
		c.ends = 4
	case *arrow.DictionaryType:
		c.fixed = t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		c.words = newLexicon(t)
	case arrow.FixedWidthDataType:
		c.fixed = t.BitWidth() / 8
	}
	if nested, ok := c.typ.(arrow.NestedType); ok && c.words == nil {
		for _, f := range nested.Fields() {
			c.children = append(c.children, newCopied(f.Type))
		}
	}
	return c
}

// from turns to another array, of which nothing is measured.
func (c *copied) from(d arrow.ArrayData) error {
	c.src, c.wantRows, c.wantData = d, 0, 0
	c.nullable = d.NullN() != 0 && len(d.Buffers()) > 0 && d.Buffers()[0] != nil
	for i, k := range c.children {
		if err := k.from(d.Children()[i]); err != nil {
			return err
		}
	}
	if c.words != nil {
		return c.words.from(d.Dictionary())
	}
	return nil
}

// bounds is where, in bytes or in the child, rows from i on begin and end.
func (c *copied) bounds(i, n int) (from, to int) {
	raw := c.src.Buffers()[1].Bytes()
	at := (c.src.Offset() + i) * c.ends
	if c.ends == 4 {
		return int(binary.LittleEndian.Uint32(raw[at:])), int(binary.LittleEndian.Uint32(raw[at+4*n:]))
	}
	return int(binary.LittleEndian.Uint64(raw[at:])), int(binary.LittleEndian.Uint64(raw[at+8*n:]))
}

// null says that row i is null.
func (c *copied) null(i int) bool {
	return c.nullable && !bitutil.BitIsSet(c.src.Buffers()[0].Bytes(), c.src.Offset()+i)
}

// measureFrom counts the rows of rows, or all n.
func (c *copied) measureFrom(n int, rows []int32) {
	if rows != nil && c.ends == 0 && len(c.children) == 0 {
		c.wantRows += len(rows)
		return
	}
	spans(n, rows, c.measure)
}

// measure counts n rows from i on.
func (c *copied) measure(i, n int) {
	if n == 0 {
		return
	}
	c.wantRows += n
	switch {
	case c.fill != nil:
		for k := range n {
			if c.null(i + k) {
				c.wantData += len(c.fill)
				continue
			}
			from, to := c.bounds(i+k, 1)
			c.wantData += to - from
		}
	case c.text:
		from, to := c.bounds(i, n)
		c.wantData += to - from
	case c.ends > 0:
		from, to := c.bounds(i, n)
		c.children[0].measure(from, to-from)
	case c.list > 0:
		c.children[0].measure((c.src.Offset()+i)*c.list, n*c.list)
	default:
		for _, k := range c.children {
			k.measure(c.src.Offset()+i, n)
		}
	}
}

// fits says that there is room for what was measured.
func (c *copied) fits() bool {
	if c.n+c.wantRows > c.room || c.data+c.wantData > c.roomData || c.words != nil && !c.words.values.fits() {
		return false
	}
	for _, k := range c.children {
		if !k.fits() {
			return false
		}
	}
	return true
}

// plan makes room for so many rows, and for factor times what is there, was
// measured and was made before; at least for what is there and was measured. It
// returns the bytes of that.
func (c *copied) plan(rows int, factor float64) (size int) {
	scaled := func(least, seen int) int { return max(least, int(math.Ceil(float64(least+seen)*factor))) }
	c.room, c.roomData = rows, scaled(c.data+c.wantData, c.seenData)
	size = aligned(c.room*c.fixed) + aligned(c.roomData)
	if c.typ.ID() != arrow.NULL {
		size += aligned((c.room + 7) / 8)
	}
	if c.bits {
		size += aligned((c.room + 7) / 8)
	}
	if c.ends > 0 {
		size += aligned((c.room + 1) * c.ends)
	}
	for _, k := range c.children {
		switch {
		case c.ends > 0:
			size += k.plan(scaled(k.n+k.wantRows, k.seenRows), factor)
		case c.list > 0:
			size += k.plan(rows*c.list, factor)
		default:
			size += k.plan(rows, factor)
		}
	}
	if c.words != nil {
		size += c.words.plan(factor)
	}
	return size
}

// wordBytes is about what dictionaries have of the last plan.
func (c *copied) wordBytes(factor float64) (size int) {
	if c.words != nil {
		size = c.words.plan(factor)
	}
	for _, k := range c.children {
		size += k.wordBytes(factor)
	}
	return size
}

// place takes the bytes of the plan from ram and returns the rest. There is
// nothing behind it.
func (c *copied) place(ram []byte) []byte {
	take := func(n int) []byte {
		out := ram[:n:n]
		ram = ram[aligned(n):]
		return out
	}
	c.n, c.data, c.nulls, c.masked = 0, 0, 0, false
	if c.typ.ID() != arrow.NULL {
		c.valid = take((c.room + 7) / 8)
	}
	if c.bits {
		c.values = take((c.room + 7) / 8)
		clear(c.values)
	}
	if c.fixed > 0 {
		c.values = take(c.room * c.fixed)
	}
	if c.ends > 0 {
		c.offsets = take((c.room + 1) * c.ends)
		clear(c.offsets[:c.ends])
	}
	if c.text {
		c.tail = take(c.roomData)
	}
	for _, k := range c.children {
		ram = k.place(ram)
	}
	if c.words != nil {
		ram = c.words.place(ram)
	}
	return ram
}

// end forgets what is there but its size.
func (c *copied) end() {
	c.seenRows, c.seenData = c.n, c.data
	c.n, c.data, c.nulls, c.src = 0, 0, 0, nil
	c.room, c.roomData = 0, 0
	c.valid, c.values, c.offsets, c.tail = nil, nil, nil, nil
	for _, k := range c.children {
		k.end()
	}
	if c.words != nil {
		c.words.end()
	}
}
