package layout

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Floats sets dst to the values of the rows of col from a row on, or to those
// that rows names if it is not nil: integers, floats and bools. What it sets for
// nulls is of no meaning.
func Floats(dst []float64, col arrow.Array, from int, rows []int32) {
	switch a := col.(type) {
	case *array.Float64:
		convert(dst, a.Float64Values(), from, rows)
	case *array.Float32:
		convert(dst, a.Float32Values(), from, rows)
	case *array.Int64:
		convert(dst, a.Int64Values(), from, rows)
	case *array.Int32:
		convert(dst, a.Int32Values(), from, rows)
	case *array.Int16:
		convert(dst, a.Int16Values(), from, rows)
	case *array.Int8:
		convert(dst, a.Int8Values(), from, rows)
	case *array.Uint64:
		convert(dst, a.Uint64Values(), from, rows)
	case *array.Uint32:
		convert(dst, a.Uint32Values(), from, rows)
	case *array.Uint16:
		convert(dst, a.Uint16Values(), from, rows)
	case *array.Uint8:
		convert(dst, a.Uint8Values(), from, rows)
	default:
		rare(dst, col, from, rows)
	}
}

// plain is what lies in a column as it is.
type plain interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func convert[T plain](dst []float64, src []T, from int, rows []int32) {
	if rows == nil {
		src = src[from : from+len(dst)]
		dst = dst[:len(src)]
		for i, x := range src {
			dst[i] = float64(x)
		}
		return
	}
	dst = dst[:len(rows)]
	for i, r := range rows {
		dst[i] = float64(src[r])
	}
}

// rare is Floats for types that are.
func rare(dst []float64, col arrow.Array, from int, rows []int32) {
	for i := range dst {
		r := from + i
		if rows != nil {
			r = int(rows[i])
		}
		dst[i] = 0
		switch a := col.(type) {
		case *array.Boolean:
			if a.Value(r) {
				dst[i] = 1
			}
		case *array.Float16:
			dst[i] = float64(a.Value(r).Float32())
		}
	}
}
