package scale

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/stream"
)

// align is Arrow's alignment of buffers.
const align = 64

func aligned(n int) int { return (n + align - 1) &^ (align - 1) }

// storage is the type that values of t lie in memory as.
func storage(t arrow.DataType) arrow.DataType {
	if ext, ok := t.(arrow.ExtensionType); ok {
		return ext.StorageType()
	}
	return t
}

// canTake says whether columns of t can be copied.
func canTake(t arrow.DataType) bool {
	switch t := storage(t).(type) {
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

// copied is a column being copied: first measured, then placed in memory, then
// filled, a range of rows at a time.
type copied struct {
	src      arrow.ArrayData
	typ      arrow.DataType // as it lies in memory
	fixed    int            // bytes of a value or of an index; 0: none
	ends     int            // bytes of an offset; 0: none
	bits     bool           // values are bits
	text     bool           // offsets are into bytes, not into a child
	list     int            // values of a fixed-size list; 0: it is none
	nullable bool
	fill     []byte // stands for nulls of text; nil: nothing does
	children []*copied
	dict     *copied

	n, data, nulls      int
	valid, values, tail []byte
	offsets             []byte
	wantRows, wantData  int
}

// newCopied begins the copy of a column.
func newCopied(d arrow.ArrayData) *copied {
	c := &copied{src: d, typ: storage(d.DataType())}
	c.nullable = d.NullN() != 0 && len(d.Buffers()) > 0 && d.Buffers()[0] != nil
	kids := false
	switch t := c.typ.(type) {
	case *arrow.NullType:
	case *arrow.BooleanType:
		c.bits = true
	case *arrow.StringType, *arrow.BinaryType:
		c.ends, c.text = 4, true
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		c.ends, c.text = 8, true
	case *arrow.ListType, *arrow.MapType:
		c.ends, kids = 4, true
	case *arrow.LargeListType:
		c.ends, kids = 8, true
	case *arrow.FixedSizeListType:
		c.list, kids = int(t.Len()), true
	case *arrow.StructType:
		kids = true
	case *arrow.DictionaryType:
		c.fixed = t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		c.dict = newCopied(d.Dictionary())
		c.dict.measure(0, d.Dictionary().Len())
	case arrow.FixedWidthDataType:
		c.fixed = t.BitWidth() / 8
	}
	if kids {
		for _, k := range d.Children() {
			c.children = append(c.children, newCopied(k))
		}
	}
	return c
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

// size is the bytes of what was measured.
func (c *copied) size() int {
	n := 0
	if c.nullable {
		n += aligned((c.wantRows + 7) / 8)
	}
	if c.bits {
		n += aligned((c.wantRows + 7) / 8)
	}
	n += aligned(c.wantRows*c.fixed) + aligned(c.wantData)
	if c.ends > 0 {
		n += aligned((c.wantRows + 1) * c.ends)
	}
	for _, k := range c.children {
		n += k.size()
	}
	if c.dict != nil {
		n += c.dict.size()
	}
	return n
}

// place takes size bytes of ram and returns the rest.
func (c *copied) place(ram []byte) []byte {
	take := func(n int) []byte {
		out := ram[:n:n]
		ram = ram[aligned(n):]
		return out
	}
	if c.nullable {
		c.valid = take((c.wantRows + 7) / 8)
		clear(c.valid)
	}
	if c.bits {
		c.values = take((c.wantRows + 7) / 8)
		clear(c.values)
	}
	if c.fixed > 0 {
		c.values = take(c.wantRows * c.fixed)
	}
	if c.ends > 0 {
		c.offsets = take((c.wantRows + 1) * c.ends)
		clear(c.offsets[:c.ends])
	}
	if c.text {
		c.tail = take(c.wantData)
	}
	for _, k := range c.children {
		ram = k.place(ram)
	}
	if c.dict != nil {
		ram = c.dict.place(ram)
		c.dict.add(0, c.src.Dictionary().Len())
	}
	return ram
}

// measureFrom counts the rows of rows, or all n.
func (c *copied) measureFrom(n int, rows []int32) {
	if rows != nil && c.ends == 0 && len(c.children) == 0 {
		c.wantRows += len(rows)
		return
	}
	spans(n, rows, c.measure)
}

// fillFrom copies the rows that were measured: those of rows, or all n.
func (c *copied) fillFrom(n int, rows []int32) {
	if rows == nil || c.nullable || c.dict != nil || c.fixed != 4 && c.fixed != 8 {
		spans(n, rows, c.add)
		return
	}
	c.n = len(rows)
	if c.fixed == 8 {
		gather(arrow.GetData[uint64](c.values), arrow.GetData[uint64](c.src.Buffers()[1].Bytes())[c.src.Offset():], rows)
	} else {
		gather(arrow.GetData[uint32](c.values), arrow.GetData[uint32](c.src.Buffers()[1].Bytes())[c.src.Offset():], rows)
	}
}

func gather[T uint32 | uint64](dst, src []T, rows []int32) {
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = src[r]
	}
}

// add copies n rows from i on.
func (c *copied) add(i, n int) {
	if n == 0 {
		return
	}
	at := c.src.Offset() + i
	if c.nullable {
		bitutil.CopyBitmap(c.src.Buffers()[0].Bytes(), at, n, c.valid, c.n)
		c.nulls += n - bitutil.CountSetBits(c.src.Buffers()[0].Bytes(), at, n)
	}
	switch {
	case c.bits:
		bitutil.CopyBitmap(c.src.Buffers()[1].Bytes(), at, n, c.values, c.n)
	case c.fixed > 0:
		copy(c.values[c.n*c.fixed:], c.src.Buffers()[1].Bytes()[at*c.fixed:(at+n)*c.fixed])
	case c.fill != nil:
		c.addFilled(i, n)
		return
	case c.ends > 0:
		from, to := c.bounds(i, n)
		c.addOffsets(i, n, from)
		if c.text && to > from {
			copy(c.tail[c.data:], c.src.Buffers()[2].Bytes()[from:to])
		} else if !c.text {
			c.children[0].add(from, to-from)
		}
		c.data += to - from
	case c.list > 0:
		c.children[0].add(at*c.list, n*c.list)
	default:
		for _, k := range c.children {
			k.add(at, n)
		}
	}
	c.n += n
}

// addOffsets copies where rows end, moved to where they lie in the copy.
func (c *copied) addOffsets(i, n, from int) {
	raw := c.src.Buffers()[1].Bytes()[(c.src.Offset()+i+1)*c.ends:]
	out := c.offsets[(c.n+1)*c.ends:]
	if c.ends == 4 {
		move := uint32(c.data - from)
		for k := range n {
			binary.LittleEndian.PutUint32(out[4*k:], binary.LittleEndian.Uint32(raw[4*k:])+move)
		}
		return
	}
	move := uint64(c.data - from)
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
	c.nulls = 0
}

// array is the copy.
func (c *copied) array(slab *stream.Slab) arrow.ArrayData {
	var children []arrow.ArrayData
	for _, k := range c.children {
		d := k.array(slab)
		defer d.Release()
		children = append(children, d)
	}
	buffers := []*memory.Buffer{nil}
	if c.nulls > 0 && c.valid != nil {
		buffers[0] = slab.Buffer(c.valid)
	}
	if c.bits || c.fixed > 0 {
		buffers = append(buffers, slab.Buffer(c.values))
	}
	if c.ends > 0 {
		buffers = append(buffers, slab.Buffer(c.offsets))
	}
	if c.text {
		buffers = append(buffers, slab.Buffer(c.tail))
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
	if c.dict != nil {
		dict := c.dict.array(slab)
		defer dict.Release()
		return array.NewDataWithDictionary(c.src.DataType(), c.n, buffers, nulls, 0, dict.(*array.Data))
	}
	return array.NewData(c.src.DataType(), c.n, buffers, children, nulls, 0)
}
