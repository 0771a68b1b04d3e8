package number

import (
	"testing"
	"time"
)

func TestScratch(t *testing.T) {
	data := texts()
	best := time.Hour
	for range 400 {
		t0 := time.Now()
		for rest := data; len(rest) > 0; {
			_, n, _ := Float64(rest)
			rest = rest[n+1:]
		}
		best = min(best, time.Since(t0))
	}
	t.Logf("%v, %.1f ns each, %.0f MB/s", best, float64(best.Nanoseconds())/100_000, float64(len(data))/best.Seconds()/1e6)
}
