package profile

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// scratch is how many values are converted at a time: 8 KiB of float64.
const scratch = 1024

// chunks goes through the rows of a column of numbers, or those that rows
// names if it is not nil.
type chunks struct {
	col  arrow.Array
	rows []int32
	at   int // rows behind
}

// next sets buf to the next values that are not null, and says how many nulls
// were left out; false: there are no more rows.
func (c *chunks) next(buf *[scratch]float64) (v []float64, nulls int, ok bool) {
	n := c.col.Len()
	if c.rows != nil {
		n = len(c.rows)
	}
	if n -= c.at; n <= 0 {
		return nil, 0, false
	}
	n = min(n, scratch)
	var rows []int32
	if c.rows != nil {
		rows = c.rows[c.at : c.at+n]
	}
	v = buf[:n]
	convert(v, c.col, c.at, rows)
	k := n
	if c.col.NullN() > 0 {
		k = closeUp(v, c.col, c.at, rows)
	}
	c.at += n
	return v[:k], n - k, true
}

// closeUp moves the values that are not null together and counts them.
func closeUp(v []float64, col arrow.Array, from int, rows []int32) int {
	valid, off := col.NullBitmapBytes(), col.Data().Offset()
	n := 0
	for i, x := range v {
		r := off + from + i
		if rows != nil {
			r = off + int(rows[i])
		}
		v[n] = x
		n += int(valid[r>>3] >> (r & 7) & 1)
	}
	return n
}

// convert sets dst to the values of rows, or to those from a row on.
func convert(dst []float64, col arrow.Array, from int, rows []int32) {
	switch a := col.(type) {
	case *array.Float64:
		numbers(dst, a.Float64Values(), from, rows)
	case *array.Float32:
		numbers(dst, a.Float32Values(), from, rows)
	case *array.Int64:
		numbers(dst, a.Int64Values(), from, rows)
	case *array.Int32:
		numbers(dst, a.Int32Values(), from, rows)
	case *array.Int16:
		numbers(dst, a.Int16Values(), from, rows)
	case *array.Int8:
		numbers(dst, a.Int8Values(), from, rows)
	case *array.Uint64:
		numbers(dst, a.Uint64Values(), from, rows)
	case *array.Uint32:
		numbers(dst, a.Uint32Values(), from, rows)
	case *array.Uint16:
		numbers(dst, a.Uint16Values(), from, rows)
	case *array.Uint8:
		numbers(dst, a.Uint8Values(), from, rows)
	default:
		pick(dst, col, from, rows)
	}
}

// plain is what lies in a column as it is.
type plain interface {
	int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64
}

func numbers[T plain](dst []float64, src []T, from int, rows []int32) {
	if rows == nil {
		for i, x := range src[from : from+len(dst)] {
			dst[i] = float64(x)
		}
		return
	}
	for i, r := range rows {
		dst[i] = float64(src[r])
	}
}

// pick is convert for types that are rare.
func pick(dst []float64, col arrow.Array, from int, rows []int32) {
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

// isFinite says that x is neither NaN nor infinite.
func isFinite(x float64) bool { return x-x == 0 }
