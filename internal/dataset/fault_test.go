package dataset_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/store"
)

var errBroken = errors.New("broken on purpose")

// failing is a store whose nth step fails, and every one after it where always
// is set. It says how many steps there were.
func failing(n int, always bool, cause error) (st store.ReadWriter, steps *int) {
	steps = new(int)
	return datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
		if *steps++; *steps == n || always && *steps > n {
			return fmt.Errorf("%s: %w", name, cause)
		}
		return nil
	}}, steps
}

func TestNthOperationFailingNeverMakesAWrongDataset(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		want := golden(t, g)
		good := store.New(store.Options{})
		every := 1
		if g.name == "s3" {
			every = 31
		}
		for n := 1; ; n += every {
			url := g.fresh()
			st, steps := failing(n, n%2 == 0, errBroken)
			at := place(st, url).Died(os.Getpid())
			err := work(t.Context(), at, plan(), false)
			if *steps < n {
				t.Log(*steps, "steps")
				break
			}
			if err != nil && !errors.Is(err, errBroken) {
				t.Fatalf("step %d: %v hides the cause", n, err)
			}
			if used := at.Share.Used(); used != 0 {
				t.Fatalf("step %d: %d bytes are under lease", n, used)
			}
			if err != nil {
				err = work(t.Context(), place(good, url), plan(), false)
			}
			if err != nil && !errors.Is(err, dataset.ErrFinished) {
				t.Fatalf("step %d, then: %v", n, err)
			}
			same(t, g.tree(url), want, fmt.Sprintf("step %d", n))
		}
	})
}

func TestReplacingWithNthOperationFailingNeverMakesAWrongDataset(t *testing.T) {
	g := disk(t)
	want := golden(t, g)
	good := store.New(store.Options{})
	for n := 1; ; n += 5 {
		url := g.fresh()
		if err := work(t.Context(), place(good, url), plan(), false); err != nil {
			t.Fatal(err)
		}
		st, steps := failing(n, n%3 == 0, errBroken)
		err := work(t.Context(), place(st, url), plan(), true)
		if *steps < n {
			break
		}
		if err != nil {
			err = work(t.Context(), place(good, url), plan(), true)
		}
		if err != nil {
			t.Fatalf("step %d, then: %v", n, err)
		}
		same(t, g.tree(url), want, fmt.Sprintf("step %d", n))
	}
}

func TestFullDiskIsNamedAndGoneOnWithLater(t *testing.T) {
	g := disk(t)
	want := golden(t, g)
	url := g.fresh()
	full := false
	st := datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
		full = full || strings.Contains(name, "write") && strings.Contains(name, "val/part-00001")
		if full && strings.HasPrefix(name, "before write") {
			return syscall.ENOSPC
		}
		return nil
	}}
	if err := work(t.Context(), place(st, url), plan(), false); !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(url, "train/part-00000.parquet")); err != nil {
		t.Fatal("what a checkpoint has is gone:", err)
	}
	if err := work(t.Context(), place(store.New(store.Options{}), url), plan(), false); err != nil {
		t.Fatal(err)
	}
	same(t, g.tree(url), want, "then")
}

// TestDamagedJournalFallsBack spoils the newest journal, its state, or all.
func TestDamagedJournalFallsBack(t *testing.T) {
	g := disk(t)
	want := golden(t, g)
	st := store.New(store.Options{})
	for _, pattern := range []string{"journal-*.json", "state-*"} {
		for _, all := range []bool{false, true} {
			for kind, spoil := range map[string]func(string) error{
				"removed": os.Remove,
				"torn":    func(p string) error { return os.Truncate(p, 20) },
				"altered": func(p string) error {
					data, err := os.ReadFile(p)
					if err == nil {
						data[len(data)/3] ^= 1
						err = os.WriteFile(p, data, 0o666)
					}
					return err
				},
			} {
				url := g.fresh()
				life(t, url, 60, false)
				found, err := filepath.Glob(filepath.Join(url, "_weir", pattern))
				if err != nil || len(found) == 0 || strings.HasPrefix(pattern, "j") && len(found) != 2 {
					t.Fatal(found, err)
				}
				if !all {
					found = found[len(found)-1:]
				}
				for _, f := range found {
					if err := spoil(f); err != nil {
						t.Fatal(err)
					}
				}
				if err := work(t.Context(), place(st, url), plan(), false); err != nil {
					t.Fatalf("%s %s: %v", pattern, kind, err)
				}
				same(t, g.tree(url), want, pattern+" "+kind)
			}
		}
	}
}

func TestRunKilledAgainAndAgainComesToItsEnd(t *testing.T) {
	everywhere(t, func(t *testing.T, g ground) {
		want := golden(t, g)
		for seed := range uint64(1) {
			url, lives := g.fresh(), 0
			random := rand.New(rand.NewPCG(seed, 1))
			for ; lives < 40; lives++ {
				if life(t, url, 10+random.IntN(25), false) {
					break
				}
			}
			err := work(t.Context(), place(store.New(store.Options{}), url), plan(), false)
			if err != nil && !errors.Is(err, dataset.ErrFinished) {
				t.Fatal(err)
			}
			same(t, g.tree(url), want, fmt.Sprintf("seed %d, %d lives", seed, lives))
		}
	})
}
