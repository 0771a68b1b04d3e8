package order

import (
	"math"
	"slices"
	"testing"
)

// quality is what a label that is the row's own number looks like in an order.
type quality struct {
	displacement float64 // mean of |position-row|, of the rows
	serial       float64 // the largest correlation at lags 1, 2, 7, 64, 128 and 1024
	spread       float64 // deviation of batches' means, in those of means of as many independent samples
}

const batch = 1024

func qualityOf(rows []int64) (q quality) {
	n := float64(len(rows))
	mean := (n - 1) / 2
	variance := (n*n - 1) / 12
	for pos, r := range rows {
		q.displacement += math.Abs(float64(int64(pos)-r)) / n / n
	}
	for _, lag := range []int{1, 2, 7, 64, 128, 1024} {
		sum := 0.0
		for i := lag; i < len(rows); i++ {
			sum += (float64(rows[i]) - mean) * (float64(rows[i-lag]) - mean)
		}
		if c := sum / float64(len(rows)-lag) / variance; math.Abs(c) > math.Abs(q.serial) {
			q.serial = c
		}
	}
	batches := 0.0
	for b := range slices.Chunk(rows, batch) {
		if len(b) == batch {
			m := 0.0
			for _, r := range b {
				m += (float64(r) - mean) / batch
			}
			q.spread += m * m
			batches++
		}
	}
	q.spread = math.Sqrt(q.spread / batches / variance)
	return q
}

func TestQuality(t *testing.T) {
	const rows, rowBytes, window = 1 << 20, 124, 1 << 20 // 8192 rows in a window, 128 windows
	for _, c := range []struct {
		name   string
		unit   int64 // rows of a unit
		k      float64
		serial float64
	}{
		{"tiny units", 3, 64, 0.03},
		{"64 units in a window", 128, 64, 0.03},
		{"16 units in a window", 512, 16, 0.09},
		{"4 units in a window", 2048, 4, 0.35},
		{"units of 10 windows", 81920, 4, 0.35},
	} {
		units := slices.Repeat([]int64{c.unit}, rows/int(c.unit))
		e := plan(t, dataset(rowBytes, units...), Options{Shuffle: true, Seed: 1, Window: window}).Epoch(0)
		q := qualityOf(rowsOf(t, e))
		t.Logf("%-22s displacement %.3f, serial correlation %.3f, means of batches as of %.0f samples", c.name, q.displacement, q.serial, 1/q.spread/q.spread)
		if math.Abs(q.displacement-1.0/3) > 0.02 {
			t.Errorf("%s: mean displacement %.3f", c.name, q.displacement)
		}
		if q.serial > c.serial || q.serial < -c.serial {
			t.Errorf("%s: serial correlation %.3f", c.name, q.serial)
		}
		if q.spread > 1.3/math.Sqrt(c.k) {
			t.Errorf("%s: means of batches stray by %.3f", c.name, q.spread)
		}
	}
}

// TestRowsOfAWindowMixEvenly counts how often a row of a window comes at a
// place in it, over many epochs.
func TestRowsOfAWindowMixEvenly(t *testing.T) {
	const n, epochs, cells = 96, 10000, 8
	p := plan(t, dataset(8, n), Options{Shuffle: true, Window: 4 << 10})
	var seen [cells][cells]float64
	for epoch := range epochs {
		for pos, row := range rowsOf(t, p.Epoch(epoch)) {
			seen[pos*cells/n][row*cells/n]++
		}
	}
	want := float64(n) * epochs / cells / cells
	for i := range seen {
		for j, got := range seen[i] {
			if math.Abs(got-want) > 0.03*want {
				t.Errorf("rows of eighth %d come %.0f times in eighth %d, not %.0f", j, got, i, want)
			}
		}
	}
}

func BenchmarkPlanTenMillionUnits(b *testing.B) {
	for name, rowBytes := range map[string]int64{"Units8MiB": 8 << 17, "Tiny": 100} {
		units := dataset(rowBytes, slices.Repeat([]int64{8}, 10_000_000)...)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				p := plan(b, units, Options{Shuffle: true})
				e := p.Epoch(1)
				b.ReportMetric(float64(e.Windows()), "windows")
				size, _ := Footprint(units, Options{Shuffle: true})
				b.ReportMetric(float64(size)/1e6, "footprint-MB")
			}
		})
	}
}

func BenchmarkWindow(b *testing.B) {
	e := plan(b, dataset(124, 1<<19, 1<<19), Options{Shuffle: true}).Epoch(0)
	w := e.Window(0)
	deck := w.Deck(nil)
	positions := make([]int64, 1024)
	for i := range positions {
		positions[i] = w.First + int64(i)
	}
	b.Run("Deck", func(b *testing.B) {
		for range b.N {
			deck = w.Deck(deck)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(w.Rows), "ns/row")
	})
	b.Run("Numbers", func(b *testing.B) {
		var numbers []int32
		for range b.N {
			numbers = w.Numbers(numbers[:0], deck, positions)
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(positions)), "ns/row")
	})
}
