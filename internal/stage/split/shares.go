package split

// Shares are the parts of all rows that the splits get, as far as weights
// decide that, the defaults filled in; nil where the data decides. They sum
// up to 1.
func (c Config) Shares() []float64 {
	c = c.filled()
	if !c.hashed() {
		return nil
	}
	sum := 0
	for _, w := range c.Weights {
		sum += w
	}
	shares := make([]float64, len(c.Weights))
	for i, w := range c.Weights {
		shares[i] = float64(w) / float64(sum)
	}
	return shares
}
