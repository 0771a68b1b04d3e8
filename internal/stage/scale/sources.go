package scale

// Sources says which column of the input each column of Out(p) is made of.
func (d *Design) Sources(p *Params) []int {
	var from []int
	for i := range d.cols {
		w := &d.cols[i]
		n := 1
		if c := p.Column(w.field.Name); c != nil {
			n = w.widthOf(c)
		}
		for range n {
			from = append(from, i)
		}
	}
	return from
}
