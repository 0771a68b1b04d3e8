package spill_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/spill/spilltest"
)

func open(t *testing.T, o spill.Options) *spill.Dir {
	t.Helper()
	d, err := spill.OpenWith(filepath.Join(t.TempDir(), "a", "scratch"), o)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func content(t *testing.T, d *spill.Dir, name string) []byte {
	t.Helper()
	r, err := d.Reader(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	p := make([]byte, r.Size())
	if _, err := r.ReadAt(p, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestFileHasWhatWasWritten holds for pieces of any length and any buffer, with
// and without a limit on what waits in the page cache, and for a writer that
// goes on where a checkpoint was.
func TestFileHasWhatWasWritten(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		d := open(t, spill.Options{WriteCache: []int64{0, 100, 4096}[i%3]})
		share := mem.New(1 << 20)
		buffer := []int{0, 1, 13, 4096, 10000}[i%5]
		w, err := d.Create(t.Context(), "x", share, buffer)
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		for range rng.IntN(40) {
			p := make([]byte, rng.IntN([]int{3, 50, 20000}[rng.IntN(3)]))
			for k := range p {
				p[k] = byte(rng.Uint32())
			}
			if n, err := w.Write(p); err != nil || n != len(p) {
				t.Fatal(n, err)
			}
			want = append(want, p...)
			if w.Size() != int64(len(want)) {
				t.Fatalf("size %d, %d were written", w.Size(), len(want))
			}
			switch rng.IntN(10) {
			case 0: // what was written behind a checkpoint is cut off
				if err := w.Sync(); err != nil {
					t.Fatal(err)
				}
				w.Write([]byte("lost"))
				if rng.IntN(2) == 0 {
					w.Flush()
				}
				w.Discard()
				if w, err = d.Append(t.Context(), "x", int64(len(want)), share, buffer); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal("second Close:", err)
		}
		if !bytes.Equal(content(t, d, "x"), want) {
			t.Fatalf("buffer %d: other bytes", buffer)
		}
		if share.Leased() != 0 {
			t.Fatalf("%d bytes leased", share.Leased())
		}
	}
}

func TestCreateBeginsAgain(t *testing.T) {
	d, share := open(t, spill.Options{}), mem.New(1<<20)
	for _, text := range []string{"a longer text", "short"} {
		w, err := d.Create(t.Context(), "x", share, 10)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(w, text)
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got := string(content(t, d, "x")); got != text {
			t.Fatalf("%q, %q was written", got, text)
		}
	}
}

func TestAppendRefusesAFileThatIsTooShort(t *testing.T) {
	d, share := open(t, spill.Options{}), mem.New(1<<20)
	if _, err := d.Append(t.Context(), "x", 3, share, 10); err == nil || !strings.Contains(err.Error(), "0 bytes, 3 were written") {
		t.Fatal(err)
	}
	if share.Leased() != 0 {
		t.Fatalf("%d bytes leased", share.Leased())
	}
}

// TestManyWritersNeedNoDescriptors has more writers than a process may have
// files.
func TestManyWritersNeedNoDescriptors(t *testing.T) {
	d, share := open(t, spill.Options{}), mem.New(16<<20)
	before := descriptors(t)
	var all []*spill.Writer
	for i := range 1100 {
		w, err := d.Create(t.Context(), fmt.Sprint("p", i), share, 100)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(bytes.Repeat([]byte{byte(i)}, 150))
		all = append(all, w)
	}
	if n := descriptors(t) - before; n > 8 {
		t.Errorf("%d descriptors are open", n)
	}
	for _, w := range all {
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := content(t, d, "p7"); !bytes.Equal(got, bytes.Repeat([]byte{7}, 150)) {
		t.Errorf("p7 holds %d other bytes", len(got))
	}
}

func descriptors(t *testing.T) int {
	list, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell its descriptors")
	}
	return len(list)
}

// TestClearLeavesWhatIsNotOurs also holds for the next process.
func TestClearLeavesWhatIsNotOurs(t *testing.T) {
	for _, c := range []struct {
		name          string
		there, others bool // the directory before Open, a file of somebody else
		gone          bool
	}{{"made", false, false, true}, {"made and used", false, true, false}, {"given", true, false, false}} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "scratch")
			if c.there {
				os.Mkdir(path, 0o777)
			}
			d, err := spill.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			w, err := d.Create(t.Context(), "x", mem.New(1<<20), 0)
			if err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("abc"))
			other := filepath.Join(path, "notes.txt")
			if c.others {
				os.WriteFile(other, nil, 0o666)
			}
			if d, err = spill.Open(path); err != nil {
				t.Fatal(err)
			}
			if err := d.Clear(); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(path); os.IsNotExist(err) != c.gone {
				t.Errorf("the directory: %v", err)
			}
			if _, err := os.Stat(other); c.others && err != nil {
				t.Error(err)
			}
			if left, _ := filepath.Glob(filepath.Join(path, "*.spill")); left != nil {
				t.Errorf("left behind: %q", left)
			}
			if err := d.Clear(); err != nil {
				t.Error("second Clear:", err)
			}
		})
	}
}

// TestFullDiskIsErrSpace tries every room below what is needed.
func TestFullDiskIsErrSpace(t *testing.T) {
	for room := range int64(300) {
		disk := spilltest.NewDisk(room, -1)
		d, share := open(t, spill.Options{System: disk}), mem.New(1<<20)
		if err := d.Check(300); !errors.Is(err, spill.ErrSpace) || !strings.Contains(err.Error(), "--scratch") {
			t.Fatal(err)
		}
		if err := d.Check(room); err != nil {
			t.Fatal(err)
		}
		w, err := d.Create(t.Context(), "x", share, 16)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			w.Write([]byte("0123456789"))
		}
		err = w.Close()
		if !errors.Is(err, spill.ErrSpace) || !strings.Contains(err.Error(), "--scratch") {
			t.Fatalf("room %d: %v", room, err)
		}
		if share.Leased() != 0 {
			t.Fatalf("%d bytes leased", share.Leased())
		}
		if err := d.Clear(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestErrorStaysWithTheWriter(t *testing.T) {
	disk := spilltest.NewDisk(-1, 2)
	d := open(t, spill.Options{System: disk})
	w, err := d.Create(t.Context(), "x", mem.New(1<<20), 0)
	if err != nil {
		t.Fatal(err)
	}
	var first error
	for range 3 {
		_, first = w.Write([]byte("abc"))
	}
	if first == nil || errors.Is(first, spill.ErrSpace) {
		t.Fatal(first)
	}
	disk.Calls.Store(-1)
	if _, err := w.Write([]byte("abc")); err != first {
		t.Error(err)
	}
	if err := w.Sync(); err != first {
		t.Error(err)
	}
	if err := w.Close(); err != first {
		t.Error(err)
	}
}

func TestCancelEndsWriting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	d := open(t, spill.Options{})
	w, err := d.Create(ctx, "x", mem.New(1<<20), 0)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := w.Write([]byte("abc")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
}

func TestShortFileIsUnexpectedEOF(t *testing.T) {
	d := open(t, spill.Options{})
	w, _ := d.Create(t.Context(), "x", mem.New(1<<20), 0)
	w.Write([]byte("abc"))
	r, err := d.Reader("x")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := r.ReadAt(make([]byte, 4), 0); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Fatal(err)
	}
	if _, err := d.Reader("y"); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if _, err := d.Reader("../y"); err == nil {
		t.Fatal("a name outside the directory")
	}
}
