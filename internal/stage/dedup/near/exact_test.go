package near

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/weir-data/weir/internal/mem"
)

// brute is the set of a text's n-grams, as strings.
func brute(text []byte, g Gram) map[string]bool {
	set := make(map[string]bool)
	var units [][]byte
	sep := ""
	if g.Bytes {
		for i := range text {
			units = append(units, text[i:i+1])
		}
	} else {
		units, sep = bytes.Fields(text), " "
	}
	if len(units) == 0 {
		return set
	}
	n := min(g.N, len(units))
	for i := 0; i+n <= len(units); i++ {
		set[string(bytes.Join(units[i:i+n], []byte(sep)))] = true
	}
	return set
}

func jaccard(a, b map[string]bool) float64 {
	same := 0
	for g := range a {
		if b[g] {
			same++
		}
	}
	if len(a)+len(b) == 0 {
		return 1
	}
	return float64(same) / float64(len(a)+len(b)-same)
}

// mixedTexts are random ones, copies of others with words replaced, empty ones, and some
// of so many words that a Keeper has no room for them.
func mixedTexts(rng *rand.Rand, n, long int) [][]byte {
	var all [][]byte
	for len(all) < n {
		words := make([]int, rng.IntN(60))
		if long > 0 && rng.IntN(40) == 0 {
			words = make([]int, long/2+rng.IntN(long))
		}
		for i := range words {
			words[i] = rng.IntN(30000)
		}
		var text []byte
		if len(all) > 0 && rng.IntN(2) == 0 {
			old := bytes.Fields(all[rng.IntN(len(all))])
			edits := rng.Float64() * rng.Float64() * 0.1
			words = words[:0]
			for _, w := range old {
				x, _ := strconv.Atoi(string(w))
				if rng.Float64() < edits {
					x = rng.IntN(30000)
				}
				words = append(words, x)
			}
		}
		for _, w := range words {
			text = append(strconv.AppendInt(text, int64(w), 10), ' ')
		}
		all = append(all, text)
	}
	return all
}

// exactGroups is the answer by maps: of each row, the first of its group. Looked at
// are the pairs that a Set looks at.
func exactGroups(all [][]byte, signatures []Signature, o Options) []int {
	sets := make([]map[string]bool, len(all))
	for i, text := range all {
		sets[i] = brute(text, o.Gram)
	}
	known := make(map[[2]int]bool)
	return groupsOf(signatures, o, func(i, j int) bool {
		alike, ok := known[[2]int{i, j}]
		if !ok {
			alike = jaccard(sets[i], sets[j]) >= o.Threshold
			known[[2]int{i, j}] = alike
		}
		return alike
	})
}

// addTexts keeps and adds texts, those of a call by several keepers in any order.
func addTexts(t *testing.T, s *Set, all [][]byte, rng *rand.Rand) {
	t.Helper()
	memory := make([]byte, KeepersCost(3))
	keepers := []*Keeper{s.NewKeeper(memory, 0), s.NewKeeper(memory, 1), s.NewKeeper(memory, 2)}
	for len(all) > 0 {
		n := min(len(all), 1+rng.IntN(50))
		signatures, places := make([]Signature, n), make([]Place, n)
		for _, i := range rng.Perm(n) {
			var err error
			if places[i], err = keepers[rng.IntN(3)].Sign(&signatures[i], all[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Add(t.Context(), signatures, places); err != nil {
			t.Fatal(err)
		}
		all = all[n:]
	}
}

func signed(all [][]byte, g Gram) []Signature {
	signatures, s := make([]Signature, len(all)), NewSigner(g)
	for i, text := range all {
		s.Sign(&signatures[i], text)
	}
	return signatures
}

// TestAKeeperKeepsEveryGramOnceInOrder has texts of more n-grams than there is
// room for, and one that repeats itself.
func TestAKeeperKeepsEveryGramOnceInOrder(t *testing.T) {
	o := Options{Threshold: 0.8, Gram: Gram{N: 1}, Exact: true}
	dir := scratch(t)
	s, err := Open(t.Context(), Config{Options: o, Share: mem.New(Floor), Scratch: dir})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	k, sees := s.NewKeeper(make([]byte, KeepersCost(2)), 1), NewSigner(o.Gram)
	for _, c := range []struct{ words, distinct int }{{0, 1}, {10, 10}, {16384, 16384}, {100_000, 70_000}, {50_000, 3}} {
		var text []byte
		for i := range c.words {
			text = append(strconv.AppendInt(text, int64(i%c.distinct), 10), ' ')
		}
		var want []uint64
		sees.visit = func(grams []uint64) { want = append(want, grams...) }
		var a, b Signature
		sees.Sign(&a, text)
		slices.Sort(want)
		want = slices.Compact(want)
		p, err := k.Sign(&b, text)
		if err != nil || a != b || int(p.n) != len(want) {
			t.Fatalf("%d of %d n-grams, or another signature: %v", p.n, len(want), err)
		}
		if err := s.sets.Flush(); err != nil {
			t.Fatal(err)
		}
		r, err := dir.Reader(setsName)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]uint64, p.n)
		if _, err := r.ReadAt(bytesOf(got), p.at*gramBytes); err != nil && p.n > 0 || !slices.Equal(got, want) {
			t.Errorf("%d words: other n-grams: %v", c.words, err)
		}
		r.Close()
	}
}

// TestExactAnswerIsThatOfBruteForce compares every candidate by its real sets,
// from the least share up.
func TestExactAnswerIsThatOfBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	for _, o := range []Options{
		{Threshold: 0.5, Gram: Gram{N: 1}, Exact: true}, {Threshold: 0.8, Gram: Gram{N: 5}, Exact: true},
		{Threshold: 0.95, Gram: Gram{N: 7, Bytes: true}, Exact: true},
	} {
		all := mixedTexts(rng, 100, 16_000)
		want := exactGroups(all, signed(all, o.Gram), o)
		for _, budget := range []int64{Floor, Floor + rng.Int64N(8<<20), 64 << 20} {
			dir, share := scratch(t), mem.New(budget)
			s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Threads: 1 + rng.IntN(4), Examples: 100})
			if err != nil {
				t.Fatal(err)
			}
			addTexts(t, s, all, rng)
			k, err := s.Finish(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			compare(t, k, dir, share, want, 100)
			cleared(t, s, dir)
		}
	}
}

// TestEveryExactLayoutGivesTheSameAnswer has windows that are far smaller than
// those of any share, and arenas that many sets do not fit.
func TestEveryExactLayoutGivesTheSameAnswer(t *testing.T) {
	const rows = 500
	rng := rand.New(rand.NewPCG(23, 24))
	all := mixedTexts(rng, rows, 500)
	o := Options{Threshold: 0.7, Gram: Gram{N: 3}, Exact: true}
	want := exactGroups(all, signed(all, o.Gram), o)
	for _, arena := range []int{64, 4096, 1 << 16} {
		for _, window := range []int64{64, 512} {
			dir, share := scratch(t), mem.New(8<<20)
			s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Examples: 1000})
			if err != nil {
				t.Fatal(err)
			}
			addTexts(t, s, all, rng)
			if err := s.checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			l := layout{
				threads: 1 + rng.IntN(4), table: slotBytes * 300, buffer: 4096, window: window, windows: int((rows + window - 1) / window), region: 256,
				checkers: 1 + rng.IntN(4), chunk: 512, arena: arena,
			}
			k, err := s.solved(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			compare(t, k, dir, share, want, 1000)
			cleared(t, s, dir)
		}
	}
}

// TestAnExactSetGoesOnWhereACheckpointWas kills a run at random rows.
func TestAnExactSetGoesOnWhereACheckpointWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	all := mixedTexts(rng, 1500, 0)
	o := Options{Threshold: 0.8, Gram: Gram{N: 2}, Exact: true}
	dir, share := scratch(t), mem.New(Floor)
	c := Config{Options: o, Share: share, Scratch: dir, Threads: 2}
	s, err := Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	st, resumed, noted := State{}, 0, 0
	for at := 0; at < len(all); {
		n := min(len(all)-at, rng.IntN(200))
		addTexts(t, s, all[at:at+n], rng)
		at += n
		switch rng.IntN(3) {
		case 0:
			if st, err = s.Checkpoint(t.Context()); err != nil {
				t.Fatal(err)
			}
			noted = at
		case 1:
			if noted == 0 {
				continue
			}
			s.Close()
			text, _ := json.Marshal(st)
			st = State{}
			if err := json.Unmarshal(text, &st); err != nil {
				t.Fatal(err)
			}
			share = mem.New(Floor + rng.Int64N(16<<20))
			c.Share, c.Threads = share, 1+rng.IntN(4)
			if s, err = Resume(t.Context(), c, st); err != nil {
				t.Fatal(err)
			}
			at, resumed = noted, resumed+1
		}
	}
	k := finishTwice(t, s, c)
	if resumed == 0 {
		t.Error("never resumed")
	}
	compare(t, k, dir, share, exactGroups(all, signed(all, o.Gram), o), 0)
	cleared(t, s, dir)
}

// FuzzMerge compares the counting of what two sets have in common with maps.
func FuzzMerge(f *testing.F) {
	f.Add([]byte{1, 2, 3, 9}, []byte{2, 3, 4})
	f.Fuzz(func(t *testing.T, p, q []byte) {
		set := func(p []byte) (v []uint64) {
			for _, c := range p {
				v = append(v, uint64(c))
			}
			slices.Sort(v)
			return slices.Compact(v)
		}
		x, y := set(p), set(q)
		same, i, j := merge(x, y)
		want := int64(0)
		for _, g := range x {
			if slices.Contains(y, g) {
				want++
			}
		}
		if same != want || i != len(x) && j != len(y) {
			t.Fatalf("%d in common, %d were counted up to %d and %d", want, same, i, j)
		}
	})
}
