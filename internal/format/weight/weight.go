// Package weight tells what rows take in memory, about: the same for a row in
// whatever batch it comes, so that what ends at a weight does not depend on how
// rows were cut.
package weight

import (
	"encoding/binary"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Scales weigh rows.
type Scales struct {
	Fixed int32 // of the columns whose values have one size, and of offsets
	Vary  []int // columns of the input with values that do not
}

// New weighs rows of a schema that become rows of another.
func New(in, out *arrow.Schema) *Scales {
	s := &Scales{}
	total := 0
	for _, f := range out.Fields() {
		total += fixedBytes(f.Type)
	}
	s.Fixed = int32(min(max(total, 1), math.MaxInt32/2))
	for i, f := range in.Fields() {
		if varies(f.Type) {
			s.Vary = append(s.Vary, i)
		}
	}
	return s
}

// fixedBytes is what every value of a type takes.
func fixedBytes(t arrow.DataType) int {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return fixedBytes(t.StorageType())
	case *arrow.StructType:
		n := 1
		for _, f := range t.Fields() {
			n += fixedBytes(f.Type)
		}
		return n
	case *arrow.FixedSizeListType:
		return 1 + int(min(int64(t.Len())*int64(fixedBytes(t.Elem())), math.MaxInt32/4))
	case *arrow.DictionaryType:
		return fixedBytes(t.IndexType)
	case arrow.FixedWidthDataType:
		return (t.BitWidth() + 7) / 8
	}
	return 8
}

// varies says that values of a type have different sizes.
func varies(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return varies(t.StorageType())
	case *arrow.StructType:
		for _, f := range t.Fields() {
			if varies(f.Type) {
				return true
			}
		}
		return false
	case *arrow.FixedSizeListType:
		return varies(t.Elem())
	case arrow.FixedWidthDataType, *arrow.DictionaryType, *arrow.NullType:
		return false
	}
	return true
}

// Rows sets dst to the weights of the rows of rec.
func (s *Scales) Rows(dst []int32, rec arrow.RecordBatch) {
	dst = dst[:rec.NumRows()]
	for i := range dst {
		dst[i] = s.Fixed
	}
	for _, c := range s.Vary {
		switch a := rec.Column(c).(type) {
		case *array.String:
			addLengths(dst, a.ValueOffsets())
		case *array.Binary:
			addLengths(dst, a.ValueOffsets())
		default:
			d := a.Data()
			for i := range dst {
				dst[i] = int32(min(int64(dst[i])+extent(d, i, 1), math.MaxInt32))
			}
		}
	}
}

// addLengths adds the lengths of texts, of which those of a batch are less
// than 2^31 bytes.
func addLengths(dst, offsets []int32) {
	if len(offsets) <= len(dst) {
		return // of no rows there may be none
	}
	for i := range dst {
		dst[i] = int32(min(int64(dst[i])+int64(offsets[i+1]-offsets[i]), math.MaxInt32))
	}
}

// Sum is the weight of the first n rows of rec.
func (s *Scales) Sum(rec arrow.RecordBatch, n int) int64 {
	total := int64(n) * int64(s.Fixed)
	for _, c := range s.Vary {
		total += extent(rec.Column(c).Data(), 0, n)
	}
	return total
}

// Heaviest is what the heaviest row of rec has beside what is fixed; at least
// so much.
func (s *Scales) Heaviest(rec arrow.RecordBatch, least int64) int64 {
	if len(s.Vary) == 0 {
		return least
	}
	return s.heavier(rec, 0, int(rec.NumRows()), least)
}

// heavier is Heaviest of n rows from i on.
func (s *Scales) heavier(rec arrow.RecordBatch, i, n int, least int64) int64 {
	total := int64(0)
	for _, c := range s.Vary {
		total += extent(rec.Column(c).Data(), i, n)
	}
	if n < 2 || total <= least {
		return max(total, least)
	}
	return s.heavier(rec, i+n/2, n-n/2, s.heavier(rec, i, n/2, least))
}

// extent is the bytes that n values from i on take beside fixedBytes.
func extent(d arrow.ArrayData, i, n int) (total int64) {
	t := d.DataType()
	if ext, ok := t.(arrow.ExtensionType); ok {
		t = ext.StorageType()
	}
	at := d.Offset() + i
	elements := func(width int) (from, to int) {
		if len(d.Buffers()) < 2 || d.Buffers()[1] == nil {
			return 0, 0
		}
		b := d.Buffers()[1].Bytes()[at*width:]
		if width == 4 {
			return int(int32(binary.LittleEndian.Uint32(b))), int(int32(binary.LittleEndian.Uint32(b[4*n:])))
		}
		return int(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[8*n:]))
	}
	values := func(from, to int) int64 {
		child := d.Children()[0]
		return int64(to-from)*int64(fixedBytes(child.DataType())) + extent(child, from, to-from)
	}
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		from, to := elements(4)
		return int64(to - from)
	case *arrow.LargeStringType, *arrow.LargeBinaryType:
		from, to := elements(8)
		return int64(to - from)
	case *arrow.ListType, *arrow.MapType:
		if from, to := elements(4); to > from {
			return values(from, to)
		}
	case *arrow.LargeListType:
		if from, to := elements(8); to > from {
			return values(from, to)
		}
	case *arrow.FixedSizeListType:
		if varies(t.Elem()) {
			return extent(d.Children()[0], at*int(t.Len()), n*int(t.Len()))
		}
	case *arrow.StructType:
		for _, c := range d.Children() {
			if varies(c.DataType()) {
				total += extent(c, at, n)
			}
		}
	}
	return total
}
