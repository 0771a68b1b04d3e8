package corpus_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/mds"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
)

// shards is a configuration that writes small ones.
func shards(t *testing.T, in, out string) corpus.Config {
	c := config(t, in, out)
	c.Writer, c.Write = mds.Writer(), format.WriteOptions{PartSize: 16 << 10}
	return c
}

// packed is one that compresses them.
func packed(t *testing.T, in, out string) corpus.Config {
	c := shards(t, in, out)
	c.Write.Codec = "gzip"
	return c
}

// stacks is one that writes arrays.
func stacks(t *testing.T, in, out string) corpus.Config {
	c := config(t, in, out)
	c.Npy, c.Run.Options.Columns = true, []string{"id"}
	return c
}

// verified reads a dataset against its manifest.
func verified(t *testing.T, dir string) {
	t.Helper()
	budget := mem.New(64 << 20)
	if _, err := prepare.Verify(t.Context(), store.New(store.Options{}), formats(), dir, budget, nil); err != nil {
		t.Error(err)
	}
	runtest.Empty(t, budget)
}

func TestAFormatWithAnIndexIsReadByIt(t *testing.T) {
	in := source(t, 3)
	want := read(t, in)
	for _, shuffled := range []bool{false, true} {
		c := shards(t, in, t.TempDir()+"/out")
		c.Shuffle = shuffled
		if shuffled {
			c.Write.Codec = "zstd"
		}
		rep := made(t, c)
		got := read(t, c.Out)
		slices.SortFunc(got, func(a, b row) int { return int(a.id - b.id) })
		if !slices.Equal(got, want) || rep.Parts < 20 {
			t.Errorf("%d rows in %d parts, want %d", len(got), rep.Parts, len(want))
		}
		for name, text := range tree(t, c.Out+"/data") {
			if len(text) > 16<<10 {
				t.Errorf("%s has %d bytes", name, len(text))
			}
		}
		verified(t, c.Out)
	}
}

func TestArraysLieBesideTheParts(t *testing.T) {
	in := source(t, 2)
	for _, shuffled := range []bool{false, true} {
		c := stacks(t, in, t.TempDir()+"/out")
		c.Shuffle = shuffled
		made(t, c)
		text, err := os.ReadFile(filepath.Join(c.Out, "id.npy"))
		if err != nil {
			t.Fatal(err)
		}
		if len(text) != 128+8*2*rowsOfFile || !strings.Contains(string(text[:128]), "'<i8', 'fortran_order': False, 'shape': (8000,)") {
			t.Fatalf("%d bytes: %q", len(text), text[:128])
		}
		seen := make(map[uint64]bool)
		for at := 128; at < len(text); at += 8 {
			seen[binary.LittleEndian.Uint64(text[at:])] = true
		}
		if len(seen) != 2*rowsOfFile {
			t.Errorf("%d ids", len(seen))
		}
		verified(t, c.Out)
	}
}

func TestWhatLiesBesideThePartsGoesOnToTheSameBytes(t *testing.T) {
	in := source(t, 3)
	for name, config := range map[string]func(*testing.T, string, string) corpus.Config{"mds": shards, "mds.gz": packed, "npy": stacks} {
		for _, shuffled := range []bool{false, true} {
			c := config(t, in, t.TempDir()+"/out")
			c.Shuffle = shuffled
			made(t, c)
			want := tree(t, c.Out)
			for _, n := range []int64{14, 23} { // a chapter has up to ten shards, and its checkpoint two objects
				c := config(t, in, t.TempDir()+"/out")
				c.Shuffle, c.Every = shuffled, 1
				ends := ended(t, &c, func() int64 { return n })
				if got := tree(t, c.Out); !maps.Equal(got, want) {
					t.Errorf("%s, shuffled %v, ended %d times: other bytes", name, shuffled, ends)
				}
			}
		}
	}
}

func TestWhatCannotLieBesideThePartsIsRefused(t *testing.T) {
	in := source(t, 1)
	for want, change := range map[string]func(*corpus.Config){
		`npy: column "text" is utf8: neither a number nor a list of so many in every row`:  func(c *corpus.Config) { c.Npy = true },
		`npy: the parts are read back, as Parquet or Arrow; with --to mds leave --npy out`: func(c *corpus.Config) { c.Npy, c.Writer = true, mds.Writer() },
		`mds: compression "lz4" is not one of`:                                             func(c *corpus.Config) { c.Writer, c.Write.Codec = mds.Writer(), "lz4" },
	} {
		c := config(t, in, t.TempDir()+"/out")
		change(&c)
		_, err := corpus.Run(t.Context(), c)
		if !errors.Is(err, format.ErrUsage) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
