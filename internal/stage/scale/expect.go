package scale

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
)

// Expect is for planning before there is a fit: Params of the same columns, with
// so many categories in each that has some, or the most that there can be. The
// schema and the memory of a transform with it are those of one with the Params
// of a fit that finds as many.
func (d *Design) Expect(categories int) *Params {
	p := &Params{Version: paramsVersion, Dtype: d.dtype.Name()}
	for i := range d.cols {
		w := &d.cols[i]
		if w.passed() && !w.numeric() {
			continue
		}
		c := Column{Name: w.field.Name, Scale: w.rules[0], Impute: w.rules[1], Encode: w.rules[2]}
		if w.encode == onehot || w.encode == ordinal {
			n := min(categories, d.most)
			if w.field.Type.ID() == arrow.BOOL {
				n = min(n, 2)
			}
			for k := range n {
				c.Categories = append(c.Categories, Category{Value: fmt.Sprintf("category%08d", k)})
			}
		}
		p.Columns = append(p.Columns, c)
	}
	return p
}

// Onehots counts the columns that become one for each category.
func (d *Design) Onehots() (n int) {
	for i := range d.cols {
		if d.cols[i].encode == onehot {
			n++
		}
	}
	return n
}
