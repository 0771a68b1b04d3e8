package npy

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Column is a column as an array of its own: of one dimension, or of two where
// its values are fixed-size lists.
type Column struct{ m *matrix }

// ColumnOf refuses with ErrUsage a column that is no such array.
func ColumnOf(f arrow.Field) (Column, error) {
	m, err := newMatrix(arrow.NewSchema([]arrow.Field{f}, nil))
	return Column{m}, err
}

// Type is that of the values.
func (c Column) Type() arrow.FixedWidthDataType { return c.m.typ.(arrow.FixedWidthDataType) }

// Row is the bytes of a row.
func (c Column) Row() int { return c.m.row() }

// Shape is that of an array of so many rows.
func (c Column) Shape(rows int64) []int64 {
	if c.m.vector {
		return []int64{rows}
	}
	return []int64{rows, int64(c.m.values())}
}

// Copy puts n rows of the column's values, from one on, into dst. None may be null.
func (c Column) Copy(dst []byte, values arrow.Array, from, n int) {
	c.m.copy(dst, values, from, n, c.m.counts[0])
}

// Null is the first row that is null, or a list with a null in it; less than 0:
// there is none.
func Null(c arrow.Array) int {
	list, ok := c.(*array.FixedSizeList)
	if c.NullN() == 0 && (!ok || list.ListValues().NullN() == 0) {
		return -1
	}
	for i := range c.Len() {
		if c.IsNull(i) {
			return i
		}
		if !ok {
			continue
		}
		for from, to := list.ValueOffsets(i); from < to; from++ {
			if list.ListValues().IsNull(int(from)) {
				return i
			}
		}
	}
	return -1
}
