package order

import (
	"math"
	"math/bits"
	"slices"
	"sort"

	"github.com/weir-data/weir/internal/format"
)

// Mix is several datasets in one order. A dataset that is used up begins its own
// next epoch, whenever in the mix's epoch that is.
type Mix struct {
	plans   []*Plan
	bounds  []uint64 // sample slots [bounds[j], bounds[j+1]) are dataset j's
	samples int64
	stride  uint64
	seed    uint64
}

// Place is a sample of a mix: a position in an epoch of one of its datasets.
type Place struct {
	Set      int
	Epoch    int
	Position int64
}

// NewMix mixes plans by weights, of which only the ratios count; nil: by their
// rows. An epoch has samples samples; 0: as many as the plans have rows. In
// every epoch, and in every stretch of it, a dataset has its part of the
// samples to within a few.
func NewMix(plans []*Plan, weights []float64, samples int64, seed uint64) (*Mix, error) {
	if len(plans) == 0 || len(plans) > 1<<16 {
		return nil, format.Error(format.ErrUsage, "order: a mix of %d datasets; it has from 1 to %d", len(plans), 1<<16)
	}
	if weights != nil && len(weights) != len(plans) {
		return nil, format.Error(format.ErrUsage, "order: %d weights for %d datasets", len(weights), len(plans))
	}
	all := int64(0)
	for i, p := range plans {
		if p.rows == 0 {
			return nil, format.Error(format.ErrUsage, "order: dataset %d of the mix has no rows", i)
		}
		if all += p.rows; all > mostTotal {
			return nil, format.Error(format.ErrUsage, "order: a mix of more than %d rows", int64(mostTotal))
		}
	}
	if samples == 0 {
		samples = all
	}
	if samples < 0 || samples > mostTotal {
		return nil, format.Error(format.ErrUsage, "order: %d samples an epoch; it has from 1 to %d", samples, int64(mostTotal))
	}
	ratios, err := ratiosOf(plans, weights)
	if err != nil {
		return nil, err
	}
	m := &Mix{plans: plans, samples: samples, seed: seed, stride: strideOf(uint64(samples)), bounds: []uint64{0}}
	for _, n := range divide(uint64(samples), ratios) {
		m.bounds = append(m.bounds, m.bounds[len(m.bounds)-1]+n)
	}
	return m, nil
}

// ratiosOf turns weights into whole numbers, without sums of floats, which
// machines may round differently.
func ratiosOf(plans []*Plan, weights []float64) ([]uint64, error) {
	ratios := make([]uint64, len(plans))
	for i, p := range plans {
		ratios[i] = uint64(p.rows)
	}
	if weights == nil {
		return ratios, nil
	}
	most := slices.Max(weights)
	for i, w := range weights {
		if !(w > 0) || math.IsInf(w, 0) {
			return nil, format.Error(format.ErrUsage, "order: the weight of dataset %d is %v; weights are above 0", i, w)
		}
		ratios[i] = max(1, uint64(w/most*(1<<40)))
	}
	return ratios, nil
}

// divide splits n by ratios; what rounding leaves goes to those it took most
// from.
func divide(n uint64, ratios []uint64) []uint64 {
	total, left := uint64(0), n
	for _, r := range ratios {
		total += r
	}
	out, rest, most := make([]uint64, len(ratios)), make([]uint64, len(ratios)), make([]int, len(ratios))
	for i, r := range ratios {
		hi, lo := bits.Mul64(n, r)
		out[i], rest[i] = bits.Div64(hi, lo, total)
		left -= out[i]
		most[i] = i
	}
	sort.SliceStable(most, func(a, b int) bool { return rest[most[a]] > rest[most[b]] })
	for _, i := range most[:left] {
		out[i]++
	}
	return out
}

// strideOf is a number without common factor with n, near n divided by the
// golden ratio: its multiples modulo n fill every stretch of n evenly.
func strideOf(n uint64) uint64 {
	g, _ := bits.Mul64(n, gamma)
	for g = max(1, g); gcd(g, n) != 1; g++ {
	}
	return g % n
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Digest stands for the order of the mix, as a Plan's does for its own.
func (m *Mix) Digest() uint64 {
	d := key(uint64(m.samples), m.seed)
	for i, p := range m.plans {
		d = key(d, p.digest, m.bounds[i+1])
	}
	return d
}

// MixEpoch is the sequence of a mix's samples in one epoch.
type MixEpoch struct {
	mix   *Mix
	epoch int
	start uint64 // the slot of position 0
}

// Epoch is epoch e, 0 or more.
func (m *Mix) Epoch(e int) *MixEpoch {
	start, _ := bits.Mul64(key(m.seed, uint64(e), 3), uint64(m.samples))
	return &MixEpoch{mix: m, epoch: e, start: start}
}

// Rows is the samples of the epoch.
func (e *MixEpoch) Rows() int64 { return e.mix.samples }

// taken is how many of the samples before position pos are dataset j's.
func (e *MixEpoch) taken(j int, pos int64) int64 {
	m := e.mix
	n := func(c uint64) uint64 { return below(uint64(pos), uint64(m.samples), m.stride, e.start, c) }
	return int64(n(m.bounds[j+1]) - n(m.bounds[j]))
}

// place is dataset j's k-th sample in this epoch of the mix. Every epoch takes
// the same number of samples from a dataset.
func (e *MixEpoch) place(j int, k int64) Place {
	each := e.mix.bounds[j+1] - e.mix.bounds[j]
	hi, lo := bits.Mul64(uint64(e.epoch), each)
	lo, carry := bits.Add64(lo, uint64(k), 0)
	rows := uint64(e.mix.plans[j].rows)
	epoch, pos := bits.Div64((hi+carry)%rows, lo, rows)
	return Place{Set: j, Epoch: int(epoch), Position: int64(pos)}
}

// line is what comes next of one dataset.
type line struct {
	place Place
	key   uint64 // of the place's epoch
}

// walk goes through the positions of a mix, one after another.
type walk struct {
	mix  *Mix
	slot uint64
	next []line
}

// walk begins at position pos.
func (e *MixEpoch) walk(pos int64) walk {
	m, n := e.mix, uint64(e.mix.samples)
	w := walk{mix: m, next: make([]line, len(m.plans))}
	for j, p := range m.plans {
		at := e.place(j, e.taken(j, pos))
		w.next[j] = line{at, p.key(at.Epoch)}
	}
	hi, lo := bits.Mul64(m.stride, uint64(pos))
	lo, carry := bits.Add64(lo, e.start, 0)
	_, w.slot = bits.Div64((hi+carry)%n, lo, n)
	return w
}

// step is what lies at the position; the walk goes on to the next.
func (w *walk) step() line {
	m, j := w.mix, 0
	if len(m.plans) <= 16 {
		for w.slot >= m.bounds[j+1] {
			j++
		}
	} else {
		j = sort.Search(len(m.plans), func(i int) bool { return w.slot < m.bounds[i+1] })
	}
	at := w.next[j]
	if w.next[j].place.Position++; w.next[j].place.Position == m.plans[j].rows {
		e := at.place.Epoch + 1
		w.next[j] = line{Place{Set: j, Epoch: e}, m.plans[j].key(e)}
	}
	if w.slot += m.stride; w.slot >= uint64(m.samples) {
		w.slot -= uint64(m.samples)
	}
	return at
}

// Places appends to dst where the samples at positions are found. Where they
// ascend its cost is that of the stretch they lie in, about 10 ns a position;
// where one is below the one before, as repeated ones are, some microseconds.
func (e *MixEpoch) Places(dst []Place, positions []int64) []Place {
	var w walk
	next := int64(-1)
	for _, pos := range positions {
		if next < 0 || pos < next {
			w, next = e.walk(pos), pos
		}
		for ; next < pos; next++ {
			w.step()
		}
		dst, next = append(dst, w.step().place), next+1
	}
	return dst
}

func (e *MixEpoch) mixed() bool {
	return slices.ContainsFunc(e.mix.plans, func(p *Plan) bool { return p.opt.Shuffle })
}

func (e *MixEpoch) strataFrom(dst []uint8, pos int64) {
	w := e.walk(pos)
	for i := range dst {
		at := w.step()
		dst[i] = stratumOf(at.key, at.place.Position)
	}
}

func (e *MixEpoch) count(c *tally, lo, hi int64) {
	for j, p := range e.mix.plans {
		from := e.taken(j, lo)
		at, left := e.place(j, from), e.taken(j, hi)-from
		for left > 0 {
			n := min(left, p.rows-at.Position)
			c.add(p.key(at.Epoch), at.Position, at.Position+n)
			left -= n
			at.Epoch, at.Position = at.Epoch+1, 0
		}
	}
}

// find is the position of dataset j's k-th sample in this epoch of the mix.
func (e *MixEpoch) find(j int, k int64) int64 {
	lo, hi := int64(0), e.mix.samples
	for lo < hi {
		if mid := lo + (hi-lo)/2; e.taken(j, mid+1) > k {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}

// Narrow leaves those rows of a window of dataset set out that a share takes no
// sample of in this epoch of the mix, when it takes its steps from position from
// on.
func (e *MixEpoch) Narrow(w *Window, set int, s Share, from int64) {
	each := int64(e.mix.bounds[set+1] - e.mix.bounds[set])
	first := int64(w.epoch.number)*w.epoch.plan.rows + w.First - int64(e.epoch)*each
	k0, k1 := max(0, first), min(each, first+w.Rows)
	if k0 >= k1 {
		w.hold(0, 0)
		return
	}
	lo, hi := e.find(set, k0), e.find(set, k1-1)+1
	switch {
	case hi <= from:
		w.hold(0, 0)
	case w.epoch.mixed():
		s0, s1 := s.layers(e, from, lo, hi)
		w.hold(int64(w.start[s0]), int64(w.start[s1]))
	}
}
