package near

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
)

// TestFullDiskEndsInErrSpace also has disks on which the Nth call fails.
func TestFullDiskEndsInErrSpace(t *testing.T) {
	all := mixedTexts(rand.New(rand.NewPCG(3, 3)), 1000, 0)
	text := int64(0)
	for _, t := range all {
		text += int64(len(t))
	}
	for _, o := range []Options{
		{Threshold: 0.8, Gram: Gram{N: 5}}, {Threshold: 0.8, Gram: Gram{N: 5}, Check: true}, {Threshold: 0.8, Gram: Gram{N: 5}, Exact: true},
	} {
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
			err = addSigned(t, s, all)
			if err == nil {
				if _, err = s.Checkpoint(t.Context()); err == nil {
					l := layout{threads: 2, table: 16 << 10, buffer: 4096, window: 256, windows: 4, region: 64, checkers: 2, chunk: 4096, arena: 4096}
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
		if most, err := Scratch(int64(len(all)), text, o); err != nil || bytes > most {
			t.Errorf("%d bytes were written, %d were told: %v", bytes, most, err)
		}
		for i := range int64(6) {
			if err := run(spilltest.NewDisk(bytes*i/6, -1)); !errors.Is(err, spill.ErrSpace) {
				t.Errorf("%d of %d bytes: %v", bytes*i/6, bytes, err)
			}
			if err := run(spilltest.NewDisk(-1, calls*i/6)); err == nil || errors.Is(err, spill.ErrSpace) {
				t.Errorf("%d of %d calls: %v", calls*i/6, calls, err)
			}
		}
	}
}

// addSigned adds texts, with their n-grams where they are kept.
func addSigned(t *testing.T, s *Set, all [][]byte) error {
	if !s.c.Exact {
		return s.Add(t.Context(), signed(all, s.c.Gram), nil)
	}
	k := s.NewKeeper(make([]byte, KeepersCost(1)), 0)
	signatures, places := make([]Signature, len(all)), make([]Place, len(all))
	for i, text := range all {
		var err error
		if places[i], err = k.Sign(&signatures[i], text); err != nil {
			return err
		}
	}
	return s.Add(t.Context(), signatures, places)
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
	both := Options{Threshold: 0.8, Gram: Gram{N: 5}, Check: true, Exact: true}
	if _, err := Open(t.Context(), Config{Options: both, Share: share, Scratch: scratch(t)}); !errors.Is(err, format.ErrUsage) {
		t.Error(err)
	}
	if _, err := Scratch(10, 0, Options{}); !errors.Is(err, format.ErrUsage) {
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
