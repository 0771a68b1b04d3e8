package near

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/weir-data/weir/internal/format"
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
			if rng.Float64() < edits {
				all[i][p] = rng.Uint32()
			}
		}
	}
	return all
}

// groups is the answer by maps: of each row, the first of its group.
func groups(all []Signature, o Options) []int {
	b, _ := BandsFor(o.Threshold, o.Check)
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
		same := 0
		for p := range all[i] {
			if all[i][p]%16 == all[j][p]%16 {
				same++
			}
		}
		if !o.Check || same >= leastEqual(o.Threshold) {
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
		if err := s.Add(t.Context(), all[:n]); err != nil {
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
		for _, n := range []int{0, 1, 64, 6000} {
			for _, check := range []bool{false, true} {
				o := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: check}
				all := planted(shape, n, 1)
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
	const rows = 2500
	rng := rand.New(rand.NewPCG(7, 8))
	for shape := range shapes {
		for _, check := range []bool{false, true} {
			o := Options{Threshold: 0.7, Gram: Gram{N: 5}, Check: check}
			all := planted(shape, rows, 2)
			want := groups(all, o)
			for _, window := range []int64{128, 1024, 2496, 2560} {
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

// TestResumeGoesOnWhereACheckpointWas kills a run at random rows; it resumes
// with another share and other threads.
func TestResumeGoesOnWhereACheckpointWas(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	all := planted("groups", 15_000, 3)
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
			n := min(len(all)-at, rng.IntN(1500))
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
		// A run that ends in Finish begins it again.
		if st, err = s.Checkpoint(t.Context()); err != nil {
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
		if resumed == 0 {
			t.Error("never resumed")
		}
		compare(t, k, dir, share, groups(all, o), 0)
		cleared(t, s, dir)
	}
}

// TestFullDiskEndsInErrSpace also has disks on which the Nth call fails.
func TestFullDiskEndsInErrSpace(t *testing.T) {
	all := planted("groups", 2000, 1)
	for _, check := range []bool{false, true} {
		o := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: check}
		run := func(disk *spilltest.Disk) error {
			dir, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: disk})
			if err != nil {
				t.Fatal(err)
			}
			share := mem.New(Floor)
			s, err := Open(t.Context(), Config{Options: o, Share: share, Scratch: dir, Threads: 2})
			if err != nil {
				t.Fatal(err)
			}
			err = s.Add(t.Context(), all)
			if err == nil {
				if _, err = s.Checkpoint(t.Context()); err == nil {
					l := layout{threads: 2, table: 16 << 10, buffer: 4096, window: 512, windows: 4, region: 64, checkers: 2, chunk: 4096}
					_, err = s.solved(t.Context(), l)
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
		if most, err := Scratch(int64(len(all)), o); err != nil || bytes > most {
			t.Errorf("%d bytes were written, %d were told: %v", bytes, most, err)
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
}

func TestWhatASetCannotWorkWithIsRefused(t *testing.T) {
	o := Options{Threshold: 0.8, Gram: Gram{N: 5}}
	if _, err := Open(t.Context(), Config{Options: o, Share: mem.New(Floor - 1), Scratch: scratch(t)}); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	share := mem.New(Floor)
	if _, err := Open(t.Context(), Config{Options: Options{Threshold: 2}, Share: share, Scratch: scratch(t)}); !errors.Is(err, format.ErrUsage) {
		t.Error(err)
	}
	if _, err := Scratch(10, Options{}); !errors.Is(err, format.ErrUsage) {
		t.Error(err)
	}
	for _, text := range []string{
		`{}`, `{"threshold":0.7,"gram":{"n":5}}`, `{"threshold":0.8,"gram":{"n":5},"rows":1,"keys":[1]}`, `{"threshold":0.8,"gram":{"n":5},"rows":-5}`,
	} {
		var st State
		if err := json.Unmarshal([]byte(text), &st); err != nil {
			t.Fatal(err)
		}
		if _, err := Resume(t.Context(), Config{Options: o, Share: share, Scratch: scratch(t)}, st); !errors.Is(err, format.ErrData) {
			t.Errorf("%s: %v", text, err)
		}
	}
	st := State{Options: o, Rows: 3, Keys: make([]int64, parts)}
	b, _ := BandsFor(o.Threshold, false)
	st.Keys[5] = int64(3 * b.Count)
	if _, err := Resume(t.Context(), Config{Options: o, Share: share, Scratch: scratch(t)}, st); err == nil {
		t.Error("files that are not there")
	}
	if share.Leased() != 0 {
		t.Errorf("%d bytes leased", share.Leased())
	}
}

// TestNoLayoutNeedsMoreThanItsShare adds the blocks of both phases up.
func TestNoLayoutNeedsMoreThanItsShare(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	refused := 0
	for range 20000 {
		limit := Floor << rng.IntN(12) * (64 + rng.Int64N(64)) / 64
		rows := rng.Int64N(1 << (rng.IntN(36) + 1))
		threads, check := 1+rng.IntN(64), rng.IntN(2) == 0
		most := rows * 13 / parts * rng.Int64N(3)
		l, ok := divide(limit, rows, most, threads, check)
		if !ok {
			refused++
			continue
		}
		block := func(n int64) int64 { return int64(mem.BlockSize(int(n))) }
		find := accounts + int64(l.threads)*block(int64(leastHeld+l.buffer+l.table))
		join := accounts + 4*block(bitsBuffer)
		if l.direct {
			find += block(4 * l.window)
			join += block(4 * l.window)
		} else {
			row := int64(windowRow)
			if check {
				row += sketchBytes
			}
			fans := int64(l.windows)*2*fanAccount + block(int64(l.region*l.windows))
			find += fans
			join += fans + block(row*l.window) + int64(l.checkers)*block(int64(l.chunk+checkBuffer))
		}
		if find > limit || join > limit || l.table < 256*slotBytes || l.window*int64(l.windows) < rows || l.window > 1<<windowBits && !l.direct {
			t.Fatalf("%d rows, %d threads, check %v: %d and %d of %d bytes: %+v", rows, threads, check, find, join, limit, l)
		}
	}
	if refused > 10000 {
		t.Errorf("%d of 20000 refused", refused)
	}
}

func FuzzKeysAndSlots(f *testing.F) {
	f.Add(uint64(1), uint64(2), uint64(3))
	f.Add(^uint64(0), uint64(mostRows-1), uint64(mostRows-1))
	f.Fuzz(func(t *testing.T, hash, row, last uint64) {
		hash, row, last = hash&hashMask, row%mostRows, last%mostRows
		var b [keyBytes]byte
		packKey(b[:], hash|row<<hashBits, row)
		if h, r := unpackKey(b[:]); h != hash || r != row {
			t.Fatalf("key of %x and %d is %x and %d", hash, row, h, r)
		}
		s := slot(hash, row, last)
		if x, y := rowsOf(s); x != row || y != last || s[0]&hashMask != hash || s[1] == 0 {
			t.Fatalf("slot of %x, %d and %d: %x, %d and %d", hash, row, last, s, x, y)
		}
	})
}

func FuzzEqual(f *testing.F) {
	f.Add(make([]byte, 2*sketchBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p [2 * sketchBytes]byte
		copy(p[:], b)
		want := 0
		for i := range sketchBytes {
			if x := p[i] ^ p[i+sketchBytes]; x&15 == 0 {
				want++
			}
			if x := p[i] ^ p[i+sketchBytes]; x>>4 == 0 {
				want++
			}
		}
		if got := equal(p[:sketchBytes], p[sketchBytes:]); got != want {
			t.Fatalf("%d, not %d: %v", got, want, p)
		}
	})
}
