package order

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/format"
)

func mixOf(t testing.TB, weights []float64, samples int64, shuffle bool, rows ...int64) *Mix {
	t.Helper()
	var plans []*Plan
	for i, n := range rows {
		plans = append(plans, plan(t, dataset(8, n/2, n-n/2), Options{Shuffle: shuffle, Seed: uint64(i), Window: 4 << 10}))
	}
	m, err := NewMix(plans, weights, samples, 3)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func places(e *MixEpoch, lo, hi int64) []Place {
	var positions []int64
	for pos := lo; pos < hi; pos++ {
		positions = append(positions, pos)
	}
	return e.Places(nil, positions)
}

func TestMixTakesEveryDatasetInItsOwnOrder(t *testing.T) {
	m := mixOf(t, []float64{0.2, 5, 1, 1e-9}, 2000, true, 700, 90, 1, 5000)
	next := make([]Place, 4)
	for epoch := range 5 {
		for pos, at := range places(m.Epoch(epoch), 0, 2000) {
			n := &next[at.Set]
			if n.Epoch != at.Epoch || n.Position != at.Position {
				t.Fatalf("epoch %d, position %d: %+v comes after %+v", epoch, pos, at, *n)
			}
			if n.Position++; n.Position == m.plans[at.Set].Rows() {
				n.Epoch, n.Position = n.Epoch+1, 0
			}
		}
	}
}

func TestMixByRowsTakesEveryRowOnce(t *testing.T) {
	m := mixOf(t, nil, 0, true, 700, 90, 1, 5000)
	for epoch := range 3 {
		seen := map[Place]bool{}
		for _, at := range places(m.Epoch(epoch), 0, m.Epoch(0).Rows()) {
			if at.Epoch != epoch || seen[at] {
				t.Fatalf("epoch %d: %+v", epoch, at)
			}
			seen[at] = true
		}
		if len(seen) != 5791 {
			t.Errorf("%d samples", len(seen))
		}
	}
}

func TestMixIsEvenInEveryStretch(t *testing.T) {
	weights := []float64{0.5, 0.3, 0.15, 0.04, 0.01}
	m := mixOf(t, weights, 100000, true, 1000, 1000, 1000, 1000, 1000)
	for epoch := range 3 {
		e, far := m.Epoch(epoch), 0.0
		var count [5]float64
		for pos, at := range places(e, 0, 100000) {
			count[at.Set]++
			for j, w := range weights {
				far = max(far, math.Abs(count[j]-w*float64(pos+1)))
			}
		}
		if far > 4 {
			t.Errorf("epoch %d: a dataset is %.1f samples from its part", epoch, far)
		}
	}
}

func TestMixIsFoundFromAnyPosition(t *testing.T) {
	m := mixOf(t, []float64{1, 2.5, 0.1}, 3000, true, 700, 90, 33)
	e := m.Epoch(7)
	all := places(e, 0, 3000)
	for lo := int64(0); lo < 3000; lo += 37 {
		if got := places(e, lo, min(3000, lo+50)); !slices.Equal(got, all[lo:min(3000, lo+50)]) {
			t.Fatalf("from position %d it is another order", lo)
		}
	}
	for k := range int64(100) {
		pos := e.find(1, k)
		if all[pos].Set != 1 || e.taken(1, pos) != k {
			t.Fatalf("sample %d is not at %d", k, pos)
		}
	}
}

func TestMixNarrowKeepsWhatIsUsed(t *testing.T) {
	type id struct{ set, epoch, window int }
	for _, shuffle := range []bool{true, false} {
		m := mixOf(t, []float64{1, 3}, 9000, shuffle, 7000, 2500)
		mix := m.Epoch(2)
		for _, from := range []int64{0, 3333} {
			held, rows := int64(0), int64(0)
			for rank := range 4 {
				s := Share{Rank: rank, World: 4, Batch: 150, Drop: true}
				used := map[id][]int64{}
				for step := range s.Steps(9000, from) {
					positions, _ := s.Positions(nil, mix, from, step)
					for _, at := range mix.Places(nil, positions) {
						i := id{at.Set, at.Epoch, m.plans[at.Set].Epoch(at.Epoch).At(at.Position)}
						used[i] = append(used[i], at.Position)
					}
				}
				for i, positions := range used {
					e := m.plans[i.set].Epoch(i.epoch)
					whole, w := e.Window(i.window), e.Window(i.window)
					mix.Narrow(w, i.set, s, from)
					want := whole.Numbers(nil, whole.Deck(nil), positions)
					for k, n := range w.Numbers(nil, w.Deck(nil), positions) {
						if int64(n)+w.lo != int64(want[k]) || int64(n) >= w.Held {
							t.Fatalf("rank %d from %d: %+v: row %d is number %d of %d from %d", rank, from, i, want[k], n, w.Held, w.lo)
						}
					}
					held, rows = held+w.Held, rows+w.Rows
				}
			}
			if shuffle && held*2 > rows {
				t.Errorf("from %d: %d of %d rows are held", from, held, rows)
			}
		}
		past := m.plans[0].Epoch(40).Window(0)
		if mix.Narrow(past, 0, Share{Batch: 1}, 0); past.Held != 0 {
			t.Error("a window of another epoch of the mix is read")
		}
	}
}

func TestMixRefuses(t *testing.T) {
	some, none := plan(t, dataset(8, 5), Options{}), plan(t, nil, Options{})
	for i, err := range []error{
		second(NewMix(nil, nil, 0, 0)),
		second(NewMix([]*Plan{some, none}, nil, 0, 0)),
		second(NewMix([]*Plan{some}, []float64{1, 2}, 0, 0)),
		second(NewMix([]*Plan{some}, []float64{0}, 0, 0)),
		second(NewMix([]*Plan{some}, []float64{math.NaN()}, 0, 0)),
		second(NewMix([]*Plan{some, some}, []float64{1, math.Inf(1)}, 0, 0)),
		second(NewMix([]*Plan{some}, nil, -1, 0)),
	} {
		if !errors.Is(err, format.ErrUsage) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestMixOfOneSample(t *testing.T) {
	if got := places(mixOf(t, nil, 1, true, 5, 9).Epoch(3), 0, 1); got[0].Set != 1 || got[0].Position != 3 {
		t.Errorf("%+v", got)
	}
}

func TestFloorSumOfLargeNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		m := 1 + r.Uint64N(1<<58)
		g, s, c := r.Uint64N(m), r.Uint64N(m), r.Uint64N(m+1)
		n := r.Uint64N(m)
		// One more position adds the one that is counted, or nothing.
		x := mulMod(g, n, m)
		x = (x + s) % m
		want := below(n, m, g, s, c)
		if x < c {
			want++
		}
		if got := below(n+1, m, g, s, c); got != want {
			t.Fatalf("n %d m %d g %d s %d c %d: %d, want %d", n, m, g, s, c, got, want)
		}
	}
}

func mulMod(a, b, m uint64) uint64 {
	out := uint64(0)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			out = (out + a) % m
		}
		a = a * 2 % m
	}
	return out
}

func FuzzBelow(f *testing.F) {
	f.Add(uint16(9), uint16(100), uint16(61), uint16(5), uint16(30))
	f.Fuzz(func(t *testing.T, n, m, g, s, c uint16) {
		if m == 0 {
			return
		}
		g, s, c = g%m, s%m, c%m
		want := uint64(0)
		for i := range uint64(n) {
			if (uint64(g)*i+uint64(s))%uint64(m) < uint64(c) {
				want++
			}
		}
		if got := below(uint64(n), uint64(m), uint64(g), uint64(s), uint64(c)); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	})
}

func BenchmarkMixPositions(b *testing.B) {
	m := mixOf(b, []float64{1, 2, 3, 4}, 1<<30, true, 1<<20, 1<<20, 1<<20, 1<<20)
	e := m.Epoch(1)
	s := Share{World: 8, Batch: 1024}
	var dst []int64
	var at []Place
	for i := range b.N {
		dst, _ = s.Positions(dst[:0], e, 0, int64(i)%1000)
		at = e.Places(at[:0], dst)
	}
}
