package scale

import (
	"math"

	"github.com/weir-data/weir/internal/format"
)

// epsilon is the distance from 1 to the next float64.
const epsilon = 0x1p-52

// Params is what the fit found. It ends the fit: nothing can be added any more.
// No rows at all are ErrData.
func (f *Fit) Params() (*Params, error) {
	if f.rows == 0 {
		return nil, format.Error(format.ErrData, "there are no rows to fit on")
	}
	p := &Params{Version: paramsVersion, Rows: f.rows, Dtype: f.d.dtype.Name()}
	if f.prior != nil {
		p.Rows += f.prior.Rows
	}
	p.Columns = make([]Column, len(f.cols))
	err := f.pool.Each(len(f.cols), func(i int, _ *scratch) error {
		c := &f.cols[i]
		var prior *Column
		if f.prior != nil {
			prior = f.prior.Column(c.work.field.Name)
		}
		var err error
		if p.Columns[i], err = f.derive(c, prior); err != nil {
			return format.Error(format.ErrData, "column %q: %w", c.work.field.Name, err)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	kept := p.Columns[:0]
	for i := range p.Columns {
		// Of those passed through, what nothing is known of before is left out.
		w := f.cols[i].work
		if !w.passed() || w.numeric() && (f.prior == nil || f.prior.Column(w.field.Name) != nil) {
			kept = append(kept, p.Columns[i])
		}
	}
	p.Columns = kept
	return p, nil
}

// derive makes the parameters of one column.
func (f *Fit) derive(c *column, prior *Column) (Column, error) {
	w := c.work
	p := Column{Name: w.field.Name, Type: w.field.Type.String(), Scale: w.rules[0], Impute: w.rules[1], Encode: w.rules[2],
		Nulls: c.nulls, NaNs: c.nans, Infs: c.infs}
	if prior != nil {
		p.Nulls, p.NaNs, p.Infs = p.Nulls+prior.Nulls, p.NaNs+prior.NaNs, p.Infs+prior.Infs
	}
	switch {
	case w.numeric():
		return p, f.deriveNumbers(c, &p, prior)
	case !w.passed():
		p.Count = f.rows - c.nulls - c.nans
		if prior != nil {
			p.Count += prior.Count
		}
		return p, f.deriveTexts(c, &p, prior)
	}
	return p, nil
}

// filled is count, mean, squares and ends of the values with those imputed.
type filled struct {
	n, mean, m2, min, max float64
	copies                uint64
	fill                  float64
	ranks                 ranks
	values                uint64
}

func (f *Fit) deriveNumbers(c *column, p *Column, prior *Column) error {
	m := &c.moments
	m.end()
	if prior != nil {
		m.resume(prior)
	}
	p.Count = m.count
	a := filled{n: float64(m.count), min: m.open.min, max: m.open.max, values: uint64(m.count)}
	if m.count > 0 {
		a.mean, a.m2 = m.spread()
		p.Mean, p.M2, p.Std = finitePointer(a.mean), finitePointer(a.m2), finitePointer(math.Sqrt(a.m2/a.n))
		p.Min, p.Max = finitePointer(a.min), finitePointer(a.max)
	}
	if c.order != nil && m.count > 0 {
		r, exact, off, err := c.order.ranks()
		if err != nil {
			return err
		}
		a.ranks, p.Quantiles = r, &Quantiles{Method: "sketch", RankError: off}
		if exact {
			p.Quantiles.Method = "exact"
		}
	}
	if err := c.imputed(p, &a); err != nil {
		return err
	}
	return c.scaled(p, &a)
}

// imputed finds what stands for missing values, and counts it in.
func (c *column) imputed(p *Column, a *filled) error {
	if c.work.impute == noImpute {
		return nil
	}
	switch c.work.impute { // 0 where there are no values, as with keep_empty_features
	case mean:
		if a.fill = a.mean; p.Count > 0 && p.Mean == nil {
			return format.Error(format.ErrData, "its values are too large for a mean; use median")
		}
	case median:
		if p.Count > 0 {
			a.fill = quantile(a.ranks, 0.5, a.values, 0, 0)
		}
	case mostFrequent:
		a.fill = c.table.commonNumber()
	case constant:
		a.fill = c.work.fill
	}
	p.Fill = finitePointer(a.fill)
	a.copies = uint64(p.Nulls + p.NaNs)
	if a.copies == 0 {
		return nil
	}
	a.n += float64(a.copies)
	c.moments.whole(int64(a.copies), a.fill, 0, 0) // not from the mean, which is rounded
	a.mean, a.m2 = c.moments.spread()
	a.min, a.max = least(a.min, a.fill), largest(a.max, a.fill)
	return nil
}

// scaled finds the numbers of the scaling.
func (c *column) scaled(p *Column, a *filled) error {
	if a.n == 0 {
		return nil
	}
	center, divisor, bad := 0.0, 1.0, ""
	switch c.work.scale {
	case standard:
		v := a.m2 / a.n
		center, bad = a.mean, "variance"
		if divisor = math.Sqrt(v); v <= float64(a.n*epsilon*v)+math.Pow(a.n*a.mean*epsilon, 2) {
			divisor = 1
		}
	case minmax:
		divisor, bad = nonzero(a.max-a.min), "range"
		p.Factor = finitePointer(1 / divisor)
		p.Shift = finitePointer(0 - float64(a.min*(1/divisor)))
	case maxabs:
		divisor = nonzero(math.Max(math.Abs(a.min), math.Abs(a.max)))
	case robust:
		q := p.Quantiles
		if q == nil { // nothing but imputed values
			q = &Quantiles{Method: "exact"}
			p.Quantiles = q
		}
		at := func(part float64) float64 {
			if a.values == 0 {
				return a.fill
			}
			return quantile(a.ranks, part, a.values, a.copies, a.fill)
		}
		q25, q50, q75 := at(0.25), at(0.5), at(0.75)
		q.Q25, q.Q50, q.Q75 = finitePointer(q25), finitePointer(q50), finitePointer(q75)
		center, divisor, bad = q50, nonzero(q75-q25), "range between quartiles"
	case log1p:
		if a.min <= -1 {
			return format.Error(format.ErrData, "log1p of %v, its least value, is no number", a.min)
		}
		return nil
	default:
		return nil
	}
	if x := center + divisor; x-x != 0 {
		return format.Error(format.ErrData, "its values are too large: their %s is beyond float64; use clip or log1p", bad)
	}
	if c.work.scale == standard || c.work.scale == robust {
		p.Center = finitePointer(center)
	}
	if c.work.scale != minmax {
		p.Divisor = finitePointer(divisor)
	}
	return nil
}

// nonzero is s, or 1 where dividing by it would only enlarge roundings.
func nonzero(s float64) float64 {
	if s < 10*epsilon {
		return 1
	}
	return s
}
