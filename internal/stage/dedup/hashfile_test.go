package dedup

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/weir-data/weir/internal/format"
)

// hashes is a file of the hashes of keys.
func hashes(t *testing.T, keys []Key) []byte {
	t.Helper()
	dir := scratch(t)
	s, _ := open(t, Floor, 1, dir)
	var out bytes.Buffer
	s.SaveHashes("x", &out)
	if err := s.Add(t.Context(), keys); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Finish(t.Context()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestHashesOfEarlierRunsDropRows also says that the file depends on the rows
// alone, and has only what is new.
func TestHashesOfEarlierRunsDropRows(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	a, b := keysOf("random", 60_000, 1), keysOf("random", 60_000, 2)
	c := append(append([]Key{}, a[:40_000]...), b[20_000:]...)
	rng.Shuffle(len(c), func(i, j int) { c[i], c[j] = c[j], c[i] })
	known := map[Key]bool{}
	for _, k := range append(append([]Key{}, a...), b...) {
		known[k] = true
	}
	c = append(c, keysOf("random", 1000, 5)...)
	want := firsts(c, known)
	var saved [][]byte
	for _, size := range []int64{Floor, 64 << 20} {
		dir := scratch(t)
		s, share := open(t, size, 2, dir)
		for _, earlier := range [][]Key{a, b} {
			if err := s.Against(t.Context(), "x", bytes.NewReader(hashes(t, earlier))); err != nil {
				t.Fatal(err)
			}
		}
		var out bytes.Buffer
		s.SaveHashes("x", &out)
		add(t, s, c, rng)
		finish(t, s, share, dir, want)
		saved = append(saved, out.Bytes())
	}
	if !bytes.Equal(saved[0], saved[1]) {
		t.Error("another share makes another file of hashes")
	}
	if n := (len(saved[0]) - hashHead - 1 - 16) / 16; n > 1000 || n == 0 {
		t.Errorf("%d keys in the file, of 1000 rows that are new", n)
	}
}

func TestDamagedHashesAreRefused(t *testing.T) {
	whole := hashes(t, keysOf("random", 5, 1))
	try := func(p []byte, description string) error {
		s, share := open(t, Floor, 1, scratch(t))
		err := s.Against(t.Context(), description, bytes.NewReader(p))
		s.Close()
		if share.Leased() != 0 {
			t.Fatalf("%d bytes leased", share.Leased())
		}
		return err
	}
	if err := try(whole, "x"); err != nil {
		t.Fatal(err)
	}
	if err := try(whole, "y"); !errors.Is(err, format.ErrUsage) {
		t.Error(err)
	}
	for n := range whole {
		if err := try(whole[:n], "x"); !errors.Is(err, format.ErrData) {
			t.Fatalf("%d bytes: %v", n, err)
		}
		damaged := bytes.Clone(whole)
		damaged[n] ^= 4
		if err := try(damaged, "x"); !errors.Is(err, format.ErrData) && !errors.Is(err, format.ErrUsage) {
			t.Fatalf("byte %d: %v", n, err)
		}
	}
}
