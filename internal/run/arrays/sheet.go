// Package arrays writes the rows of a dataset's parts once more, as files for
// NumPy beside them: each split's parts are read back, in their order, and all
// of its arrays are written side by side. Once they are permanent there is a
// checkpoint.
package arrays

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format/npy"
)

// Sheet is one array of any split: columns of numbers side by side, which become
// one type, or a single column as it is.
type Sheet struct {
	Name    func(split string) string // of its file
	Columns []string
	// Type is float32, float64 or int64; null is NaN, of which int64 has none.
	Type   arrow.FixedWidthDataType
	Vector bool // of one dimension: there is one column

	plain *npy.Column // the one column as it is; nil: Type says what becomes of it
}

// Plain is a column of numbers, or of lists of so many, in a file that has its
// name. Any other column is ErrUsage.
func Plain(f arrow.Field) (*Sheet, error) {
	c, err := npy.ColumnOf(f)
	if err != nil {
		return nil, err
	}
	return &Sheet{Name: func(string) string { return f.Name + ".npy" }, Columns: []string{f.Name}, Type: c.Type(), plain: &c}, nil
}

// Names are those of the sheets' files, in the order in which they are written.
func Names(sheets []*Sheet, splits []string) (names []string) {
	for _, split := range splits {
		for _, s := range sheets {
			names = append(names, s.Name(split))
		}
	}
	return names
}

// row is the bytes of a row.
func (s *Sheet) row() int {
	if s.plain != nil {
		return s.plain.Row()
	}
	return len(s.Columns) * s.Type.Bytes()
}

func (s *Sheet) shape(rows int64) []int64 {
	switch {
	case s.plain != nil:
		return s.plain.Shape(rows)
	case s.Vector:
		return []int64{rows}
	}
	return []int64{rows, int64(len(s.Columns))}
}

// describe is what the manifest says of a sheet's file.
func (s *Sheet) describe(p dataset.Part) dataset.Array {
	return dataset.Array{Part: p, Shape: s.shape(p.Rows), Dtype: s.Type.Name(), Columns: append([]string{}, s.Columns...)}
}

// tabled is columns of a batch as rows of an array.
type tabled interface {
	// take sets the columns: those of rec at these places.
	take(rec arrow.RecordBatch, at []int)
	// rows writes n rows of them, from one on, to the front of dst.
	rows(dst []byte, from, n int)
}

func (s *Sheet) table() tabled {
	if s.plain != nil {
		return &copied{as: s.plain}
	}
	switch s.Type.ID() {
	case arrow.FLOAT32:
		return &table[float32]{cast: arrow.Float32Traits.CastFromBytes}
	case arrow.FLOAT64:
		return &table[float64]{cast: arrow.Float64Traits.CastFromBytes}
	}
	return &table[int64]{cast: arrow.Int64Traits.CastFromBytes}
}

// copied is a column that is an array as it is.
type copied struct {
	as     *npy.Column
	values arrow.Array // borrowed from the batch
}

func (c *copied) take(rec arrow.RecordBatch, at []int) { c.values = rec.Column(at[0]) }

func (c *copied) rows(dst []byte, from, n int) { c.as.Copy(dst, c.values, from, n) }

// misfit is the first value of a column that has no place in the array; "": none.
func (s *Sheet) misfit(c arrow.Array) (row int, why string) {
	switch {
	case s.plain != nil:
		if row := npy.Null(c); row >= 0 {
			return row, "null, or has one in it"
		}
	case s.Vector:
		return NoInteger(c)
	}
	return 0, ""
}

// NoInteger is the first value that is no int64, in a column that has no
// fractions; "": none.
func NoInteger(c arrow.Array) (row int, why string) {
	if arrow.IsFloating(c.DataType().ID()) {
		return 0, ""
	}
	if row := npy.Null(c); row >= 0 {
		return row, "null, which is no integer"
	}
	if big, ok := c.(*array.Uint64); ok {
		for i, v := range big.Uint64Values() {
			if v>>63 != 0 {
				return i, fmt.Sprintf("%d, which is no int64", v)
			}
		}
	}
	return 0, ""
}
