package scale

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// fillRegion makes the outputs of one column: the first lies where region
// begins, each other a stride behind the one before.
func fillRegion[F float32 | float64](a *applied, region []F, stride int, col arrow.Array, n int, rows []int32, s *scratch) error {
	if a.work.encode != noEncode {
		encode(a, region, stride, col, n, rows, s)
		return nil
	}
	for from := 0; from < n; from += chunk {
		k := min(chunk, n-from)
		part := rows
		if rows != nil {
			part = rows[from : from+k]
		}
		v, _ := numbers(s.values, col, from, k, part)
		if a.c.Fill != nil {
			v = fillGaps(s.values, v, *a.c.Fill)
		}
		if calculate(a, region[from:from+k], v) || !a.work.strict() {
			continue
		}
		for i, x := range v {
			if math.IsInf(x, 0) {
				row := from + i
				if rows != nil {
					row = int(rows[row])
				}
				return format.Error(format.ErrData, "row %d of its batch: %v cannot be scaled; use clip, or leave the row out", row, x)
			}
		}
	}
	return nil
}

// fillGaps copies v to dst, which may be v, with fill for NaN.
func fillGaps(dst, v []float64, fill float64) []float64 {
	dst = dst[:len(v)]
	for i, x := range v {
		if x != x {
			x = fill
		}
		dst[i] = x
	}
	return dst
}

// calculate scales v. It is false when there may be values among it that are
// not finite.
func calculate[F float32 | float64](a *applied, dst []F, v []float64) bool {
	c := a.c
	center, sum := 0.0, 0.0
	switch a.work.scale {
	case minmax:
		if c.Factor == nil || c.Shift == nil {
			return unknown(dst, v)
		}
		sum = linear(dst, v, *c.Factor, *c.Shift)
	case standard, robust, maxabs:
		if c.Divisor == nil || c.Center == nil && a.work.scale != maxabs {
			return unknown(dst, v)
		}
		if c.Center != nil {
			center = *c.Center
		}
		if inverse := 1 / *c.Divisor; inverse > 1e-300 && inverse < 1e300 {
			sum = affine(dst, v, center, inverse)
		} else {
			sum = divide(dst, v, center, *c.Divisor)
		}
	case log1p:
		for i, x := range v {
			dst[i] = F(math.Log1p(x))
		}
	case clip:
		lo, hi := a.work.lo, a.work.hi
		for i, x := range v {
			if x < lo {
				x = lo
			} else if x > hi {
				x = hi
			}
			dst[i] = F(x)
		}
	default:
		for i, x := range v {
			dst[i] = F(x)
		}
		sum = math.NaN()
	}
	return sum-sum == 0
}

// unknown is the output of a column that a fit saw no value of.
func unknown[F float32 | float64](dst []F, v []float64) bool {
	for i := range v {
		dst[i] = F(math.NaN())
	}
	return false
}

// affine is (x - center) * inverse. What it returns is finite only if all x
// are.
func affine[F float32 | float64](dst []F, v []float64, center, inverse float64) float64 {
	dst = dst[:len(v)]
	var s0, s1, s2, s3 float64
	for len(v) >= 4 && len(dst) >= 4 {
		y0, y1, y2, y3 := (v[0]-center)*inverse, (v[1]-center)*inverse, (v[2]-center)*inverse, (v[3]-center)*inverse
		dst[0], dst[1], dst[2], dst[3] = F(y0), F(y1), F(y2), F(y3)
		s0, s1, s2, s3 = s0+y0, s1+y1, s2+y2, s3+y3
		v, dst = v[4:], dst[4:]
	}
	for i, x := range v {
		y := (x - center) * inverse
		dst[i] = F(y)
		s0 += y
	}
	return s0 + s1 + s2 + s3
}

// divide is affine for divisors whose inverse has lost digits.
func divide[F float32 | float64](dst []F, v []float64, center, divisor float64) (sum float64) {
	for i, x := range v {
		y := (x - center) / divisor
		dst[i] = F(y)
		sum += y
	}
	return sum
}

// linear is x * factor + shift, rounded twice as scikit-learn does. What it
// returns is finite only if all x are.
func linear[F float32 | float64](dst []F, v []float64, factor, shift float64) float64 {
	dst = dst[:len(v)]
	var s0, s1, s2, s3 float64
	for len(v) >= 4 && len(dst) >= 4 {
		y0, y1 := float64(v[0]*factor)+shift, float64(v[1]*factor)+shift
		y2, y3 := float64(v[2]*factor)+shift, float64(v[3]*factor)+shift
		dst[0], dst[1], dst[2], dst[3] = F(y0), F(y1), F(y2), F(y3)
		s0, s1, s2, s3 = s0+y0, s1+y1, s2+y2, s3+y3
		v, dst = v[4:], dst[4:]
	}
	for i, x := range v {
		y := float64(x*factor) + shift
		dst[i] = F(y)
		s0 += y
	}
	return s0 + s1 + s2 + s3
}

// encode makes the outputs of a column of categories; the k-th begins at
// k*stride.
func encode[F float32 | float64](a *applied, region []F, stride int, col arrow.Array, n int, rows []int32, s *scratch) {
	if a.work.encode != ordinal {
		for k := range a.width {
			clear(region[k*stride:][:n])
		}
	}
	value := textOf(col)
	for i := range n {
		r := i
		if rows != nil {
			r = int(rows[i])
		}
		var key []byte
		null, nan := absent(col, r)
		missing := null || nan
		if !missing {
			key = value(s.text, r)
		} else if a.c.FillText != nil {
			key, missing = a.fill, false
		}
		switch a.work.encode {
		case hashed:
			if !missing {
				at, sign := bucket(key, a.work.width)
				region[at*stride+i] = F(sign)
			}
		case onehot:
			if at := a.place(key, missing); at >= 0 {
				region[at*stride+i] = 1
			}
		case ordinal:
			if missing {
				region[i] = F(math.NaN())
			} else {
				region[i] = F(a.code(key))
			}
		}
	}
}

// code is the place of a category among those of the column: that of the rest
// where it is not one of them, or -1.
func (a *applied) code(key []byte) int {
	if code, ok := a.table.get(key); ok {
		return int(code)
	}
	if a.c.Other > 0 {
		return len(a.c.Categories)
	}
	return -1
}

// place is which output of onehot is 1; -1: none.
func (a *applied) place(key []byte, missing bool) int {
	n := len(a.c.Categories)
	if missing {
		if a.c.missing() {
			return n
		}
		return -1
	}
	code := a.code(key)
	if code == n && a.c.missing() {
		return n + 1
	}
	return code
}
