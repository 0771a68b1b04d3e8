package spill_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
)

// coders opens some, which are given back with the test.
func coders(t *testing.T, n int) *spill.Coders {
	t.Helper()
	share := mem.New(spill.CodersCost(n))
	c, err := spill.OpenCoders(t.Context(), share, n)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		if share.Used() != 0 {
			t.Errorf("%d bytes leased", share.Used())
		}
	})
	return c
}

// piece is bytes of which some can be compressed and some cannot.
func piece(rng *rand.Rand, n int) []byte {
	p := make([]byte, n)
	noise := rng.IntN(3)
	for k := range p {
		if p[k] = "abcd"[k/7%4]; noise > 0 && rng.IntN(noise) == 0 {
			p[k] = byte(rng.Uint32())
		}
	}
	return p
}

// TestCompressedFileHasWhatWasWritten holds for pieces of any length, with and
// without a buffer, for a writer that goes on where a checkpoint was, and for
// reading anywhere.
func TestCompressedFileHasWhatWasWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := coders(t, 1)
	for i := range 40 {
		d := open(t, spill.Options{WriteCache: []int64{0, 4096}[i%2]}).Compressed(c)
		share := mem.New(1 << 20)
		buffer := []int{0, 5000}[i/2%2]
		w, err := d.Create(t.Context(), "x", share, buffer)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for range 1 + rng.IntN(20) {
			p := piece(rng, rng.IntN([]int{3, 5000, 300_000}[rng.IntN(3)]))
			if _, err := w.Write(p); err != nil {
				t.Fatal(err)
			}
			if want = append(want, p...); w.Size() != int64(len(want)) {
				t.Fatalf("size %d, %d were written", w.Size(), len(want))
			}
			if rng.IntN(5) == 0 {
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
				w.Write(piece(rng, 7000))
				w.Flush()
				w.Discard()
				if w, err = d.Append(t.Context(), "x", int64(len(want)), share, buffer); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		readEverywhere(t, d, want, rng)
	}
}

func readEverywhere(t *testing.T, d *spill.Dir, want []byte, rng *rand.Rand) {
	t.Helper()
	r, err := d.Reader("x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for from, front := 0, rng.IntN(2) == 0; ; {
		n := min(rng.IntN(200_000), len(want)-from)
		p := make([]byte, n)
		if _, err := r.ReadAt(p, int64(from)); err != nil || !bytes.Equal(p, want[from:from+n]) {
			t.Fatalf("other bytes from %d to %d of %d: %v", from, from+n, len(want), err)
		}
		if front {
			from += n
		} else {
			from = rng.IntN(len(want) + 1)
		}
		if from == len(want) || rng.IntN(30) == 0 {
			break
		}
	}
	if _, err := r.ReadAt(make([]byte, len(want)+1), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
}

// TestADamagedBlockIsAnError holds for every byte of a file that is changed, and
// for one that ends too early.
func TestADamagedBlockIsAnError(t *testing.T) {
	d := open(t, spill.Options{}).Compressed(coders(t, 1))
	w, err := d.Create(t.Context(), "x", mem.New(1<<20), 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	size := 0
	for _, n := range []int{300, 70} {
		k, _ := w.Write(piece(rng, n))
		size += k
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(d.Path(), "x.spill")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(b []byte) error {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := d.Reader("x")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		_, err = r.ReadAt(make([]byte, size), 0)
		return err
	}
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1 << (i % 8)
		if err := read(b); !errors.Is(err, spill.ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("byte %d changed: %v", i, err)
		}
		if err := read(whole[:i]); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
		if _, err := d.Append(t.Context(), "x", int64(size), mem.New(1<<20), 0); err == nil {
			t.Fatalf("cut to %d bytes: appended to", i)
		}
	}
	if err := read(whole); err != nil {
		t.Fatal(err)
	}
}

// FuzzCompressedFile reads files of any bytes: what comes is an error, or all that
// was asked for.
func FuzzCompressedFile(f *testing.F) {
	head := []byte{'b', 'l', 'c', 'k', 9, 0, 0, 0, 9, 0, 0, 0}
	f.Add(append(bytes.Clone(head), "12345678abcdefghi"...), int64(0), 5)
	f.Add(head, int64(1), 100)
	share := mem.New(spill.CodersCost(1))
	c, err := spill.OpenCoders(f.Context(), share, 1)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, file []byte, off int64, n int) {
		d := open(t, spill.Options{}).Compressed(c)
		if err := os.WriteFile(filepath.Join(d.Path(), "x.spill"), file, 0o600); err != nil {
			t.Fatal(err)
		}
		off, n = off&(1<<40-1), n&(1<<20-1)
		r, err := d.Reader("x")
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if k, err := r.ReadAt(make([]byte, n), off); err == nil && k != n ||
			err != nil && !errors.Is(err, spill.ErrDamaged) && !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatal(k, err)
		}
		if w, err := d.Append(t.Context(), "x", off, mem.New(1<<20), 0); err == nil {
			w.Discard()
		}
	})
}

func TestAFullDiskIsToldOfCompressedFilesToo(t *testing.T) {
	d := open(t, spill.Options{System: spilltest.NewDisk(1000, -1)}).Compressed(coders(t, 1))
	w, err := d.Create(t.Context(), "x", mem.New(1<<20), 0)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for range 100 {
		if _, err = w.Write(piece(rng, 1000)); err != nil {
			break
		}
	}
	if !errors.Is(err, spill.ErrSpace) {
		t.Fatal(err)
	}
}

// TestCodersHoldWhatTheyCost looks at the Go heap: the rest is mapped.
func TestCodersHoldWhatTheyCost(t *testing.T) {
	live := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	const n = 8
	d := open(t, spill.Options{})
	before := live()
	c := coders(t, n)
	d = d.Compressed(c)
	rng := rand.New(rand.NewPCG(1, 1))
	w, err := d.Create(t.Context(), "x", mem.New(1<<20), 0)
	if err != nil {
		t.Fatal(err)
	}
	p := piece(rng, 300_000)
	for range 5 * n {
		w.Write(p)
	}
	w.Close()
	r, err := d.Reader("x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 5 * n {
		if _, err := r.ReadAt(p, int64(i*len(p))); err != nil {
			t.Fatal(err)
		}
	}
	held := live() - before - int64(len(p))
	if most := spill.CodersCost(n); held > most {
		t.Errorf("%d coders hold %d bytes, %d were leased", n, held, most)
	}
	t.Logf("%d bytes a coder", held/n)
	runtime.KeepAlive(c)
}
