package scale

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/weir-data/weir/internal/mem"
)

// anyFloat is a finite number of any size.
func anyFloat(r *rand.Rand) float64 {
	for {
		if v := math.Float64frombits(r.Uint64()); v-v == 0 {
			return v
		}
	}
}

func TestExactSumsHaveNoRounding(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	edge := []float64{0, math.Copysign(0, -1), 5e-324, -5e-324, math.MaxFloat64, -math.MaxFloat64, 1, 0x1p-1022}
	var x, y exact
	want, one := new(big.Rat), new(big.Rat)
	for i := range 2000 {
		a, b, n := anyFloat(r), anyFloat(r), r.Uint64()>>(1+r.IntN(63))
		if i%3 == 0 {
			a, b = edge[r.IntN(len(edge))], edge[r.IntN(len(edge))]
		}
		if to := &x; i%2 == 0 {
			to.add(a, b, n)
		} else {
			y.add(a, b, n)
		}
		one.SetFloat64(a)
		want.Add(want, one.Mul(one, new(big.Rat).SetFloat64(b)).Mul(one, new(big.Rat).SetInt(new(big.Int).SetUint64(n))))
	}
	x.join(&y)
	unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), -exactLow))
	if got := new(big.Rat).Mul(new(big.Rat).SetInt(x.int()), unit); got.Cmp(want) != 0 {
		t.Errorf("the sum is off by %v", got.Sub(got, want).FloatString(10))
	}
}

// TestMomentsKeepTenDigits sorts the values of a block, so that the distances
// are from the one farthest out: the worst that can be.
func TestMomentsKeepTenDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i, value := range []func() float64{
		func() float64 { return 1e12 + r.NormFloat64() },
		func() float64 { return math.Pow(r.Float64(), -3) },
		func() float64 { return 1e-140 * r.NormFloat64() },
		func() float64 { return 1e150 * r.NormFloat64() },
	} {
		name := []string{"offset", "outlier", "tiny", "huge"}[i]
		v := make([]float64, 3*Block+17)
		sum := new(big.Float).SetPrec(600)
		for i := range v {
			v[i] = value()
		}
		slices.SortFunc(v[:Block], func(a, b float64) int { return cmp.Compare(b, a) })
		for _, x := range v {
			sum.Add(sum, big.NewFloat(x))
		}
		mean := new(big.Float).SetPrec(600).Quo(sum, big.NewFloat(float64(len(v))))
		m2 := new(big.Float).SetPrec(600)
		for _, x := range v {
			d := new(big.Float).SetPrec(600).Sub(big.NewFloat(x), mean)
			m2.Add(m2, d.Mul(d, d))
		}
		var m moments
		m.begin()
		for part := range slices.Chunk(v, Block) {
			if !m.open.add(part) {
				t.Fatal(name)
			}
			m.end()
		}
		a, b := m.spread()
		wa, _ := mean.Float64()
		wb, _ := m2.Float64()
		if !near(a, wa, 1e-13) && math.Abs(a-wa) > 1e-13*math.Sqrt(wb) || !near(b, wb, 1e-10) {
			t.Errorf("%s: mean %v, m2 %v, want %v, %v", name, a, b, wa, wb)
		}
	}
}

func TestSketchKeepsItsBound(t *testing.T) {
	const n = 200_000
	r := rand.New(rand.NewPCG(3, 2))
	for k, value := range []func(i int) float64{
		func(int) float64 { return r.NormFloat64() },
		func(i int) float64 { return float64(i) },
		func(i int) float64 { return float64(-i) },
		func(int) float64 { return float64(r.IntN(5)) },
		func(i int) float64 { return math.Sin(float64(i)) * float64(i%7) },
	} {
		name := []string{"random", "ascending", "descending", "few", "waves"}[k]
		budget := mem.New(sketchBytes + 256<<10)
		o, err := newOrder(budget, 64<<10)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]float64, n)
		for i := range all {
			all[i] = value(i)
		}
		for at := 0; at < n; {
			k := min(n-at, Block-at%Block, 1+r.IntN(5000))
			if err := o.add(uint64(at/Block), all[at:at+k]); err != nil {
				t.Fatal(err)
			}
			at += k
		}
		slices.Sort(all)
		ranks, exact, off, err := o.ranks()
		if err != nil || exact || off > 0.002 {
			t.Fatalf("%s: exact %v, error %v: %v", name, exact, off, err)
		}
		worst, bias := 0, 0
		for rank := 0; rank < n; rank += 7 {
			v := ranks.at(uint64(rank))
			lo, _ := slices.BinarySearch(all, v)
			hi, _ := slices.BinarySearch(all, math.Nextafter(v, math.Inf(1)))
			worst = max(worst, lo-rank, rank-hi+1)
			bias += (lo+hi-1)/2 - rank
		}
		if bias /= n / 7; name != "few" && max(bias, -bias) > int(off*n)/8 {
			t.Errorf("%s: off by %d ranks on average", name, bias)
		}
		if bound := int(off * n); worst > bound {
			t.Errorf("%s: off by %d ranks, the bound is %d", name, worst, bound)
		} else {
			t.Logf("%s: off by %d ranks of %d, the bound is %d", name, worst, n, bound)
		}
		o.free()
		if n := budget.Leased(); n != 0 {
			t.Errorf("%d bytes still leased", n)
		}
		budget.Trim()
	}
}

// TestNoValueIsLostWhenMemoryIsFull adds runs of one to three values until they
// become a sketch, and some more.
func TestNoValueIsLostWhenMemoryIsFull(t *testing.T) {
	budget := mem.New(4 << 20)
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 2))
		o, err := newOrder(budget, 4096)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for key := uint64(0); o.words != nil || n < 1000; key++ {
			v := []float64{float64(n), float64(n + 1), float64(n + 2)}[:1+r.IntN(3)]
			if err := o.add(key, v); err != nil {
				t.Fatal(err)
			}
			n += len(v)
		}
		ranks, _, off, err := o.ranks()
		if err != nil || off > 1/float64(n) {
			t.Fatalf("error %v: %v", off, err)
		}
		for i := range n {
			if got := ranks.at(uint64(i)); got != float64(i) {
				t.Fatalf("rank %d is %v", i, got)
			}
		}
		o.free()
	}
	if n := budget.Leased(); n != 0 {
		t.Errorf("%d bytes still leased", n)
	}
}

func TestSelectionFindsRanksInAnyOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		n := 1 + r.IntN(3000)
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(r.IntN(1 + r.IntN(n)))
		}
		want := slices.Sorted(slices.Values(v))
		s := selection{values: v}
		for range 8 {
			k := r.IntN(n)
			if got := s.at(uint64(k)); got != want[k] {
				t.Fatalf("rank %d of %d: %v, want %v", k, n, got, want[k])
			}
		}
	}
}

func TestSortIsThatOfTheLibrary(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 60 {
		v, spare := make([]float64, r.IntN(Block+1)), make([]float64, Block)
		for i := range v {
			if v[i] = anyFloat(r); r.IntN(2) == 0 {
				v[i] = float64(r.IntN(100) - 50)
			}
		}
		want := slices.Sorted(slices.Values(v))
		if sortFloats(v, spare); !slices.Equal(v, want) {
			t.Fatalf("%v, want %v", v, want)
		}
	}
}

func TestTableCountsUntilItIsFull(t *testing.T) {
	budget := mem.New(1 << 20)
	block, err := budget.Map(t.Context(), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	tab, want := newTable(block), map[string]uint64{}
	r := rand.New(rand.NewPCG(1, 1))
	for i := 0; ; i++ {
		key := fmt.Sprint(r.IntN(1 + i))
		if !tab.add([]byte(key), 2) {
			break
		}
		want[key] += 2
	}
	if len(want) < 1000 || tab.n != len(want) {
		t.Errorf("full with %d keys, %d were added", tab.n, len(want))
	}
	tab.each(func(key []byte, n uint64) {
		if got, ok := tab.get(key); want[string(key)] != n || !ok || got != n {
			t.Errorf("%s: %d, want %d", key, n, want[string(key)])
		}
		delete(want, string(key))
	})
	if len(want) > 0 {
		t.Errorf("%d keys were lost", len(want))
	}
	block.Free()
}

func TestColumnsTakeNoMoreThanIsLeased(t *testing.T) {
	if n := unsafe.Sizeof(column{}) + unsafe.Sizeof(order{}) + unsafe.Sizeof(table{}); n > columnBytes {
		t.Errorf("%d bytes, %d are leased", n, columnBytes)
	}
}
