// Package layout finds the bytes that rows of Arrow arrays lie in.
package layout

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Walk calls visit with the bytes that rows [i, i+n) of d lie in, buffer by
// buffer, those of nested values included. Bitmaps are given in whole bytes.
func Walk(d arrow.ArrayData, i, n int, visit func([]byte)) {
	if n == 0 {
		return
	}
	bufs := d.Buffers()
	at := d.Offset() + i
	if len(bufs) > 0 {
		visitBits(bufs[0], at, n, visit)
	}
	switch t := Storage(d.DataType()).(type) {
	case *arrow.NullType:
	case *arrow.BooleanType:
		visitBits(bufs[1], at, n, visit)
	case *arrow.StringType, *arrow.BinaryType:
		from, to := offsets(bufs[1], at, n, 4, visit)
		visitBytes(bufs[2], from, to, visit)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		from, to := offsets(bufs[1], at, n, 8, visit)
		visitBytes(bufs[2], from, to, visit)
	case *arrow.ListType, *arrow.MapType:
		from, to := offsets(bufs[1], at, n, 4, visit)
		Walk(d.Children()[0], from, to-from, visit)
	case *arrow.LargeListType:
		from, to := offsets(bufs[1], at, n, 8, visit)
		Walk(d.Children()[0], from, to-from, visit)
	case *arrow.FixedSizeListType:
		w := int(t.Len())
		Walk(d.Children()[0], at*w, n*w, visit)
	case *arrow.StructType:
		for _, c := range d.Children() {
			Walk(c, at, n, visit)
		}
	case *arrow.DictionaryType:
		w := t.IndexType.(arrow.FixedWidthDataType).BitWidth() / 8
		visitBytes(bufs[1], at*w, (at+n)*w, visit)
		Walk(d.Dictionary(), 0, d.Dictionary().Len(), visit)
	case arrow.FixedWidthDataType:
		w := t.BitWidth() / 8
		visitBytes(bufs[1], at*w, (at+n)*w, visit)
	default:
		walkWhole(d, visit)
	}
}

// walkWhole is for layouts without a cheap answer (views, unions, runs): all
// they refer to.
func walkWhole(d arrow.ArrayData, visit func([]byte)) {
	for _, b := range d.Buffers()[min(1, len(d.Buffers())):] {
		if b != nil {
			visit(b.Bytes())
		}
	}
	for _, c := range d.Children() {
		Walk(c, 0, c.Len(), visit)
	}
}

func visitBytes(b *memory.Buffer, from, to int, visit func([]byte)) {
	if b != nil && to > from {
		visit(b.Bytes()[from:to])
	}
}

func visitBits(b *memory.Buffer, at, n int, visit func([]byte)) {
	if b != nil && b.Len() > 0 {
		visit(b.Bytes()[at/8 : (at+n+7)/8])
	}
}

// offsets visits n+1 offsets of width bytes and returns the first and the last.
func offsets(b *memory.Buffer, at, n, width int, visit func([]byte)) (from, to int) {
	if b == nil || b.Len() == 0 {
		return 0, 0
	}
	p := b.Bytes()[at*width : (at+n+1)*width]
	visit(p)
	if width == 4 {
		return int(binary.LittleEndian.Uint32(p)), int(binary.LittleEndian.Uint32(p[n*4:]))
	}
	return int(binary.LittleEndian.Uint64(p)), int(binary.LittleEndian.Uint64(p[n*8:]))
}

// Size is the number of bytes that the rows of a batch occupy, without what
// their buffers hold before and after them.
func Size(rec arrow.RecordBatch) (total int64) {
	for _, col := range rec.Columns() {
		d := col.Data()
		Walk(d, 0, d.Len(), func(p []byte) { total += int64(len(p)) })
	}
	return total
}
