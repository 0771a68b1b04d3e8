package dedup

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// TestExamplesAreTheFirstDroppedRows with the row that each of them equals.
func TestExamplesAreTheFirstDroppedRows(t *testing.T) {
	earlier := keysOf("random", 50, 4)
	for _, n := range []int{10, 5000, 200_000} {
		keys := keysOf("random", n, 1)
		keys[3] = earlier[7]
		var want []Example
		first := map[Key]int64{}
		for _, k := range earlier {
			first[k] = -1
		}
		for i, k := range keys {
			if row, ok := first[k]; !ok {
				first[k] = int64(i)
			} else if len(want) < 20 {
				want = append(want, Example{int64(i), row})
			}
		}
		share := mem.New(Floor)
		s, err := Open(Config{Share: share, Scratch: scratch(t), Threads: 2, Examples: 20})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Against(t.Context(), "x", bytes.NewReader(hashes(t, earlier))); err != nil {
			t.Fatal(err)
		}
		add(t, s, keys, rand.New(rand.NewPCG(1, 1)))
		k, err := s.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(k.Examples, want) {
			t.Errorf("%d rows: %v, not %v", n, k.Examples, want)
		}
		if share.Leased() != 0 {
			t.Errorf("%d bytes leased", share.Leased())
		}
	}
}
