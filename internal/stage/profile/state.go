package profile

import (
	"encoding/binary"
	"math"

	"github.com/weir-data/weir/internal/format"
)

// Append writes what p has seen behind dst, for Restore.
func (p *Profile) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(p.cols)))
	for i := range p.cols {
		m := &p.cols[i]
		for _, n := range [...]int64{m.count, m.nulls, m.nans, m.infs} {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
		mean := m.mean
		if m.wide {
			mean = math.NaN()
		}
		for _, v := range [...]float64{m.pivot, mean, m.m2, m.min, m.max} {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
	}
	return dst
}

// Restore makes p what it was when Append wrote state. Anything else is
// ErrData, and p is of no use.
func (p *Profile) Restore(state []byte) error {
	r := stateReader{rest: state}
	if r.int() != int64(len(p.cols)) {
		return r.damaged()
	}
	for i := range p.cols {
		m := &p.cols[i]
		*m = moments{count: r.int(), nulls: r.int(), nans: r.int(), infs: r.int(),
			pivot: r.float(), mean: r.float(), m2: r.float(), min: r.float(), max: r.float()}
		if m.mean != m.mean {
			m.wide, m.mean = true, 0
		}
		if m.count < 0 || m.nulls < 0 || m.nans < 0 || m.infs < 0 || !(m.m2 >= 0) || !isFinite(m.pivot) || m.min != m.min || m.max != m.max {
			return r.damaged()
		}
	}
	return r.end()
}

// Append writes what s has seen behind dst, for Restore.
func (s *Shapes) Append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.grids)))
	for i := range s.grids {
		g := &s.grids[i]
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(g.lo))
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(g.hi))
		for _, n := range g.counts {
			dst = binary.AppendUvarint(dst, uint64(n))
		}
	}
	return dst
}

// Restore makes s, of as many columns, what it was when Append wrote state.
// Anything else is ErrData, and s is of no use.
func (s *Shapes) Restore(state []byte) error {
	r := stateReader{rest: state}
	if r.int() != int64(len(s.grids)) {
		return r.damaged()
	}
	for i := range s.grids {
		g := &s.grids[i]
		g.lo, g.hi = r.float(), r.float()
		if none := g.lo == math.Inf(1) && g.hi == math.Inf(-1); !none {
			if r.bad || !isFinite(g.lo) || !isFinite(g.hi) || g.lo > g.hi {
				return r.damaged()
			}
			g.exp, g.first = fit(g.lo, g.hi)
		}
		for k := range g.counts {
			if g.counts[k] = r.int(); g.counts[k] < 0 {
				return r.damaged()
			}
		}
		if !g.whole() {
			return r.damaged()
		}
	}
	return r.end()
}

// whole says that the first and the last bin of the range have values, as they
// must, and that those behind have none.
func (g *grid) whole() bool {
	last := -1
	if g.lo <= g.hi {
		last = int(int64(bin(g.hi, g.exp)) - g.first)
	}
	for _, n := range g.counts[last+1:] {
		if n > 0 {
			return false
		}
	}
	return last < 0 || g.counts[0] > 0 && g.counts[last] > 0
}

// stateReader reads a state that it does not trust.
type stateReader struct {
	rest []byte
	bad  bool
}

func (r *stateReader) int() int64 {
	v, n := binary.Uvarint(r.rest)
	if n <= 0 || v > math.MaxInt64 {
		r.bad, r.rest = true, nil
		return 0
	}
	r.rest = r.rest[n:]
	return int64(v)
}

func (r *stateReader) float() float64 {
	if len(r.rest) < 8 {
		r.bad, r.rest = true, nil
		return 0
	}
	v := math.Float64frombits(binary.LittleEndian.Uint64(r.rest))
	r.rest = r.rest[8:]
	return v
}

// end says whether all was read and nothing is left.
func (r *stateReader) end() error {
	if r.bad || len(r.rest) > 0 {
		return r.damaged()
	}
	return nil
}

func (r *stateReader) damaged() error {
	return format.Error(format.ErrData, "the state of a profile is damaged")
}
