package shuffle_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
	"github.com/weir-data/weir/internal/stage/shuffle"
)

func TestFullDiskEndsTheShuffleWithItsName(t *testing.T) {
	rec := numbered(3000, 20)
	defer rec.Release()
	for _, room := range []int64{0, 1000, 100_000} {
		dir, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: spilltest.NewDisk(room, -1)})
		if err != nil {
			t.Fatal(err)
		}
		budget := mem.New(1 << 20)
		c := shuffle.Config{Schema: rec.Schema(), Scratch: dir, Name: "rows", Partitions: 4, Threads: 2}
		s, err := shuffle.NewScatter(ctx, c, budget, nil)
		if err == nil {
			if err = s.Add(ctx, rec, 0); err == nil {
				_, err = s.Close()
			}
			s.Discard()
		}
		if !errors.Is(err, spill.ErrSpace) {
			t.Errorf("with %d bytes free: %v", room, err)
		}
		if budget.Leased() != 0 {
			t.Errorf("%d bytes are still leased", budget.Leased())
		}
	}
}

func TestEveryFailedCallOfTheDiskIsAnError(t *testing.T) {
	rec := numbered(2000, 20)
	defer rec.Release()
	for calls := int64(0); ; calls++ {
		dir, err := spill.OpenWith(filepath.Join(t.TempDir(), "scratch"), spill.Options{System: spilltest.NewDisk(-1, calls)})
		if err != nil {
			t.Fatal(err)
		}
		budget := mem.New(1 << 20)
		c := shuffle.Config{Schema: rec.Schema(), Scratch: dir, Name: "rows", Partitions: 2}
		s, err := shuffle.NewScatter(ctx, c, budget, nil)
		var st shuffle.State
		if err == nil {
			if err = s.Add(ctx, rec, 0); err == nil {
				st, err = s.Checkpoint()
			}
			s.Discard()
		}
		if budget.Leased() != 0 {
			t.Fatalf("%d bytes are still leased", budget.Leased())
		}
		if err != nil {
			continue
		}
		if calls == 0 {
			t.Fatal("no call of the disk failed")
		}
		ids, texts := readAll(t, c, st, budget)
		check(t, 0, rec, ids, texts)
		return
	}
}

func TestDamagedScratchIsAnErrorOfTheData(t *testing.T) {
	rec := numbered(500, 5)
	defer rec.Release()
	budget, dir := mem.New(8<<20), scratch(t)
	c := shuffle.Config{Schema: rec.Schema(), Scratch: dir, Name: "rows", Partitions: 1}
	st := scattered(t, c, budget, rec, 100)
	files, _ := filepath.Glob(filepath.Join(dir.Path(), "*.spill"))
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	p, err := shuffle.Open(c, st)
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []int64{8 << 20, 320 << 10} { // in memory, and scattered again
		small := mem.New(share)
		for at := 0; at < len(whole); at += 997 {
			bad := slices.Clone(whole)
			bad[at] ^= 0x10
			if err := os.WriteFile(files[0], bad, 0o666); err != nil {
				t.Fatal(err)
			}
			if in, err := p.Open(ctx, 0, 0, small); !errors.Is(err, format.ErrData) {
				t.Fatalf("byte %d changed: %v, %v", at, in, err)
			}
		}
		if err := os.WriteFile(files[0], whole[:len(whole)-1], 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Open(ctx, 0, 0, small); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("a truncated file: %v", err)
		}
		if small.Leased() != 0 {
			t.Errorf("%d bytes are still leased", small.Leased())
		}
	}
}
