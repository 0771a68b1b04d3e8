package store_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// begin creates an output with exactly the least share there is.
func begin(t *testing.T, ctx context.Context, st store.Creator, url string) (store.Output, *mem.Budget) {
	t.Helper()
	least, _ := store.WriteCost(url)
	share := mem.New(least)
	o, err := st.Create(ctx, url, share)
	if err != nil {
		t.Fatal(err)
	}
	return o, share
}

// put writes in pieces of odd sizes.
func put(o store.Output, data []byte) error {
	for step := 1; len(data) > 0; step = step*3%100_003 + 1 {
		n := min(step, len(data))
		if _, err := o.Write(data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

func visible(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestLocalFileAppearsWholeByCommit(t *testing.T) {
	dir := t.TempDir()
	st := store.New(store.Options{})
	data := noise(300_000, 1)
	for _, scheme := range []string{"", "file://"} {
		name := filepath.Join(dir, "new", "sub"+scheme[:min(4, len(scheme))], "x.bin")
		o, share := begin(t, t.Context(), st, scheme+name)
		if err := put(o, data); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is there before Commit: %v", name, err)
		}
		if err := o.Patch([]byte("head"), 7); err != nil {
			t.Fatal(err)
		}
		if err := o.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
		o.Abort()
		want := bytes.Clone(data)
		copy(want[7:], "head")
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes, want %d, %v", len(got), len(want), err)
		}
		if share.Leased() != 0 {
			t.Error("memory is still leased")
		}
		if err := st.Remove(t.Context(), scheme+name); err != nil {
			t.Fatal(err)
		}
		if err := st.Remove(t.Context(), scheme+name); err != nil {
			t.Errorf("second Remove: %v", err)
		}
	}
	if left := visible(t, dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestLocalAbortLeavesWhatWasThere(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, commit := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		o, share := begin(t, ctx, store.New(store.Options{}), name)
		if err := put(o, noise(1000, 2)); err != nil {
			t.Fatal(err)
		}
		cancel()
		if _, err := o.Write([]byte("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("write after the end: %v", err)
		}
		if commit {
			if err := o.Commit(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("commit after the end: %v", err)
			}
		}
		o.Abort()
		if text, _ := os.ReadFile(name); string(text) != "before" {
			t.Errorf("it holds %q", text)
		}
		if left := visible(t, dir); len(left) != 1 || share.Leased() != 0 {
			t.Errorf("left: %v, %d bytes leased", left, share.Leased())
		}
	}
}

func TestLocalErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	st, share := store.New(store.Options{}), mem.New(1<<20)
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := st.Create(t.Context(), filepath.Join(dir, "f", "x"), share)
	if !errors.Is(err, syscall.ENOTDIR) || err.Error() != filepath.Join(dir, "f", "x")+": not a directory" {
		t.Error(err)
	}
	if _, err = st.Create(t.Context(), dir, share); err == nil || err.Error() != dir+": a directory" {
		t.Error(err)
	}
	if _, err = st.Create(t.Context(), dir+"/g", mem.New(100)); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	if share.Leased() != 0 {
		t.Error("memory is still leased")
	}
	o, _ := begin(t, t.Context(), st, os.DevNull)
	if err := put(o, []byte("abc")); err != nil {
		t.Error(err)
	}
	if err := o.Patch([]byte("x"), 0); err == nil {
		t.Error("a device was patched")
	}
	if err := o.Commit(t.Context()); err != nil {
		t.Error(err)
	}
	if fi, err := os.Stat(os.DevNull); err != nil || fi.Mode().IsRegular() {
		t.Error("the device is gone")
	}
}

func TestPatchReachesWrittenBytesOfTheHeadOnly(t *testing.T) {
	o, _ := begin(t, t.Context(), store.New(store.Options{}), filepath.Join(t.TempDir(), "x"))
	defer o.Abort()
	if err := put(o, make([]byte, 8000)); err != nil {
		t.Fatal(err)
	}
	for off, ok := range map[int64]bool{0: true, store.PatchBytes - 2: true, store.PatchBytes - 1: false, -1: false, 7999: false} {
		if err := o.Patch([]byte("ab"), off); (err == nil) != ok {
			t.Errorf("offset %d: %v", off, err)
		}
	}
}
