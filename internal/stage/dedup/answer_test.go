package dedup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
)

// shapes are keys that are hard to tell apart or to spread.
var shapes = map[string]func(rng *rand.Rand) Key{
	"random":   func(rng *rand.Rand) Key { return Key{rng.Uint64(), rng.Uint64()} },
	"one top":  func(rng *rand.Rand) Key { return Key{7, uint64(rng.IntN(300000))} },
	"one end":  func(rng *rand.Rand) Key { return Key{uint64(rng.IntN(300000)), 7} },
	"one part": func(rng *rand.Rand) Key { return Key{uint64(rng.IntN(300000)) << 8, 1 << 40} },
	"high":     func(rng *rand.Rand) Key { return Key{uint64(rng.IntN(1000)) << 54, uint64(rng.IntN(1000)) << 54} },
	"one":      func(*rand.Rand) Key { return Key{} },
	"few":      func(rng *rand.Rand) Key { return Key{^uint64(0) - rng.Uint64N(3), ^uint64(0)} },
}

// scratch is a disk that waits for nothing.
func scratch(t testing.TB) *spill.Dir {
	t.Helper()
	d, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: spilltest.NewDisk(-1, -1)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func keysOf(shape string, n int, seed uint64) []Key {
	rng := rand.New(rand.NewPCG(seed, 1))
	keys := make([]Key, n)
	for i := range keys {
		if i > 0 && rng.IntN(3) == 0 {
			keys[i] = keys[rng.IntN(i)]
		} else {
			keys[i] = shapes[shape](rng)
		}
	}
	return keys
}

// firsts is the answer of a map.
func firsts(keys []Key, earlier map[Key]bool) []bool {
	seen := make(map[Key]bool, len(keys))
	keep := make([]bool, len(keys))
	for i, k := range keys {
		keep[i] = !seen[k] && !earlier[k]
		seen[k] = true
	}
	return keep
}

func open(t *testing.T, size int64, threads int, dir *spill.Dir) (*Set, *mem.Budget) {
	t.Helper()
	share := mem.New(size)
	s, err := Open(Config{Share: share, Scratch: dir, Threads: threads})
	if err != nil {
		t.Fatal(err)
	}
	return s, share
}

// add cuts the keys into calls of any length.
func add(t *testing.T, s *Set, keys []Key, rng *rand.Rand) {
	t.Helper()
	for len(keys) > 0 {
		n := min(len(keys), 1+rng.IntN([]int{3, 1000, 50000}[rng.IntN(3)]))
		if err := s.Add(t.Context(), keys[:n]); err != nil {
			t.Fatal(err)
		}
		keys = keys[n:]
	}
}

// finish compares the answer with that of a map, and leaves nothing behind.
func finish(t *testing.T, s *Set, share *mem.Budget, dir *spill.Dir, want []bool) {
	t.Helper()
	k, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if share.Leased() != 0 {
		t.Fatalf("%d bytes leased behind Finish", share.Leased())
	}
	if share.Peak() > share.Limit() {
		t.Fatalf("peak %d of %d", share.Peak(), share.Limit())
	}
	if err := s.Remove(); err != nil {
		t.Fatal(err)
	}
	compare(t, *k, dir, share, want)
	if left, _ := filepath.Glob(filepath.Join(dir.Path(), "*")); len(left) > 2 {
		t.Fatalf("left behind: %q", left)
	}
	if err := dir.Clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir.Path()); !os.IsNotExist(err) {
		t.Fatal("scratch space is still there:", err)
	}
}

func compare(t *testing.T, k Kept, dir *spill.Dir, share *mem.Budget, want []bool) {
	t.Helper()
	b, err := k.Open(t.Context(), dir, share)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if k.Rows != int64(len(want)) {
		t.Fatalf("%d rows of %d", k.Rows, len(want))
	}
	bits := make([]uint64, (len(want)+63)/64)
	if err := b.Read(0, len(want), bits); err != nil {
		t.Fatal(err)
	}
	kept := int64(0)
	for i, keep := range want {
		if got := bits[i/64]>>(i%64)&1 == 1; got != keep {
			t.Fatalf("row %d: kept is %v", i, got)
		}
		if keep {
			kept++
		}
	}
	if k.Distinct != kept {
		t.Fatalf("%d distinct of %d", k.Distinct, kept)
	}
}

// TestAnswerIsThatOfAMap holds whatever the keys look like, the share, the
// threads, and the calls the rows come in.
func TestAnswerIsThatOfAMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for shape := range shapes {
		for _, n := range []int{0, 1, 64, 5000, 200_000} {
			keys := keysOf(shape, n, 1)
			want := firsts(keys, nil)
			for _, size := range []int64{Floor, 16 << 20} {
				if n < 5000 && size > Floor {
					continue
				}
				threads := 1 + rng.IntN(8)
				t.Run(fmt.Sprintf("%s/%d/%d", shape, n, size), func(t *testing.T) {
					dir := scratch(t)
					s, share := open(t, size, threads, dir)
					add(t, s, keys, rng)
					finish(t, s, share, dir, want)
				})
			}
		}
	}
}

// TestEveryBudgetAndThreadCountGivesTheSameAnswer walks through shares in which
// keys stay in memory, go to disk in part, and go there whole.
func TestEveryBudgetAndThreadCountGivesTheSameAnswer(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	keys := keysOf("random", 220_000, 2)
	want := firsts(keys, nil)
	for threads := 1; threads <= 8; threads++ {
		dir := scratch(t)
		s, share := open(t, Floor+int64(threads-1)*500_000, threads, dir)
		add(t, s, keys, rng)
		finish(t, s, share, dir, want)
	}
}

// TestSmallTableTakesMorePasses has partitions that no table of the share can
// hold, in memory that is made smaller than any share.
func TestSmallTableTakesMorePasses(t *testing.T) {
	for _, shape := range []string{"random", "one part", "one"} {
		keys := keysOf(shape, 120_000, 7)
		want := firsts(keys, nil)
		for _, flushed := range []bool{false, true} {
			dir := scratch(t)
			s, share := open(t, 16<<20, 2, dir)
			add(t, s, keys, rand.New(rand.NewPCG(1, 1)))
			l := layout{threads: 2, table: 300 * slotBytes, buffer: leastBuffer, flushed: flushed}
			if shape == "one part" {
				l.table = 10000 * slotBytes
			}
			if err := s.settle(t.Context()); err != nil {
				t.Fatal(err)
			}
			k, err := s.solved(t.Context(), l)
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			compare(t, *k, dir, share, want)
			if share.Leased() != 0 {
				t.Fatalf("%d bytes leased", share.Leased())
			}
		}
	}
}

// TestResumeGoesOnWhereACheckpointWas kills a run at random rows; it resumes
// with another share and other threads.
func TestResumeGoesOnWhereACheckpointWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	keys := keysOf("random", 180_000, 3)
	earlier := keysOf("random", 1000, 4)
	copy(keys[5000:], earlier[:500])
	known := map[Key]bool{}
	for _, k := range earlier {
		known[k] = true
	}
	want := firsts(keys, known)
	for range 3 {
		dir := scratch(t)
		s, share := open(t, Floor, 2, dir)
		if err := s.Against(t.Context(), "x", bytes.NewReader(hashes(t, earlier))); err != nil {
			t.Fatal(err)
		}
		var st State
		var err error
		at, noted := 0, 0
		for at < len(keys) {
			n := min(len(keys)-at, rng.IntN(40000))
			add(t, s, keys[at:at+n], rng)
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
				if st.Rows != int64(noted) {
					t.Fatalf("checkpoint of row %d behind row %d", st.Rows, noted)
				}
				share = mem.New(Floor + rng.Int64N(16<<20))
				if s, err = Resume(t.Context(), Config{Share: share, Scratch: dir, Threads: 1 + rng.IntN(4)}, st); err != nil {
					t.Fatal(err)
				}
				at = noted
			}
		}
		finish(t, s, share, dir, want)
	}
}

// TestFullDiskEndsInErrSpace also has disks on which the Nth call fails.
func TestFullDiskEndsInErrSpace(t *testing.T) {
	keys := keysOf("random", 200_000, 1)
	run := func(disk *spilltest.Disk) error {
		dir, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: disk})
		if err != nil {
			t.Fatal(err)
		}
		s, share := open(t, Floor, 2, dir)
		err = s.Add(t.Context(), keys)
		if err == nil {
			if _, err = s.Checkpoint(t.Context()); err == nil {
				_, err = s.Finish(t.Context())
			}
		}
		s.Close()
		if share.Leased() != 0 {
			t.Fatalf("%d bytes leased behind %v", share.Leased(), err)
		}
		if err := dir.Clear(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir.Path()); !os.IsNotExist(err) {
			t.Fatal("scratch space is still there:", err)
		}
		return err
	}
	whole := spilltest.NewDisk(-1, 1<<40)
	if err := run(whole); err != nil {
		t.Fatal(err)
	}
	calls, bytes := int64(1<<40)-whole.Calls.Load(), whole.Written.Load()
	if most := Scratch(int64(len(keys))); bytes > most {
		t.Errorf("%d bytes were written, %d were told", bytes, most)
	}
	for i := range int64(8) {
		if err := run(spilltest.NewDisk(bytes*i/8, -1)); !errors.Is(err, spill.ErrSpace) {
			t.Errorf("%d of %d bytes: %v", bytes*i/8, bytes, err)
		}
		if err := run(spilltest.NewDisk(-1, calls*i/8)); err == nil || errors.Is(err, spill.ErrSpace) {
			t.Errorf("%d of %d calls: %v", calls*i/8, calls, err)
		}
	}
}

func TestBitsCanBeReadFromAnyRow(t *testing.T) {
	keys := keysOf("random", 3000, 1)
	want := firsts(keys, nil)
	dir := scratch(t)
	s, share := open(t, Floor, 1, dir)
	add(t, s, keys, rand.New(rand.NewPCG(1, 1)))
	k, err := s.Finish(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b, err := k.Open(t.Context(), dir, share)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	bits := make([]uint64, 4)
	for row := range len(keys) {
		n := min(row%200, len(keys)-row)
		if err := b.Read(int64(row), n, bits); err != nil {
			t.Fatal(err)
		}
		for i := range (n + 63) / 64 * 64 {
			if got := bits[i/64]>>(i%64)&1 == 1; got != (i < n && want[row+i]) {
				t.Fatalf("row %d, bit %d: %v", row, i, got)
			}
		}
	}
	if err := b.Read(2999, 2, bits); err == nil {
		t.Error("a row behind the last")
	}
}

func TestShareBelowTheFloorIsRefused(t *testing.T) {
	if _, err := Open(Config{Share: mem.New(Floor - 1), Scratch: scratch(t)}); !errors.Is(err, mem.ErrTooSmall) {
		t.Fatal(err)
	}
}

func TestDamagedCheckpointIsRefused(t *testing.T) {
	for _, text := range []string{`{}`, `{"rows":1,"keys":[1]}`, `{"rows":-5}`} {
		var st State
		json.Unmarshal([]byte(text), &st)
		if _, err := Resume(t.Context(), Config{Share: mem.New(Floor), Scratch: scratch(t)}, st); !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", text, err)
		}
	}
	st := State{Rows: 3, Keys: make([]int64, parts)}
	st.Keys[5] = 3
	share := mem.New(Floor)
	if _, err := Resume(t.Context(), Config{Share: share, Scratch: scratch(t)}, st); err == nil || errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if share.Leased() != 0 {
		t.Errorf("%d bytes leased", share.Leased())
	}
}
