package scale

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

// widthOf is the number of columns that a column becomes.
func (w *work) widthOf(c *Column) int {
	switch w.encode {
	case hashed:
		return w.width
	case onehot:
		n := len(c.Categories)
		if c.missing() {
			n++
		}
		if c.Other > 0 {
			n++
		}
		return n
	}
	return 1
}

// Out is the schema of what a transform with p gives. A column of onehot
// becomes one for each category, named as scikit-learn does: color_red, and at
// the end color_nan for null and color_other for the rest; one of hash becomes
// color_0, color_1, …. What is not passed through is never null: missing values
// are NaN. A p of another design is ErrUsage.
func (d *Design) Out(p *Params) (*arrow.Schema, error) {
	var fields []arrow.Field
	taken := map[string]int{}
	for i := range d.cols {
		taken[d.cols[i].field.Name] = 1
	}
	for i := range d.cols {
		w := &d.cols[i]
		if w.passed() {
			fields = append(fields, w.field)
			continue
		}
		c := p.Column(w.field.Name)
		if err := w.same(c); err != nil {
			return nil, err
		}
		if w.encode == noEncode && w.class == text {
			fields = append(fields, arrow.Field{Name: w.field.Name, Type: w.field.Type})
			continue
		}
		if w.encode == noEncode || w.encode == ordinal {
			fields = append(fields, arrow.Field{Name: w.field.Name, Type: d.dtype})
			continue
		}
		for k := range w.widthOf(c) {
			name := unique(taken, w.field.Name+"_"+w.nameOf(c, k))
			fields = append(fields, arrow.Field{Name: name, Type: d.dtype})
		}
	}
	return arrow.NewSchema(fields, nil), nil
}

// nameOf is what is behind the column's name in that of its k-th output.
func (w *work) nameOf(c *Column, k int) string {
	switch {
	case w.encode == hashed:
		return strconv.Itoa(k)
	case k < len(c.Categories):
		return c.Categories[k].Value
	case k == len(c.Categories) && c.missing():
		return "nan"
	}
	return "other"
}

// unique is name, with a number behind it if it is taken.
func unique(taken map[string]int, name string) string {
	for taken[name] > 0 {
		taken[name]++
		name += "_" + strconv.Itoa(taken[name])
	}
	taken[name] = 1
	return name
}
