package arrays

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// cell is a number as arrays have it.
type cell interface{ float32 | float64 | int64 }

const (
	// interleaveBytes is the rows that are put together at a time: they stay in
	// a core's nearest cache while the columns are written into them one
	// after another.
	interleaveBytes = 16 << 10
	// interleaveRows is the least of them: a cache line of each column.
	interleaveRows = 16
	// abreast is how many columns are written at once.
	abreast = 8
)

// table is columns of a batch as rows of T.
type table[T cell] struct {
	cast  func([]byte) []T
	cols  []arrow.Array // borrowed from the batch
	plain [][]T         // their values, where they are T already and none is null; else nil
}

// take sets the columns: those of rec at these places.
func (t *table[T]) take(rec arrow.RecordBatch, at []int) {
	t.cols, t.plain = t.cols[:0], t.plain[:0]
	for _, i := range at {
		c := rec.Column(i)
		var values []T
		if c.NullN() == 0 {
			switch c := c.(type) {
			case *array.Float32:
				values, _ = any(c.Float32Values()).([]T)
			case *array.Float64:
				values, _ = any(c.Float64Values()).([]T)
			case *array.Int64:
				values, _ = any(c.Int64Values()).([]T)
			}
		}
		t.cols, t.plain = append(t.cols, c), append(t.plain, values)
	}
}

// rows writes n rows of the columns, from the batch's row from on, to the front
// of dst.
func (t *table[T]) rows(dst []byte, from, n int) {
	width := len(t.cols)
	if width == 0 {
		return
	}
	out := t.cast(dst)[:n*width]
	step := max(interleaveRows, interleaveBytes*n/max(1, len(dst)))
	for at := 0; at < n; at += step {
		k := min(step, n-at)
		block := out[at*width : (at+k)*width]
		for c := 0; c < width; {
			if c+abreast <= width && allPlain(t.plain[c:c+abreast]) {
				eight(block[c:], width, t.plain[c:c+abreast], from+at, k)
				c += abreast
				continue
			}
			if p := t.plain[c]; p != nil {
				place(block[c:], width, p[from+at:from+at+k])
			} else {
				convert(block[c:], width, t.cols[c], from+at, k)
			}
			c++
		}
	}
}

func allPlain[T cell](cols [][]T) bool {
	for _, c := range cols {
		if c == nil {
			return false
		}
	}
	return true
}

// eight writes n values of eight columns, from the value from on: those with
// one index side by side, width apart from the next.
func eight[T cell](dst []T, width int, cols [][]T, from, n int) {
	c0, c1, c2, c3 := cols[0][from:from+n], cols[1][from:from+n], cols[2][from:from+n], cols[3][from:from+n]
	c4, c5, c6, c7 := cols[4][from:from+n], cols[5][from:from+n], cols[6][from:from+n], cols[7][from:from+n]
	c1, c2, c3 = c1[:len(c0)], c2[:len(c0)], c3[:len(c0)]
	c4, c5, c6, c7 = c4[:len(c0)], c5[:len(c0)], c6[:len(c0)], c7[:len(c0)]
	for i := range c0 {
		d := (*[abreast]T)(dst[i*width:])
		d[0], d[1], d[2], d[3] = c0[i], c1[i], c2[i], c3[i]
		d[4], d[5], d[6], d[7] = c4[i], c5[i], c6[i], c7[i]
	}
}

// place writes one column, its values width apart.
func place[T cell, S cell | int8 | int16 | int32 | uint8 | uint16 | uint32 | uint64](dst []T, width int, src []S) {
	for i, v := range src {
		dst[i*width] = T(v)
	}
}

// convert is place for n values of any column of numbers, from its value from
// on; null is NaN, of which there is none in int64.
func convert[T cell](dst []T, width int, src arrow.Array, from, n int) {
	to := from + n
	switch a := src.(type) {
	case *array.Float32:
		place(dst, width, a.Float32Values()[from:to])
	case *array.Float64:
		place(dst, width, a.Float64Values()[from:to])
	case *array.Int8:
		place(dst, width, a.Int8Values()[from:to])
	case *array.Int16:
		place(dst, width, a.Int16Values()[from:to])
	case *array.Int32:
		place(dst, width, a.Int32Values()[from:to])
	case *array.Int64:
		place(dst, width, a.Int64Values()[from:to])
	case *array.Uint8:
		place(dst, width, a.Uint8Values()[from:to])
	case *array.Uint16:
		place(dst, width, a.Uint16Values()[from:to])
	case *array.Uint32:
		place(dst, width, a.Uint32Values()[from:to])
	case *array.Uint64:
		place(dst, width, a.Uint64Values()[from:to])
	case *array.Float16:
		for i, v := range a.Values()[from:to] {
			dst[i*width] = T(v.Float32())
		}
	case *array.Boolean:
		for i := range n {
			dst[i*width] = 0
			if a.Value(from + i) {
				dst[i*width] = 1
			}
		}
	}
	if src.NullN() == 0 {
		return
	}
	nan := T(math.NaN())
	for i := range n {
		if src.IsNull(from + i) {
			dst[i*width] = nan
		}
	}
}
