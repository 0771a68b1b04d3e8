package profile

import "math"

// moments are what is known of the values of one column. Every slice of values
// is summed on its own and then joined by its mean, so that neither a large
// common offset nor the number of values costs digits.
type moments struct {
	count, nulls, nans, infs int64
	pivot                    float64 // a value among the first; the mean is counted from it
	mean, m2                 float64
	min, max                 float64
	wide                     bool // sums went beyond float64: mean and m2 are not known
}

func begun() moments { return moments{min: math.Inf(1), max: math.Inf(-1)} }

// numbers are nil where there are none.
func (m *moments) numbers() (mean, std, least, most *float64) {
	if m.count == 0 {
		return nil, nil, nil, nil
	}
	lo, hi := m.min, m.max
	if m.wide {
		return nil, nil, &lo, &hi
	}
	mid, dev := m.pivot+m.mean, math.Sqrt(m.m2/float64(m.count))
	return &mid, &dev, &lo, &hi
}

// join adds what o has seen.
func (m *moments) join(o *moments) {
	m.nulls += o.nulls
	m.nans += o.nans
	m.infs += o.infs
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	m.wide = m.wide || o.wide
	m.merge(o.count, o.pivot, o.mean, o.m2)
}

// merge adds n values, of which the mean, counted from a pivot, and the squared
// distances from it are known.
func (m *moments) merge(n int64, pivot, mean, m2 float64) {
	if n == 0 {
		return
	}
	if m.count == 0 {
		m.pivot = pivot
	}
	all := m.count + n
	d, share := pivot-m.pivot+mean-m.mean, float64(n)/float64(all)
	m.m2 += m2 + d*d*float64(m.count)*share
	m.mean += d * share
	m.count = all
	if m.m2-m.m2 != 0 || m.mean-m.mean != 0 {
		m.lost()
	}
}

// lost says that sums are beyond float64.
func (m *moments) lost() { m.wide, m.pivot, m.mean, m.m2 = true, 0, 0, 0 }

// float is what columns of numbers are summed as.
type float interface{ float32 | float64 }

// addFloats adds values, those that are not finite among them.
func addFloats[T float](m *moments, v []T) {
	if len(v) == 0 || addFinite(m, v) {
		return
	}
	var buf [scratch]float64
	for len(v) > 0 {
		n := min(len(v), scratch)
		k := finite(m, buf[:], v[:n])
		if k > 0 && !addFinite(m, buf[:k]) {
			m.tooWide(buf[:k])
		}
		v = v[n:]
	}
}

// addFinite is false, and of no effect, where values or their squares are not.
func addFinite[T float](m *moments, v []T) bool {
	if m.near() {
		if mean, squares, ok := addNear(m, v); ok || squares-squares != 0 || mean-mean != 0 {
			return ok
		}
	}
	return addFar(m, v)
}

// tooWide adds finite values whose squares are not.
func (m *moments) tooWide(v []float64) {
	for _, x := range v {
		m.min, m.max = min(m.min, x), max(m.max, x)
	}
	m.count += int64(len(v))
	m.lost()
}

// finite moves the values that are numbers to dst and counts the others.
func finite[T float](m *moments, dst []float64, v []T) int {
	n := 0
	for _, x := range v {
		y := float64(x)
		dst[n] = y
		if y-y == 0 {
			n++
		} else if y != y {
			m.nans++
		} else {
			m.infs++
		}
	}
	return n
}

// addFar adds values by their distances from the first. It is false, and of no
// effect, where sums are not finite.
func addFar[T float](m *moments, v []T) bool {
	k, lo, hi := float64(v[0]), m.min, m.max
	n := len(v)
	var a0, a1, b0, b1 float64
	for ; len(v) >= 4; v = v[4:] {
		x0, x1, x2, x3 := float64(v[0]), float64(v[1]), float64(v[2]), float64(v[3])
		if x0 < lo || x1 < lo || x2 < lo || x3 < lo || x0 > hi || x1 > hi || x2 > hi || x3 > hi {
			lo, hi = min(lo, x0, x1, x2, x3), max(hi, x0, x1, x2, x3)
		}
		x0, x1, x2, x3 = x0-k, x1-k, x2-k, x3-k
		a0 += x0 + x1
		a1 += x2 + x3
		b0 += x0*x0 + x1*x1
		b1 += x2*x2 + x3*x3
	}
	for _, t := range v {
		x := float64(t)
		lo, hi = min(lo, x), max(hi, x)
		a0 += x - k
		b0 += (x - k) * (x - k)
	}
	sum, squares := a0+a1, b0+b1
	if sum-sum != 0 || squares-squares != 0 {
		return false
	}
	m.min, m.max = lo, hi
	m.merge(int64(n), k, sum/float64(n), max(0, squares-sum/float64(n)*sum))
	return true
}

// inside is a square that lies within the range of the values, if that is
// about zero, by more than sums of four squares are rounded by.
func (m *moments) inside() float64 { return min(m.min*m.min, m.max*m.max) * (1 - 0x1p-20) }

// near says that addNear is worth trying: sums of four squares are seldom
// beyond the range, and not too large for what distances from the mean are.
func (m *moments) near() bool {
	if m.count == 0 || m.wide || m.min >= 0 || m.max <= 0 {
		return false
	}
	spread, offset := m.m2/float64(m.count), (m.pivot+m.mean)*(m.pivot+m.mean)
	return offset <= 16*spread && m.inside() >= 9*(spread+offset)
}

// addNear is addFar at half the cost, for values about zero that lie well
// inside the range seen so far, as standardised ones do: they need no pivot,
// and four of them are inside the range if the sum of their squares is. Four
// float32 are added up as such, which costs no more than their own rounding.
// It is false, and of no effect, where these values lie elsewhere after all, or
// their mean and the sum of their squares, which it gives, are not finite.
func addNear[T float](m *moments, v []T) (mean, squares float64, ok bool) {
	lo, hi, n := m.min, m.max, len(v)
	inside := T(m.inside())
	var a0, a1, b0, b1 float64
	for ; len(v) >= 8; v = v[8:] {
		x0, x1, x2, x3 := v[0], v[1], v[2], v[3]
		y0, y1, y2, y3 := v[4], v[5], v[6], v[7]
		p := (x0*x0 + x1*x1) + (x2*x2 + x3*x3)
		q := (y0*y0 + y1*y1) + (y2*y2 + y3*y3)
		a0 += float64((x0 + x1) + (x2 + x3))
		a1 += float64((y0 + y1) + (y2 + y3))
		b0 += float64(p)
		b1 += float64(q)
		if p > inside || q > inside {
			lo = min(lo, float64(min(x0, x1, x2, x3)), float64(min(y0, y1, y2, y3)))
			hi = max(hi, float64(max(x0, x1, x2, x3)), float64(max(y0, y1, y2, y3)))
		}
	}
	for _, t := range v {
		x := float64(t)
		lo, hi = min(lo, x), max(hi, x)
		a0 += x
		b0 += x * x
	}
	sum, squares := a0+a1, b0+b1
	mean = sum / float64(n)
	if squares-squares != 0 || mean-mean != 0 || mean*sum > squares/16*15 {
		return mean, squares, false
	}
	m.min, m.max = lo, hi
	m.merge(int64(n), 0, mean, squares-mean*sum)
	return mean, squares, true
}
