package feed

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// keep copies a record into memory of share: of a slice nothing but its rows.
func keep(rec arrow.RecordBatch, share *mem.Budget) (arrow.RecordBatch, error) {
	k := new(keeper)
	k.record(rec)
	block, ok := share.TryMap(max(k.used, 8))
	if !ok {
		return nil, noRoom(share, k.used)
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	k = &keeper{slab: slab, ram: block.Bytes()}
	cols := k.record(rec)
	out := array.NewRecordBatch(rec.Schema(), cols, rec.NumRows())
	for _, c := range cols {
		c.Release()
	}
	return out, nil
}

const alignment = 64

// keeper copies buffers one behind the other. Without memory it only counts.
type keeper struct {
	slab *stream.Slab
	ram  []byte
	used int
}

func (k *keeper) record(rec arrow.RecordBatch) (cols []arrow.Array) {
	for _, c := range rec.Columns() {
		if d := k.data(c.Data(), 0, c.Len()); d != nil {
			cols = append(cols, array.MakeFromData(d))
			d.Release()
		}
	}
	return cols
}

// region is room for n bytes; nil: they are only counted.
func (k *keeper) region(n int) []byte {
	at := k.used
	k.used += (n + alignment - 1) &^ (alignment - 1)
	if k.ram == nil {
		return nil
	}
	return k.ram[at : at+n : at+n]
}

// copy keeps bytes of a buffer, which may have none.
func (k *keeper) copy(b *memory.Buffer, from, to int) *memory.Buffer {
	if b == nil || b.Len() == 0 {
		return nil
	}
	return k.bytes(b.Bytes()[from:min(to, b.Len())])
}

func (k *keeper) bytes(p []byte) *memory.Buffer {
	ram := k.region(len(p))
	if ram == nil {
		return nil
	}
	copy(ram, p)
	return k.slab.Buffer(ram)
}

// data keeps n rows of an array from one on. They begin within a byte of the
// bitmaps where they began before.
func (k *keeper) data(d arrow.ArrayData, from, n int) arrow.ArrayData {
	at := d.Offset() + from
	base, end := at&^7, at+n
	var buffers []*memory.Buffer
	var children []arrow.ArrayData
	var dict arrow.ArrayData
	if len(d.Buffers()) > 0 {
		buffers = append(buffers, k.copy(d.Buffers()[0], base/8, (end+7)/8))
	}
	switch t := layout.Storage(d.DataType()).(type) {
	case *arrow.NullType:
	case *arrow.StructType:
		for _, c := range d.Children() {
			children = append(children, k.data(c, base, end-base))
		}
	case *arrow.FixedSizeListType:
		children = append(children, k.data(d.Children()[0], base*int(t.Len()), (end-base)*int(t.Len())))
	case *arrow.ListType, *arrow.MapType, *arrow.StringType, *arrow.BinaryType:
		buffers, children = k.varied(d, buffers, base, end, 4)
	case *arrow.LargeListType, *arrow.LargeStringType, *arrow.LargeBinaryType:
		buffers, children = k.varied(d, buffers, base, end, 8)
	case *arrow.DictionaryType:
		width := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		buffers = append(buffers, k.copy(d.Buffers()[1], base*width, end*width))
		dict = k.data(d.Dictionary(), 0, d.Dictionary().Len())
	case arrow.FixedWidthDataType:
		bits := t.BitWidth()
		buffers = append(buffers, k.copy(d.Buffers()[1], base*bits/8, (end*bits+7)/8))
	default: // views: what they refer to lies anywhere
		base = 0
		buffers = buffers[:0]
		for _, b := range d.Buffers() {
			buffers = append(buffers, k.copy(b, 0, 1<<62))
		}
	}
	if k.ram == nil {
		return nil
	}
	return made(d, n, at-base, buffers, children, dict)
}

// made is an array of what was kept of d, which it takes over.
func made(d arrow.ArrayData, n, offset int, buffers []*memory.Buffer, children []arrow.ArrayData, dict arrow.ArrayData) arrow.ArrayData {
	nulls := d.NullN()
	if n != d.Len() && nulls != 0 {
		nulls = array.UnknownNullCount
	}
	var out arrow.ArrayData
	if dict != nil {
		out = array.NewDataWithDictionary(d.DataType(), n, buffers, nulls, offset, dict.(*array.Data))
		dict.Release()
	} else {
		out = array.NewData(d.DataType(), n, buffers, children, nulls, offset)
	}
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, c := range children {
		c.Release()
	}
	return out
}

// varied keeps values that offsets of a width point to, which then begin at 0.
func (k *keeper) varied(d arrow.ArrayData, buffers []*memory.Buffer, base, end, width int) ([]*memory.Buffer, []arrow.ArrayData) {
	if d.Buffers()[1] == nil || d.Buffers()[1].Len() == 0 {
		base, end = 0, 0
	}
	var first, last int
	if end > base {
		offsets := d.Buffers()[1].Bytes()[base*width : (end+1)*width]
		first, last = offsetAt(offsets, 0, width), offsetAt(offsets, end-base, width)
		moved := k.region(len(offsets))
		for i := 0; i < len(moved)/width; i++ {
			putOffset(moved, i, width, offsetAt(offsets, i, width)-first)
		}
		if moved != nil {
			buffers = append(buffers, k.slab.Buffer(moved))
		}
	} else {
		buffers = append(buffers, nil)
	}
	if len(d.Children()) > 0 {
		return buffers, []arrow.ArrayData{k.data(d.Children()[0], first, last-first)}
	}
	return append(buffers, k.copy(d.Buffers()[2], first, last)), nil
}

func offsetAt(b []byte, i, width int) int {
	if width == 4 {
		return int(int32(binary.LittleEndian.Uint32(b[4*i:])))
	}
	return int(binary.LittleEndian.Uint64(b[8*i:]))
}

func putOffset(b []byte, i, width, v int) {
	if width == 4 {
		binary.LittleEndian.PutUint32(b[4*i:], uint32(v))
	} else {
		binary.LittleEndian.PutUint64(b[8*i:], uint64(v))
	}
}
