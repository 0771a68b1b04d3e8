package split_test

import (
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/stage/split"
)

func TestSharesAreKnownWhereWeightsDecide(t *testing.T) {
	for _, c := range []struct {
		name string
		is   split.Config
		want []float64
	}{
		{"the defaults", split.Config{}, []float64{0.8, 0.1, 0.1}},
		{"weights", split.Config{Names: []string{"a", "b"}, Weights: []int{3, 1}}, []float64{0.75, 0.25}},
		{"groups", split.Config{By: []string{"user"}}, []float64{0.8, 0.1, 0.1}},
		{"a column", split.Config{Column: "s"}, nil},
		{"a range", split.Config{Range: split.Range{Column: "ts", Bounds: []string{"1"}}}, nil},
		{"directories", split.Config{FromDirs: true}, nil},
	} {
		if got := c.is.Shares(); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}
