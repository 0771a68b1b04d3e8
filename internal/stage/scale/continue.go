package scale

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Config is what p was fitted with, a rule a column; Label, Keep and the bound
// on categories are not known of it.
func (p *Params) Config() Config {
	c := Config{Dtype: p.Dtype}
	for i := range p.Columns {
		k := &p.Columns[i]
		for _, r := range []struct {
			list *[]Rule
			do   string
		}{{&c.Scale, k.Scale}, {&c.Impute, k.Impute}, {&c.Encode, k.Encode}} {
			if r.do != "" {
				*r.list = append(*r.list, Rule{k.Name, r.do})
			}
		}
	}
	return c
}

// Continuing is c for a fit that goes on from prior: where c has no rules at
// all, those of prior; where it has no Dtype, that of prior.
func (c Config) Continuing(prior *Params) Config {
	was := prior.Config()
	if len(c.Scale)+len(c.Impute)+len(c.Encode) == 0 {
		c.Scale, c.Impute, c.Encode = was.Scale, was.Impute, was.Encode
	}
	if c.Dtype == "" {
		c.Dtype = was.Dtype
	}
	return c
}

// Design is what p was fitted for, for columns of in: those of p with rules
// must be there; others are passed through as they are.
func (p *Params) Design(in *arrow.Schema) (*Design, error) {
	if err := p.present(in); err != nil {
		return nil, err
	}
	return Plan(in, p.Config())
}

// mostNamed is how many columns an error names.
const mostNamed = 12

// present names the columns with rules that in lacks.
func (p *Params) present(in *arrow.Schema) error {
	var names []string
	more := 0
	for i := range p.Columns {
		c := &p.Columns[i]
		if c.Scale+c.Impute+c.Encode == "" || in.HasField(c.Name) {
			continue
		}
		if len(names) == mostNamed {
			more++
			continue
		}
		names = append(names, strconv.Quote(c.Name))
	}
	if len(names) == 0 {
		return nil
	}
	list := strings.Join(names, ", ")
	if more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	if len(names) == 1 {
		return format.Error(format.ErrUsage, "the parameters have column %s, the data has not", list)
	}
	return format.Error(format.ErrUsage, "the parameters have columns %s, the data has not", list)
}

// Continues says whether a fit can go on from prior, which may be nil: the
// rules are the same, and what they need of the rows seen before is in it. What
// cannot be is ErrUsage and names the column.
func (d *Design) Continues(prior *Params) error {
	if prior == nil {
		return nil
	}
	if is := d.dtype.Name(); is != prior.Dtype {
		return format.Error(format.ErrUsage, "%s is asked, the parameters are of %s", is, prior.Dtype)
	}
	if err := prior.present(d.in); err != nil {
		return err
	}
	for i := range d.cols {
		w := &d.cols[i]
		if err := w.continues(prior.Column(w.field.Name), d.most); err != nil {
			return err
		}
	}
	return nil
}

// continues is Continues for one column.
func (w *work) continues(c *Column, most int) error {
	if w.passed() && c == nil {
		return nil
	}
	if err := w.same(c); err != nil || w.passed() {
		return err
	}
	const anew = "so the fit cannot be continued; fit the earlier rows and the others in one run"
	lost := func(rule, what string) error {
		return format.Error(format.ErrUsage, "column %q: %s: the parameters do not have the %s, %s", w.field.Name, rule, what, anew)
	}
	switch {
	case w.scale == robust:
		return lost(w.rules[0], "values that its quantiles come from")
	case w.impute == median:
		return lost(w.rules[1], "values that it comes from")
	case w.impute == mostFrequent && w.encode != onehot && w.encode != ordinal:
		return lost(w.rules[1], "counts of its values")
	case c.Other > 0:
		return lost(w.rules[2], "categories that were counted as other")
	case len(c.Categories) > most:
		return format.Error(format.ErrUsage, "column %q: the parameters have %d categories, at most %d are allowed; raise the bound", w.field.Name, len(c.Categories), most)
	case w.numeric() && c.Count > 0 && (c.Mean == nil || c.M2 == nil || c.Min == nil || c.Max == nil):
		return lost("it", "mean, m2, min or max")
	}
	return nil
}

// same says that c has the rules of w.
func (w *work) same(c *Column) error {
	if c == nil {
		return format.Error(format.ErrUsage, "column %q is not in the parameters", w.field.Name)
	}
	kinds := [...]string{"scale", "impute", "encode"}
	for i, had := range [...]string{c.Scale, c.Impute, c.Encode} {
		if had != w.rules[i] && !(i == 0 && w.scale == noScale && (had == "" || had == "none")) {
			return format.Error(format.ErrUsage, "column %q: %s %s is asked, the parameters are of %s",
				w.field.Name, kinds[i], orNothing(w.rules[i]), orNothing(had))
		}
	}
	return nil
}

func orNothing(rule string) string {
	if rule == "" {
		return "nothing"
	}
	return rule
}

// resume adds what an earlier fit had found.
func (m *moments) resume(c *Column) {
	if c.Mean != nil && c.M2 != nil {
		m.whole(c.Count, *c.Mean, 0, *c.M2)
	} else if c.Count > 0 {
		m.count, m.wide = m.count+c.Count, true
	}
	if c.Min != nil && c.Max != nil {
		m.open.min, m.open.max = least(m.open.min, *c.Min), largest(m.open.max, *c.Max)
	}
}

// counts are the rows of each category without those imputed.
func (c *Column) counts(use func(value string, n int64)) {
	for _, k := range c.Categories {
		if c.FillText != nil && k.Value == *c.FillText {
			k.Count -= c.Nulls + c.NaNs
		}
		use(k.Value, k.Count)
	}
}
