package near

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/weir-data/weir/internal/format"
	"github.com/zeebo/xxh3"
)

// Bands is how signatures are cut: two texts are looked at together when all
// places of at least one band agree.
type Bands struct {
	Count int `json:"count"` // of bands
	Rows  int `json:"rows"`  // places in each
}

// found is the share of the pairs just at the threshold that bands for a check
// have to find.
const found = 0.9

// BandsFor is the bands for a threshold of similarity. Where pairs are checked
// afterwards, bands need not tell them apart: they are the longest that find
// nine of ten pairs at the threshold itself, and only as many as do. Where they
// are not, the bands are those that are wrong least often: of the pairs below the
// threshold that are found and of those above it that are not, both taken as
// evenly spread, the sum is the least.
func BandsFor(threshold float64, check bool) (Bands, error) {
	if !(threshold > 0 && threshold < 1) {
		return Bands{}, format.Error(format.ErrUsage, "dedup: a similarity of %v; it is between 0 and 1, as 0.8", threshold)
	}
	if !check {
		return leastWrong(threshold), nil
	}
	best := Bands{Places, 1} // where even these find fewer
	for rows := 1; rows <= Places; rows++ {
		for count := 1; count*rows <= Places; count++ {
			if b := (Bands{count, rows}); b.Probability(threshold) >= found {
				best = b
				break
			}
		}
	}
	return best, nil
}

// Bands are those that the options lead to.
func (o Options) Bands() (Bands, error) { return BandsFor(o.Threshold, o.checks()) }

// leastWrong is the bands that are wrong least often.
func leastWrong(threshold float64) Bands {
	const steps = 100
	best, least := Bands{}, math.Inf(1)
	for rows := 1; rows <= Places; rows++ {
		var wrong [Places + 1]float64 // by the number of bands
		for i := range steps {
			x := (float64(i) + 0.5) / steps
			below := 1 - math.Pow(x*threshold, float64(rows))
			above := 1 - math.Pow(threshold+x*(1-threshold), float64(rows))
			p, q := 1.0, 1.0 // that no band agrees
			for count := 1; count*rows <= Places; count++ {
				p, q = p*below, q*above
				wrong[count] += (1-p)*threshold + q*(1-threshold)
			}
		}
		for count := 1; count*rows <= Places; count++ {
			if wrong[count] < least {
				best, least = Bands{count, rows}, wrong[count]
			}
		}
	}
	return best
}

// Probability that two texts of a similarity are looked at together.
func (b Bands) Probability(similarity float64) float64 {
	return 1 - math.Pow(1-math.Pow(similarity, float64(b.Rows)), float64(b.Count))
}

// Hash sets dst, which has a place for each band, to what stands for the bands
// of a signature. Equal places in different bands are different hashes.
func (b Bands) Hash(dst []uint64, s *Signature) {
	var p [4 * Places]byte
	for i, x := range s {
		binary.LittleEndian.PutUint32(p[4*i:], x)
	}
	for i := range dst[:b.Count] {
		dst[i] = xxh3.HashSeed(p[4*i*b.Rows:4*(i+1)*b.Rows], uint64(i))
	}
}

// String is for people: the bands, and how likely pairs of some similarities
// are looked at together.
func (b Bands) String() string {
	t := fmt.Sprintf("%d bands of %d:", b.Count, b.Rows)
	for i, x := range []float64{0.5, 0.6, 0.7, 0.8, 0.9, 0.95} {
		if i > 0 {
			t += ","
		}
		t += fmt.Sprintf(" %.3g%% at %v", 100*b.Probability(x), x)
	}
	return t
}
