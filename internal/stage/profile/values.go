package profile

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/layout"
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
	layout.Floats(v, c.col, c.at, rows)
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

// isFinite says that x is neither NaN nor infinite.
func isFinite(x float64) bool { return x-x == 0 }
