package order

import (
	"errors"
	"fmt"
	"testing"

	"github.com/weir-data/weir/internal/format"
)

// take lets all ranks take steps [0, n) from a position and counts how often
// each position is taken, repeated ones apart. It holds what every step
// promises.
func take(t *testing.T, seen []uint8, seq Sequence, s Share, from, n int64) {
	t.Helper()
	for step := range n {
		size, padded := -1, 0
		lo, end := from+step*s.Stride(), s.After(seq.Rows(), from, step)
		for s.Rank = range s.world() {
			got, repeated := s.Positions(nil, seq, from, step)
			if size >= 0 && len(got) != size || len(got) == 0 || len(got) > s.Batch {
				t.Fatalf("%+v: step %d from %d has %d rows, another rank %d", s, step, from, len(got), size)
			}
			size, padded = len(got), padded+repeated
			for i, pos := range got {
				if pos < lo || pos >= end || i > 0 && i < len(got)-repeated && pos <= got[i-1] {
					t.Fatalf("%+v: step %d from %d takes %d", s, step, from, got)
				}
				if i < len(got)-repeated {
					seen[pos]++
				}
			}
		}
		if padded >= s.world() || padded > 0 && (s.Drop || step+1 < s.Steps(seq.Rows(), from)) {
			t.Fatalf("%+v: step %d from %d repeats %d samples", s, step, from, padded)
		}
		for pos := lo; pos < end && !s.Drop; pos++ {
			if seen[pos] != 1 {
				t.Fatalf("%+v: after step %d from %d position %d was taken %d times", s, step, from, pos, seen[pos])
			}
		}
	}
}

func sequences(t *testing.T) map[string]Sequence {
	shuffled := plan(t, random(5, 12), Options{Shuffle: true, Seed: 5, Window: 8 << 10})
	plain := plan(t, random(6, 9), Options{Window: 8 << 10})
	mix, err := NewMix([]*Plan{shuffled, plain}, []float64{1, 3}, 1013, 9)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]Sequence{"shuffled": shuffled.Epoch(2), "natural": plain.Epoch(0), "mix": mix.Epoch(1)}
}

func TestAnotherWorldGoesOnAfterEveryStep(t *testing.T) {
	for name, seq := range sequences(t) {
		t.Run(name, func(t *testing.T) {
			n := seq.Rows()
			for _, a := range []Share{{World: 1, Batch: 50}, {World: 2, Batch: 37}, {World: 3, Batch: 16}, {World: 8, Batch: 64}} {
				done := make([]uint8, n)
				for step := range a.Steps(n, 0) {
					from := a.Stride() * step
					for _, b := range []Share{{World: 1, Batch: 700}, {World: 2, Batch: 64}, {World: 3, Batch: 21}, {World: 8, Batch: 9}} {
						seen := append([]uint8(nil), done...)
						take(t, seen, seq, b, from, b.Steps(n, from))
						for pos, times := range seen {
							if times != 1 {
								t.Fatalf("%+v to position %d, then %+v: position %d was taken %d times", a, from, b, pos, times)
							}
						}
					}
					one := a
					take(t, done, seq, one, from, 1)
				}
			}
		})
	}
}

func TestDropLeavesOutLessThanAStep(t *testing.T) {
	for name, seq := range sequences(t) {
		s := Share{World: 3, Batch: 20, Drop: true}
		seen := make([]uint8, seq.Rows())
		const from = 7
		steps := s.Steps(seq.Rows(), from)
		take(t, seen, seq, s, from, steps)
		for pos, times := range seen {
			if want := pos >= from && int64(pos) < from+steps*60; (times == 1) != want {
				t.Fatalf("%s: position %d was taken %d times", name, pos, times)
			}
		}
		if left := seq.Rows() - from - steps*60; left < 0 || left >= 60 {
			t.Errorf("%s: %d are left out", name, left)
		}
	}
}

func TestOneRankTakesTheOrderItself(t *testing.T) {
	for name, seq := range sequences(t) {
		var got []int64
		s := Share{Batch: 13}
		for step := range s.Steps(seq.Rows(), 0) {
			got, _ = s.Positions(got, seq, 0, step)
		}
		for i, pos := range got {
			if pos != int64(i) {
				t.Fatalf("%s: position %d comes as number %d", name, pos, i)
			}
		}
		if int64(len(got)) != seq.Rows() {
			t.Errorf("%s: %d positions of %d", name, len(got), seq.Rows())
		}
	}
}

func TestWorkersDivideTheBatches(t *testing.T) {
	const steps = 23
	for _, k := range []int{1, 2, 5, 30} {
		seen := make([]int, steps)
		for w := range k {
			s := Share{Worker: w, Workers: k, Batch: 1}
			for step := s.Next(0); step < steps; step = s.Next(step + 1) {
				if step%int64(k) != int64(w) {
					t.Fatalf("worker %d of %d takes step %d", w, k, step)
				}
				seen[step]++
			}
		}
		for step, times := range seen {
			if times != 1 {
				t.Fatalf("%d workers: step %d is taken %d times", k, step, times)
			}
		}
	}
}

func TestLastStepIsPaddedFromItself(t *testing.T) {
	seq := plan(t, dataset(8, 100, 1), Options{Shuffle: true}).Epoch(0)
	for from := int64(0); from < 101; from++ {
		seen := make([]uint8, 101)
		s := Share{World: 8, Batch: 4}
		take(t, seen, seq, s, from, s.Steps(101, from))
	}
	if got := (Share{World: 8, Batch: 4}).Steps(101, 101); got != 0 {
		t.Errorf("%d steps at the end", got)
	}
	if got := (Share{Batch: 4}).After(101, 3, 24); got != 101 {
		t.Errorf("after the last step comes %d", got)
	}
}

// narrowed holds that every sample of a share is found in its narrowed windows,
// where it is found in the whole ones, and counts the rows to be read.
func narrowed(t *testing.T, e *Epoch, s Share, from int64) (read int64) {
	t.Helper()
	used := make([][]int64, e.Windows())
	for step := s.Next(0); step < s.Steps(e.Rows(), from); step = s.Next(step + 1) {
		positions, _ := s.Positions(nil, e, from, step)
		for _, pos := range positions {
			i := e.At(pos)
			used[i] = append(used[i], pos)
		}
	}
	for i, positions := range used {
		whole, w := e.Window(i), e.Window(i)
		e.Narrow(w, s, from)
		read += w.Held
		want := whole.Numbers(nil, whole.Deck(nil), positions)
		for k, n := range w.Numbers(nil, w.Deck(nil), positions) {
			if int64(n)+w.lo != int64(want[k]) || n < 0 || int64(n) >= w.Held {
				t.Fatalf("%+v from %d: window %d: row %d is number %d of %d from %d", s, from, i, want[k], n, w.Held, w.lo)
			}
		}
		if w.Held > 0 && w.First+w.Rows <= from || w.Held > w.Rows {
			t.Fatalf("%+v from %d: window %d is read for nothing", s, from, i)
		}
	}
	return read
}

func TestNarrowKeepsWhatIsUsed(t *testing.T) {
	for _, shuffle := range []bool{true, false} {
		e := plan(t, random(8, 40), Options{Shuffle: shuffle, Window: 32 << 10}).Epoch(1)
		for _, world := range []int{1, 3, 8} {
			for _, batch := range []int{1, 33, 512} {
				for _, from := range []int64{0, 1001} {
					for _, workers := range []int{1, 2} {
						for rank := range world {
							narrowed(t, e, Share{Rank: rank, World: world, Batch: batch, Worker: workers - 1, Workers: workers, Drop: from > 0}, from)
						}
					}
				}
			}
		}
	}
}

func TestRanksReadApart(t *testing.T) {
	e := plan(t, dataset(128, 40000, 40000, 40000), Options{Shuffle: true, Window: 8 << 20}).Epoch(0)
	for _, c := range []struct {
		world, batch int
		from         int64
		most         float64 // rows read by all ranks, of those of the windows that are left
	}{{2, 256, 0, 1}, {8, 256, 0, 1}, {64, 64, 0, 1}, {3, 256, 0, 1.05}, {5, 1000, 0, 1.1}, {8, 100, 0, 1.3}, {8, 256, 12345, 1.3}, {64, 500, 12345, 4}} {
		read := int64(0)
		for rank := range c.world {
			read += narrowed(t, e, Share{Rank: rank, World: c.world, Batch: c.batch, Drop: true}, c.from)
		}
		times := float64(read) / float64(e.Rows()-e.Window(e.At(c.from)).First)
		t.Logf("world %d, batch %d from %d: every row is read %.2f times", c.world, c.batch, c.from, times)
		if times > c.most {
			t.Errorf("world %d, batch %d from %d: every row is read %.2f times", c.world, c.batch, c.from, times)
		}
	}
}

func TestCheckNamesTheField(t *testing.T) {
	if err := (Share{Batch: 1}).Check(); err != nil {
		t.Error(err)
	}
	for _, s := range []Share{{}, {Batch: 1, Rank: 1}, {Batch: 1, World: -1}, {Batch: 1, Rank: -1, World: 2}, {Batch: 1, Worker: 3, Workers: 3}, {Batch: 1, Workers: -1}} {
		if err := s.Check(); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%+v: %v", s, err)
		}
	}
}

func BenchmarkPositions(b *testing.B) {
	e := plan(b, dataset(128, 1<<20, 1<<20), Options{Shuffle: true}).Epoch(0)
	for _, world := range []int{1, 8} {
		b.Run(fmt.Sprint("world", world), func(b *testing.B) {
			s := Share{World: world, Batch: 1024}
			var dst []int64
			for i := range b.N {
				dst, _ = s.Positions(dst[:0], e, 0, int64(i)%100)
			}
		})
	}
}

func FuzzShare(f *testing.F) {
	f.Add(uint16(300), uint8(3), uint8(20), uint16(7), true)
	f.Fuzz(func(t *testing.T, rows uint16, world, batch uint8, from uint16, shuffle bool) {
		n := int64(rows % 3000)
		s := Share{World: int(world%20) + 1, Batch: int(batch) + 1}
		e := plan(t, dataset(9, n/3, n-n/3), Options{Shuffle: shuffle, Window: 4 << 10}).Epoch(1)
		start := min(int64(from), n)
		seen := make([]uint8, n)
		take(t, seen, e, s, start, s.Steps(n, start))
		for pos, times := range seen {
			if (times == 1) != (int64(pos) >= start) {
				t.Fatalf("position %d was taken %d times", pos, times)
			}
		}
		for s.Rank = range s.World {
			narrowed(t, e, s, start)
		}
	})
}
