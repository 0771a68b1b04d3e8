package order

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stream"
)

// dataset is n units of the given rows each, rowBytes a row.
func dataset(rowBytes int64, rows ...int64) []Unit {
	units := make([]Unit, len(rows))
	at := int64(0)
	for i, n := range rows {
		units[i] = Unit{From: stream.Cursor{Row: at}, Rows: n, Bytes: n * rowBytes}
		at += n
	}
	return units
}

// random is a dataset of units from nothing to several windows.
func random(seed uint64, units int) []Unit {
	r := rand.New(rand.NewPCG(seed, 1))
	rows := make([]int64, units)
	for i := range rows {
		rows[i] = int64(r.ExpFloat64() * []float64{0, 3, 40, 900}[r.IntN(4)])
	}
	return dataset(1+r.Int64N(100), rows...)
}

func plan(t testing.TB, units []Unit, opt Options) *Plan {
	t.Helper()
	p, err := New(units, opt)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// rowsOf is the dataset's row, counted from its beginning, at every position.
func rowsOf(t testing.TB, e *Epoch) []int64 {
	t.Helper()
	out := make([]int64, 0, e.Rows())
	var deck, numbers []int32
	for i := range e.Windows() {
		w := e.Window(i)
		if w.First != int64(len(out)) || w.Rows == 0 || w.Rows > e.Widest() {
			t.Fatalf("window %d begins at %d with %d rows, %d rows came before", i, w.First, w.Rows, len(out))
		}
		var held, positions []int64
		for _, p := range w.Pieces() {
			for r := range p.Rows {
				held = append(held, p.From.Row+p.Skip+r)
			}
		}
		for pos := w.First; pos < w.First+w.Rows; pos++ {
			if e.At(pos) != i {
				t.Fatalf("position %d is in window %d, not %d", pos, i, e.At(pos))
			}
			positions = append(positions, pos)
		}
		deck = w.Deck(deck)
		numbers = w.Numbers(numbers[:0], deck, positions)
		for _, n := range numbers {
			out = append(out, held[n])
		}
	}
	return out
}

func TestEpochHasEveryRowOnce(t *testing.T) {
	for seed := range uint64(12) {
		for _, window := range []int64{4 << 10, 20 << 10, 1 << 20} {
			for _, shuffle := range []bool{true, false} {
				e := plan(t, random(seed, 60), Options{Shuffle: shuffle, Seed: seed, Window: window}).Epoch(int(seed))
				rows := rowsOf(t, e)
				if !shuffle && !slices.IsSorted(rows) {
					t.Fatal("the natural order is another")
				}
				slices.Sort(rows)
				for i, r := range rows {
					if r != int64(i) {
						t.Fatalf("seed %d, window %d: row %d is missing or double", seed, window, i)
					}
				}
				if int64(len(rows)) != e.Rows() {
					t.Fatalf("%d rows of %d", len(rows), e.Rows())
				}
			}
		}
	}
}

// TestOrderIsWhatItWas holds the order that saved positions rely on.
func TestOrderIsWhatItWas(t *testing.T) {
	p := plan(t, random(7, 40), Options{Shuffle: true, Seed: 7, Window: 16 << 10})
	got := uint64(0)
	for e := range 3 {
		for _, r := range rowsOf(t, p.Epoch(e)) {
			got = key(got, uint64(r))
		}
	}
	if want := uint64(0x8cca894b49921748); got != want || p.Digest() != 0x1a83393d8e77d14e {
		t.Errorf("order %#x digest %#x: checkpoints made before are worth nothing", got, p.Digest())
	}
}

func TestSeedAndEpochChangeTheOrder(t *testing.T) {
	units := random(3, 50)
	seen := map[uint64]bool{}
	for seed := range uint64(4) {
		for epoch := range 4 {
			sum := uint64(0)
			for _, r := range rowsOf(t, plan(t, units, Options{Shuffle: true, Seed: seed, Window: 8 << 10}).Epoch(epoch)) {
				sum = key(sum, uint64(r))
			}
			seen[sum] = true
		}
	}
	if len(seen) != 16 {
		t.Errorf("%d orders of 16", len(seen))
	}
}

func TestDigestTellsOrdersApart(t *testing.T) {
	units := random(3, 50)
	base := plan(t, units, Options{Shuffle: true, Seed: 1})
	if base.Digest() != plan(t, slices.Clone(units), Options{Shuffle: true, Seed: 1, Window: 64 << 20}).Digest() {
		t.Error("one order, two digests")
	}
	for i, change := range []func(*Unit){
		func(u *Unit) { u.Rows++ }, func(u *Unit) { u.Bytes++ }, func(u *Unit) { u.From.Object++ },
		func(u *Unit) { u.From.Row++ }, func(u *Unit) { u.From.Offset++ },
	} {
		other := slices.Clone(units)
		other[49].Rows++
		other[49].Bytes++
		same := plan(t, slices.Clone(other), Options{Shuffle: true, Seed: 1}).Digest()
		change(&other[49])
		if plan(t, other, Options{Shuffle: true, Seed: 1}).Digest() == same {
			t.Errorf("change %d is not seen", i)
		}
	}
	for _, opt := range []Options{{}, {Shuffle: true}, {Shuffle: true, Seed: 1, Window: 1 << 20}} {
		if plan(t, units, opt).Digest() == base.Digest() {
			t.Errorf("%+v is not told apart", opt)
		}
	}
}

// weigh is the bytes of a window as Options.Window counts them.
func weigh(units []Unit, w *Window) (bytes int64) {
	for _, p := range w.Pieces() {
		skip, left := p.Skip, p.Rows
		for u := p.Unit; left > 0; u++ {
			n := min(left, units[u].Rows-skip)
			if n > 0 {
				bytes += (units[u].size().weight*n-1)/units[u].Rows + 1
				left -= n
			}
			skip = max(0, skip-units[u].Rows)
		}
	}
	return bytes
}

func TestWindowsHold(t *testing.T) {
	const window = 64 << 10
	for name, units := range map[string][]Unit{
		"units above the window": dataset(100, 5000, 100000, 1, 700, 800),
		"units below it":         dataset(100, slices.Repeat([]int64{80}, 300)...),
		"tiny units":             dataset(10, slices.Repeat([]int64{1}, 20000)...),
		"rows without bytes":     dataset(0, 1<<20, 1<<20),
		"rows above the window":  dataset(100<<10, 1, 3, 1, 2),
	} {
		p := plan(t, units, Options{Shuffle: true, Window: window})
		e := p.Epoch(0)
		few := 0
		for i := range e.Windows() {
			w := e.Window(i)
			bytes := weigh(units, w)
			slack := int64(len(w.Pieces())) * 200 // a cut is by whole rows
			if bytes > p.Largest()+slack || p.Largest() > window && w.Rows > 1 {
				t.Fatalf("%s: window %d: %d rows, %d bytes", name, i, w.Rows, bytes)
			}
			if bytes < window/2 {
				few++
			}
			if n := len(w.Pieces()); n > 200 {
				t.Fatalf("%s: window %d has %d pieces", name, i, n)
			}
		}
		if few > 1 {
			t.Errorf("%s: %d of %d windows are less than half full", name, few, e.Windows())
		}
	}
}

func TestNaturalOrderIsReadInOneGo(t *testing.T) {
	e := plan(t, random(5, 500), Options{Window: 32 << 10}).Epoch(3)
	for i := range e.Windows() {
		w := e.Window(i)
		if p := w.Pieces(); len(p) != 1 {
			t.Fatalf("window %d has %d pieces", i, len(p))
		}
		if len(w.Deck(nil)) != 0 {
			t.Fatal("the natural order has a deck")
		}
	}
}

func TestPiecesOfARangeAreThatRange(t *testing.T) {
	e := plan(t, random(11, 80), Options{Shuffle: true, Window: 16 << 10}).Epoch(0)
	for i := range e.Windows() {
		w := e.Window(i)
		var all []int64
		for _, p := range w.Pieces() {
			for r := range p.Rows {
				all = append(all, p.From.Row+p.Skip+r)
			}
		}
		for lo := int64(0); lo <= w.Rows; lo += 1 + w.Rows/17 {
			for hi := lo; hi <= w.Rows; hi += 1 + w.Rows/13 {
				var got []int64
				w.hold(lo, hi)
				for _, p := range w.Pieces() {
					if p.Skip >= e.plan.units[p.Unit].Rows || p.From != e.plan.units[p.Unit].From {
						t.Fatalf("%+v does not begin in its unit", p)
					}
					for r := range p.Rows {
						got = append(got, p.From.Row+p.Skip+r)
					}
				}
				if !slices.Equal(got, all[lo:hi]) {
					t.Fatalf("window %d rows %d to %d: %v", i, lo, hi, got)
				}
			}
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		units []Unit
		opt   Options
		kind  error
	}{
		"negative rows":  {[]Unit{{Rows: -1}}, Options{}, format.ErrData},
		"negative bytes": {[]Unit{{Bytes: -1}}, Options{}, format.ErrData},
		"endless rows":   {[]Unit{{Rows: 1 << 62}}, Options{}, format.ErrData},
		"endless bytes":  {[]Unit{{Rows: 1, Bytes: 1<<58 - 9}, {Rows: 1, Bytes: 1 << 20}}, Options{}, format.ErrData},
		"no window":      {nil, Options{Window: -1}, format.ErrUsage},
		"small window":   {nil, Options{Window: 100}, format.ErrUsage},
		"too many cuts":  {[]Unit{{Rows: 1 << 50, Bytes: 1 << 50}}, Options{Window: 4 << 10}, format.ErrUsage},
	} {
		if _, err := New(c.units, c.opt); !errors.Is(err, c.kind) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Footprint(c.units, c.opt); !errors.Is(err, c.kind) {
			t.Errorf("%s: Footprint: %v", name, err)
		}
	}
	e := plan(t, []Unit{{}, {}}, Options{Shuffle: true}).Epoch(0)
	if e.Rows() != 0 || e.Windows() != 0 {
		t.Error("nothing has rows")
	}
}

func FuzzEpoch(f *testing.F) {
	f.Add([]byte{1, 0, 200, 3, 90}, uint64(1), uint16(4096), uint8(3))
	f.Fuzz(func(t *testing.T, rows []byte, seed uint64, window uint16, rowBytes uint8) {
		units := dataset(int64(rowBytes), 0)[:0]
		at := int64(0)
		for _, n := range rows {
			units = append(units, Unit{From: stream.Cursor{Row: at}, Rows: int64(n), Bytes: int64(n) * int64(rowBytes)})
			at += int64(n)
		}
		p, err := New(units, Options{Shuffle: true, Seed: seed, Window: 4096 + int64(window)})
		if err != nil {
			t.Fatal(err)
		}
		got := rowsOf(t, p.Epoch(int(seed%5)))
		slices.Sort(got)
		for i, r := range got {
			if r != int64(i) {
				t.Fatalf("row %d is missing or double", i)
			}
		}
		if int64(len(got)) != at {
			t.Fatalf("%d rows of %d", len(got), at)
		}
	})
}
