package scale

import "math"

// moments are count, sum, squares, least and largest of a column's values.
type moments struct {
	sum, squares exact
	count        int64 // of values in whole blocks
	wide         bool  // squares, or the sum, went beyond float64
	open         lanes // the block that is not whole
}

// lanes sum the values of one block as distances from its first, so that
// nothing is lost to a large common offset. The n-th value goes to lane n mod
// 4: a fixed order that keeps four additions under way.
type lanes struct {
	n        int64
	pivot    float64
	sum      [4]float64
	squares  [4]float64
	min, max float64 // of all values of the column so far
}

// add adds values in their order. It is false, and of no effect, when there may
// be values among them that are not finite.
func (l *lanes) add(v []float64) bool {
	before := *l
	l.addAny(v)
	if s := l.total(); s-s != 0 {
		*l = before
		return false
	}
	return true
}

// total is the sum of the lanes in a fixed order.
func (l *lanes) total() float64 { return (l.sum[0] + l.sum[1]) + (l.sum[2] + l.sum[3]) }

// one adds one value.
func (l *lanes) one(x float64) {
	d := x - l.pivot
	l.sum[l.n&3] += d
	l.squares[l.n&3] += float64(d * d)
	l.min, l.max = least(l.min, x), largest(l.max, x)
	l.n++
}

func least(a, x float64) float64 {
	if x < a {
		return x
	}
	return a
}

func largest(a, x float64) float64 {
	if x > a {
		return x
	}
	return a
}

// addAny is add without looking back. Products are converted so that no
// machine joins them with the addition behind, which would round differently.
func (l *lanes) addAny(v []float64) {
	if len(v) > 0 && l.n == 0 {
		l.pivot = v[0]
	}
	for len(v) > 0 && l.n&3 != 0 {
		l.one(v[0])
		v = v[1:]
	}
	k, lo, hi := l.pivot, l.min, l.max
	a0, a1, a2, a3 := l.sum[0], l.sum[1], l.sum[2], l.sum[3]
	b0, b1, b2, b3 := l.squares[0], l.squares[1], l.squares[2], l.squares[3]
	l.n += int64(len(v) &^ 3)
	for ; len(v) >= 4; v = v[4:] {
		x0, x1, x2, x3 := v[0], v[1], v[2], v[3]
		if x0 < lo || x1 < lo || x2 < lo || x3 < lo || x0 > hi || x1 > hi || x2 > hi || x3 > hi {
			lo = least(least(least(least(lo, x0), x1), x2), x3)
			hi = largest(largest(largest(largest(hi, x0), x1), x2), x3)
		}
		d0, d1, d2, d3 := x0-k, x1-k, x2-k, x3-k
		a0, a1, a2, a3 = a0+d0, a1+d1, a2+d2, a3+d3
		b0 += float64(d0 * d0)
		b1 += float64(d1 * d1)
		b2 += float64(d2 * d2)
		b3 += float64(d3 * d3)
	}
	l.sum = [4]float64{a0, a1, a2, a3}
	l.squares = [4]float64{b0, b1, b2, b3}
	l.min, l.max = lo, hi
	for _, x := range v {
		l.one(x)
	}
}

// begin makes m ready for values.
func (m *moments) begin() {
	m.open.min, m.open.max = math.Inf(1), math.Inf(-1)
}

// end ends the open block.
func (m *moments) end() {
	l := &m.open
	if l.n == 0 {
		return
	}
	sum, squares := l.total(), (l.squares[0]+l.squares[1])+(l.squares[2]+l.squares[3])
	m.whole(l.n, l.pivot, sum, squares)
	*l = lanes{min: l.min, max: l.max}
}

// whole adds n values, of which the sums of the distances from pivot, and of
// their squares, are known.
func (m *moments) whole(n int64, pivot, sum, squares float64) {
	m.count += n
	if sum-sum != 0 || squares-squares != 0 {
		m.wide = true
		return
	}
	m.sum.add(pivot, 1, uint64(n))
	m.sum.add(sum, 1, 1)
	m.squares.add(squares, 1, 1)
	m.squares.add(pivot, sum, 2)
	m.squares.add(pivot, pivot, uint64(n))
}

// join adds what o has seen, both without an open block.
func (m *moments) join(o *moments) {
	m.sum.join(&o.sum)
	m.squares.join(&o.squares)
	m.count += o.count
	m.wide = m.wide || o.wide
	m.open.min, m.open.max = least(m.open.min, o.open.min), largest(m.open.max, o.open.max)
}

// spread is the mean and the sum of squared distances from it; not finite where
// they are not known.
func (m *moments) spread() (mean, m2 float64) {
	if m.count == 0 || m.wide {
		return math.NaN(), math.NaN()
	}
	return spread(&m.sum, &m.squares, m.count)
}
