package profile

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// fineBins is how many bins values are counted in; people are shown fewer.
const fineBins = 1024

// Shapes count how the values of some columns are distributed. Nothing has to
// be known of them beforehand: the bins are as wide as the smallest power of
// two with which the range seen so far fits, and begin at its multiples, so
// that two become one without a remainder when the range grows. What comes out
// depends on the values alone, not on their order.
type Shapes struct {
	columns []int // of the batches
	names   []string
	grids   []grid
}

// NewShapes begins shapes of the columns with these names; those that are not
// there, or are not numbers, are left out.
func NewShapes(schema *arrow.Schema, names []string) *Shapes {
	s := new(Shapes)
	for _, name := range names {
		at := schema.FieldIndices(name)
		if len(at) != 1 || !Numeric(schema.Field(at[0]).Type) {
			continue
		}
		s.columns, s.names = append(s.columns, at[0]), append(s.names, name)
	}
	s.grids = make([]grid, len(s.columns))
	for i := range s.grids {
		s.grids[i].lo, s.grids[i].hi = math.Inf(1), math.Inf(-1)
	}
	return s
}

// ShapesCost is about the bytes on the Go heap of Shapes of so many columns,
// and of what Append gives.
func ShapesCost(columns int) int64 { return 1<<10 + int64(columns)*(fineBins*(8+10)+1<<10) }

// Add adds the rows of a batch, or those that rows names.
func (s *Shapes) Add(rec arrow.RecordBatch, rows []int32) {
	var buf [scratch]float64
	for i, c := range s.columns {
		g := &s.grids[i]
		in := chunks{col: rec.Column(c), rows: rows}
		for v, _, ok := in.next(&buf); ok; v, _, ok = in.next(&buf) {
			g.add(v)
		}
	}
}

// Merge adds what another, of the same columns, has counted.
func (s *Shapes) Merge(o *Shapes) {
	for i := range s.grids {
		s.grids[i].merge(&o.grids[i])
	}
}

// grid counts the values of one column.
type grid struct {
	lo, hi float64 // of the values; lo > hi: none
	exp    int     // a bin is 2^exp wide
	first  int64   // number of the first bin; bin n begins at n * 2^exp
	counts [fineBins]int64
}

// add counts values; those that are not finite are left out.
func (g *grid) add(v []float64) {
	lo, hi := g.lo, g.hi
	for _, x := range v {
		if (x < lo || x > hi) && isFinite(x) {
			lo, hi = min(lo, x), max(hi, x)
		}
	}
	if lo > hi {
		return
	}
	g.widen(lo, hi)
	a, b := powers(-g.exp)
	for _, x := range v {
		if isFinite(x) {
			g.counts[int64(math.Floor(x*a*b))-g.first]++
		}
	}
}

// widen makes the bins hold a range, which holds that of the values so far.
func (g *grid) widen(lo, hi float64) {
	if lo == g.lo && hi == g.hi {
		return
	}
	exp, first := fit(lo, hi)
	if g.lo <= g.hi {
		var wider [fineBins]int64
		for i, n := range g.counts {
			if n > 0 {
				wider[(g.first+int64(i))>>min(63, exp-g.exp)-first] += n
			}
		}
		g.counts = wider
	}
	g.lo, g.hi, g.exp, g.first = lo, hi, exp, first
}

// merge adds the counts of another.
func (g *grid) merge(o *grid) {
	if o.lo > o.hi {
		return
	}
	g.widen(min(g.lo, o.lo), max(g.hi, o.hi))
	for i, n := range o.counts {
		if n > 0 {
			g.counts[(o.first+int64(i))>>min(63, g.exp-o.exp)-g.first] += n
		}
	}
}

// fit is the smallest exponent with which bins hold a range and are numbered
// exactly, and the number of the first.
func fit(lo, hi float64) (exp int, first int64) {
	const most = 1 << 50 // numbers of bins are exact as float64
	// The most that is surely not too much: few steps are left from there.
	exp = max(magnitude(max(math.Abs(lo), math.Abs(hi)))-51, magnitude(hi/2-lo/2)-10, leastExp)
	for {
		from, to := bin(lo, exp), bin(hi, exp)
		if to-from < fineBins && max(math.Abs(from), math.Abs(to)) <= most {
			return exp, int64(from)
		}
		exp++
	}
}

// leastExp is that of bins of denormal numbers.
const leastExp = -1060

// magnitude is the exponent of the power of two above x, which is not negative.
func magnitude(x float64) int {
	if x == 0 {
		return leastExp
	}
	_, exp := math.Frexp(x)
	return exp
}

// powers are two whose product is 2^exp, which may be beyond float64.
func powers(exp int) (a, b float64) { return math.Ldexp(1, exp/2), math.Ldexp(1, exp-exp/2) }

// bin is the number of the bin of a width that x lies in.
func bin(x float64, exp int) float64 {
	a, b := powers(-exp)
	return math.Floor(x * a * b)
}

// Histogram is the shape of one column, for people.
type Histogram struct {
	Column string `json:"column"`
	// Min and Max are those of all values.
	Min float64 `json:"min"`
	Max float64 `json:"max"`
	// Counts are of values from Lo on, each bar Width wide.
	Lo     float64 `json:"lo"`
	Width  float64 `json:"width"`
	Counts []int64 `json:"counts"`
	// Below and Above are values so far away that nothing else could be seen
	// if they were shown; at most one in a hundred.
	Below int64 `json:"below,omitempty"`
	Above int64 `json:"above,omitempty"`
}

// Histograms are the shapes, of at most so many bars. A column without values
// has no counts.
func (s *Shapes) Histograms(bars int) []Histogram {
	out := make([]Histogram, len(s.grids))
	for i := range s.grids {
		out[i] = s.grids[i].histogram(bars)
		out[i].Column = s.names[i]
	}
	return out
}

func (g *grid) histogram(bars int) (h Histogram) {
	if g.lo > g.hi {
		return h
	}
	from, to := g.window()
	each := g.binsEach(from, to, bars)
	h.Min, h.Max = g.lo, g.hi
	h.Lo, h.Width = math.Ldexp(float64(g.first+int64(from)), g.exp), math.Ldexp(float64(each), g.exp)
	h.Counts = make([]int64, (to-from+each-1)/each)
	for i, n := range g.counts {
		switch {
		case i < from:
			h.Below += n
		case i >= to:
			h.Above += n
		default:
			h.Counts[(i-from)/each] += n
		}
	}
	return h
}

// binsEach is how many bins make a bar, of at most so many. Values that lie
// apart, as whole numbers do, get a bar each if there are few.
func (g *grid) binsEach(from, to, bars int) int {
	apart, last, some := to-from, -1, 0
	for i, n := range g.counts[from:to] {
		if n == 0 {
			continue
		}
		if last >= 0 {
			apart = min(apart, i-last)
		}
		last = i
		some++
	}
	if some > 1 && apart > 1 && (to-from+apart-1)/apart <= bars {
		return apart
	}
	return evenly(to-from, bars)
}

// evenly is how many of n bins make a bar, of at most so many and not many
// less: that with which the last bar is nearly as full as the others.
func evenly(n, bars int) int {
	smallest := (n + bars - 1) / bars
	best := smallest
	waste := best*((n+best-1)/best) - n
	for each := smallest + 1; each <= smallest+smallest/2; each++ {
		if w := each*((n+each-1)/each) - n; w < waste {
			best, waste = each, w
		}
	}
	return best
}

// window is the bins worth showing: all, unless a hundredth of the values
// takes up most of the room.
func (g *grid) window() (from, to int) {
	last := int(int64(bin(g.hi, g.exp)) - g.first)
	total := int64(0)
	for _, n := range g.counts {
		total += n
	}
	tail := total / 200
	a, b := 0, last
	for sum := g.counts[a]; sum <= tail; sum += g.counts[a] {
		a++
	}
	for sum := g.counts[b]; sum <= tail; sum += g.counts[b] {
		b--
	}
	span := b - a + 1
	if span*3 > last+1 {
		return 0, last + 1
	}
	return max(0, a-span/4), min(last, b+span/4) + 1
}
