package corpus_test

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
)

// shuffling is a run that shuffles, with a codec.
func shuffling(t *testing.T, in, codec string) corpus.Config {
	c := config(t, in, t.TempDir()+"/out")
	c.Shuffle, c.ScratchCodec = true, codec
	return c
}

func TestCompressedScratchChangesNoByte(t *testing.T) {
	in := source(t, 3)
	plain := shuffling(t, in, "none")
	if rep := made(t, plain); rep.ScratchPlain != 0 {
		t.Errorf("%d bytes were compressed", rep.ScratchPlain)
	}
	want := tree(t, plain.Out)
	for _, budget := range []int64{40 << 20, 128 << 20} {
		for _, threads := range []int{1, 4} {
			c := shuffling(t, in, "zstd")
			c.Run.Budget, c.Run.Options.Threads = mem.New(budget), threads
			disk := spilltest.NewDisk(-1, -1)
			c.Disk = disk
			rep := made(t, c)
			if !maps.Equal(tree(t, c.Out), want) {
				t.Errorf("budget %d: other bytes", budget)
			}
			if rep.ScratchStored >= rep.ScratchPlain || rep.ScratchStored != disk.Written.Load() {
				t.Errorf("%d bytes became %d, %d on disk", rep.ScratchPlain, rep.ScratchStored, disk.Written.Load())
			}
		}
	}
}

// TestACompressedRunThatWasEndedGoesOnToTheSameBytes ends runs at any step. Those
// that go on are told another codec, which they must not take.
func TestACompressedRunThatWasEndedGoesOnToTheSameBytes(t *testing.T) {
	in := source(t, 3)
	rnd := rand.New(rand.NewPCG(8, 9))
	for _, d := range []corpus.Dedup{{}, {Near: 0.8, Ngram: 3, Bytes: true, Exact: true}, {}} {
		d.By = []string{"text"}
		whole := shuffling(t, in, "none")
		whole.Dedup = &d
		made(t, whole)
		want := tree(t, whole.Out)
		c := shuffling(t, in, "zstd")
		c.Dedup, c.Every = whole.Dedup, 2*time.Millisecond
		codecs := []string{c.ScratchCodec} // what the first run begins with stays, whatever those after it say
		ends := ended(t, &c, func() int64 {
			c.ScratchCodec = codecs[rnd.IntN(len(codecs))]
			codecs = []string{"", "none", "zstd"}
			return 4 + rnd.Int64N(8)
		})
		if got := tree(t, c.Out); ends == 0 || !maps.Equal(got, want) {
			t.Errorf("ended %d times: other bytes", ends)
		}
	}
}

// need is the scratch space that a run asks for, and how it compresses there.
func need(t *testing.T, c corpus.Config) (int64, string) {
	t.Helper()
	p, err := corpus.Plan(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	for _, pass := range p.Passes {
		if pass.Name == "write" {
			return pass.Scratch, pass.Codec
		}
	}
	t.Fatal("no pass that writes")
	return 0, ""
}

func TestRowsAreCompressedWhereDiskIsTheLimit(t *testing.T) {
	in := source(t, 3)
	reference := shuffling(t, in, "none")
	made(t, reference)
	want := tree(t, reference.Out)
	plain, _ := need(t, shuffling(t, in, ""))
	packed, _ := need(t, shuffling(t, in, "zstd"))
	if packed >= plain {
		t.Fatalf("%d bytes compressed, %d else", packed, plain)
	}
	for _, room := range []int64{packed - 1, packed, plain - 1, plain} {
		c := shuffling(t, in, "")
		c.Disk = spilltest.NewDisk(room, -1)
		_, codec := need(t, c)
		rep, err := corpus.Run(t.Context(), c)
		runtest.Empty(t, c.Run.Budget)
		if room < packed {
			if !errors.Is(err, spill.ErrSpace) {
				t.Errorf("%d bytes free, about %d are needed: %v", room, packed, err)
			}
			continue
		}
		if err != nil || !maps.Equal(tree(t, c.Out), want) {
			t.Errorf("%d bytes free: %v, or other bytes", room, err)
		}
		if compressed := room < plain; compressed != (rep.ScratchStored > 0) || compressed != (codec == "zstd") {
			t.Errorf("%d bytes free: codec %q, %d bytes compressed", room, codec, rep.ScratchStored)
		}
	}
}

// TestADiskThatTurnsOutTooSmallIsToldAndTheRunGoesOn has a codec that was asked
// for, which is tried however little room there is.
func TestADiskThatTurnsOutTooSmallIsToldAndTheRunGoesOn(t *testing.T) {
	in := source(t, 3)
	reference := shuffling(t, in, "none")
	made(t, reference)
	c := shuffling(t, in, "zstd")
	c.Disk = spilltest.NewDisk(50_000, -1)
	if _, err := corpus.Run(t.Context(), c); !errors.Is(err, spill.ErrSpace) {
		t.Fatal(err)
	}
	c.Disk, c.ScratchCodec = nil, ""
	made(t, c)
	if !maps.Equal(tree(t, c.Out), tree(t, reference.Out)) {
		t.Error("other bytes")
	}
}
