package near

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
	"github.com/weir-data/weir/internal/stage/dedup"
)

// scratch is a disk that waits for nothing.
func scratch(t testing.TB) *spill.Dir {
	t.Helper()
	d, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: spilltest.NewDisk(-1, -1)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shapes say of which row, and how far from it, a row is a copy; -1: of none.
var shapes = map[string]func(rng *rand.Rand, row int) (of int, edits float64){
	"groups": func(rng *rand.Rand, row int) (int, float64) {
		if rng.IntN(3) > 0 {
			return -1, 0
		}
		return rng.IntN(row), rng.Float64() * 0.5
	},
	"chain": func(_ *rand.Rand, row int) (int, float64) { return row - 1, 0.1 },
	"star":  func(*rand.Rand, int) (int, float64) { return 0, 0.2 },
	"one":   func(*rand.Rand, int) (int, float64) { return 0, 0 },
	"none":  func(*rand.Rand, int) (int, float64) { return -1, 0 },
}

// planted are signatures of rows of a shape.
func planted(shape string, n int, seed uint64) []Signature {
	rng := rand.New(rand.NewPCG(seed, 1))
	all := make([]Signature, n)
	for i := range all {
		of, edits := -1, 0.0
		if i > 0 {
			of, edits = shapes[shape](rng, i)
		}
		if of >= 0 {
			all[i] = all[of]
		} else {
			edits = 1
		}
		for p := range all[i] {
			if edits == 1 || edits > 0 && rng.Float64() < edits {
				all[i][p] = rng.Uint32()
			}
		}
	}
	return all
}

// groups is the answer by maps: of each row, the first of its group.
func groups(all []Signature, o Options) []int {
	return groupsOf(all, o, func(i, j int) bool {
		same := 0
		for p := range all[i] {
			if all[i][p]%16 == all[j][p]%16 {
				same++
			}
		}
		return !o.Check || same >= leastEqual(o.Threshold)
	})
}

// groupsOf is groups where rows that have a band in common belong together if they
// are alike.
func groupsOf(all []Signature, o Options, alike func(i, j int) bool) []int {
	b, _ := BandsFor(o.Threshold, o.checks())
	parent := make([]int, len(all))
	for i := range parent {
		parent[i] = i
	}
	root := func(i int) int {
		for parent[i] != i {
			i = parent[i]
		}
		return i
	}
	link := func(i, j int) {
		if alike(i, j) {
			x, y := root(i), root(j)
			parent[max(x, y)] = min(x, y)
		}
	}
	first, last := map[uint64]int{}, map[uint64]int{}
	hashes := make([]uint64, b.Count)
	for i := range all {
		b.Hash(hashes, &all[i])
		for _, h := range hashes {
			if f, ok := first[h]; ok {
				link(f, i)
				link(last[h], i)
			} else {
				first[h] = i
			}
			last[h] = i
		}
	}
	for i := range parent {
		parent[i] = root(i)
	}
	return parent
}

// add cuts the rows into calls of any length.
func add(t *testing.T, s *Set, all []Signature, rng *rand.Rand) {
	t.Helper()
	for len(all) > 0 {
		n := min(len(all), 1+rng.IntN([]int{3, 1000, 5000}[rng.IntN(3)]))
		if err := s.Add(t.Context(), all[:n], nil); err != nil {
			t.Fatal(err)
		}
		all = all[n:]
	}
}

// compare looks at every bit of an answer, and at its examples.
func compare(t *testing.T, k *dedup.Kept, dir *spill.Dir, share *mem.Budget, want []int, examples int) {
	t.Helper()
	if share.Leased() != 0 || share.Peak() > share.Limit() {
		t.Fatalf("%d bytes leased behind Finish, at most %d of %d", share.Leased(), share.Peak(), share.Limit())
	}
	b, err := k.Open(t.Context(), dir, share)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	bits := make([]uint64, (len(want)+63)/64)
	if k.Rows != int64(len(want)) {
		t.Fatalf("%d rows of %d", k.Rows, len(want))
	}
	if err := b.Read(0, len(want), bits); err != nil {
		t.Fatal(err)
	}
	distinct := int64(0)
	var shown []dedup.Example
	for i, first := range want {
		if got := bits[i/64]>>(i%64)&1 == 1; got != (first == i) {
			t.Fatalf("row %d: kept is %v", i, got)
		}
		if first == i {
			distinct++
		} else if len(shown) < examples {
			shown = append(shown, dedup.Example{Row: int64(i), First: int64(first)})
		}
	}
	if k.Distinct != distinct {
		t.Fatalf("%d distinct of %d", k.Distinct, distinct)
	}
	if len(shown)+len(k.Examples) > 0 && !reflect.DeepEqual(k.Examples, shown) {
		t.Fatalf("examples are\n%v, not\n%v", k.Examples, shown)
	}
}

// cleared removes a set, and its answer.
func cleared(t *testing.T, s *Set, dir *spill.Dir) {
	t.Helper()
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir.Path(), "*")); len(left) > 2 { // the answer, and the mark of the directory
		t.Fatalf("left behind: %q", left)
	}
	if err := dir.Clear(); err != nil {
		t.Fatal(err)
	}
}

func TestAnswerIsThatOfMaps(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for shape := range shapes {
		for _, n := range []int{0, 1, 2000} {
			all := planted(shape, n, 1)
			for _, check := range []bool{false, true} {
				o := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: check}
				want := groups(all, o)
				t.Run(fmt.Sprintf("%s/%d/%v", shape, n, check), func(t *testing.T) {
					dir, share := scratch(t), mem.New(Floor+rng.Int64N(8<<20))
					s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Threads: 1 + rng.IntN(8), Examples: 300})
					if err != nil {
						t.Fatal(err)
					}
					add(t, s, all, rng)
					k, err := s.Finish(t.Context())
					if err != nil {
						t.Fatal(err)
					}
					compare(t, k, dir, share, want, 300)
					cleared(t, s, dir)
				})
			}
		}
	}
}

// TestEveryLayoutGivesTheSameAnswer has windows and tables that are far smaller
// than those of any share.
func TestEveryLayoutGivesTheSameAnswer(t *testing.T) {
	const rows = 1500
	rng := rand.New(rand.NewPCG(7, 8))
	for shape := range shapes {
		for _, check := range []bool{false, true} {
			o := Options{Threshold: 0.7, Gram: Gram{N: 5}, Check: check}
			all := planted(shape, rows, 2)
			want := groups(all, o)
			for _, window := range []int64{128, 1472} {
				dir, share := scratch(t), mem.New(8<<20)
				s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Examples: 1000})
				if err != nil {
					t.Fatal(err)
				}
				add(t, s, all, rng)
				if err := s.checkpoint(t.Context()); err != nil {
					t.Fatal(err)
				}
				l := layout{
					threads: 1 + rng.IntN(4), table: slotBytes * (256 + rng.IntN(100)), buffer: 4096,
					window: window, windows: int((rows + window - 1) / window), region: 256,
					checkers: 1 + rng.IntN(4), chunk: 4096,
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
}

// TestTableThatIsTooSmallTakesMorePasses has a table of 24 hashes, of 40 in a partition.
func TestTableThatIsTooSmallTakesMorePasses(t *testing.T) {
	o := Options{Threshold: 0.8, Gram: Gram{N: 5}}
	all := planted("groups", 1000, 3)
	dir, share := scratch(t), mem.New(Floor)
	s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir})
	if err != nil {
		t.Fatal(err)
	}
	add(t, s, all, rand.New(rand.NewPCG(1, 1)))
	if err := s.checkpoint(t.Context()); err != nil {
		t.Fatal(err)
	}
	k, err := s.solved(t.Context(), layout{threads: 1, table: 32 * slotBytes, buffer: 4096, direct: true, window: 1024, windows: 1})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	compare(t, k, dir, share, groups(all, o), 0)
}

// finishTwice finishes a set as a run does that ends before it has noted the
// answer, and again.
func finishTwice(t *testing.T, s *Set, c Config) *dedup.Kept {
	t.Helper()
	st, err := s.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	if s, err = Resume(t.Context(), c, st); err != nil {
		t.Fatal(err)
	}
	k, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestResumeGoesOnWhereACheckpointWas kills a run at random rows; it resumes
// with another share and other threads.
func TestResumeGoesOnWhereACheckpointWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	all := planted("groups", 8_000, 3)
	for _, check := range []bool{false, true} {
		o := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: check}
		dir, share := scratch(t), mem.New(Floor)
		c := Config{Options: o, Share: share, Scratch: dir, Threads: 2}
		s, err := Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		var st State
		resumed := 0
		for at, noted := 0, 0; at < len(all); {
			n := min(len(all)-at, rng.IntN(700))
			add(t, s, all[at:at+n], rng)
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
				if err := json.Unmarshal(text, &st); err != nil || st.Rows != int64(noted) {
					t.Fatal(err, st.Rows, noted)
				}
				share = mem.New(Floor + rng.Int64N(16<<20))
				c.Share, c.Threads = share, 1+rng.IntN(4)
				if s, err = Resume(t.Context(), c, st); err != nil {
					t.Fatal(err)
				}
				at = noted
				resumed++
			}
		}
		k := finishTwice(t, s, c)
		if resumed == 0 {
			t.Error("never resumed")
		}
		compare(t, k, dir, share, groups(all, o), 0)
		cleared(t, s, dir)
	}
}
