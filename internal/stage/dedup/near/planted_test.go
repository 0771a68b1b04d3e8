package near

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// edited is a text of n words and a copy in which words were replaced at a
// rate, and the Jaccard similarity of their 5-grams.
func edited(rng *rand.Rand, n int, rate float64) (a, b []byte, similarity float64) {
	x, y := make([]int, n), make([]int, n)
	for i := range x {
		x[i] = rng.IntN(20000)
		if y[i] = x[i]; rng.Float64() < rate {
			y[i] = 20000 + rng.IntN(20000)
		}
	}
	for i := range x {
		a = append(strconv.AppendInt(a, int64(x[i]), 10), ' ')
		b = append(strconv.AppendInt(b, int64(y[i]), 10), ' ')
	}
	ours, theirs, all := map[[5]int]bool{}, map[[5]int]bool{}, map[[5]int]bool{}
	for i := 0; i+5 <= n; i++ {
		p, q := [5]int(x[i:]), [5]int(y[i:])
		ours[p], theirs[q], all[p], all[q] = true, true, true, true
	}
	return a, b, float64(len(ours)+len(theirs)-len(all)) / float64(len(all))
}

// plantedPairs are texts, of which each second one is a copy of the one before
// it, and how alike those are.
func plantedPairs() ([][]byte, []float64) {
	const pairs = 4000
	var texts [][]byte
	var similarity []float64
	rng := rand.New(rand.NewPCG(11, 12))
	for len(similarity) < pairs {
		a, b, x := edited(rng, 30+rng.IntN(200), math.Exp(-1.5-4*rng.Float64()))
		if x >= 0.5 && x < 1 {
			texts, similarity = append(texts, a, b), append(similarity, x)
		}
	}
	return texts, similarity
}

// TestPlantedCopiesAreFound holds the table of the package's comment: of pairs
// in a range of similarities, how many are taken for nearly the same.
func TestPlantedCopiesAreFound(t *testing.T) {
	texts, similarity := plantedPairs()
	signatures := signed(texts, Gram{N: 5})
	for _, c := range []struct {
		check, exact bool
		want         [10]float64 // in percent, by twentieths from 0.5
	}{
		{false, false, [10]float64{0.3, 1, 1, 4.9, 12.1, 26.8, 55.9, 80.1, 98.9, 100}},
		{true, false, [10]float64{0, 0, 0, 0.3, 10.6, 57.8, 95.9, 99.6, 100, 100}},
		{false, true, [10]float64{0, 0, 0, 0, 0, 0, 97, 99.8, 100, 100}},
	} {
		dir, share := scratch(t), mem.New(32<<20)
		o := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: c.check, Exact: c.exact}
		set, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if c.exact {
			addTexts(t, set, texts, rand.New(rand.NewPCG(1, 1)))
		} else if err := set.Add(t.Context(), signatures, nil); err != nil {
			t.Fatal(err)
		}
		k, err := set.Finish(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b, err := k.Open(t.Context(), dir, share)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		bits := make([]uint64, 1)
		var all, taken [10]float64
		for i, x := range similarity {
			if err := b.Read(int64(2*i), 2, bits); err != nil {
				t.Fatal(err)
			}
			at := int((x - 0.5) * 20)
			all[at]++
			if bits[0]&1 == 0 {
				t.Fatalf("text %d has nothing in common with those before it", 2*i)
			}
			if bits[0]&2 == 0 {
				taken[at]++
			}
		}
		for i, want := range c.want {
			if got := 100 * taken[i] / all[i]; math.Abs(got-want) > 0.05 {
				t.Errorf("check %v, exact %v: from %.2f: %.1f%% of %v pairs, not %v%%", c.check, c.exact, 0.5+float64(i)/20, got, all[i], want)
			}
		}
	}
}
