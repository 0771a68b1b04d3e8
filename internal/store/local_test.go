package store_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/store"
)

// tree writes files into a temporary directory and works there.
func tree(t *testing.T, names ...string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, name := range names {
		write(t, name, []byte(name))
	}
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// localPatterns are read in the directory that the test below makes.
var localPatterns = []struct{ pattern, want string }{
	{"raw", "raw/a.csv raw/b.csv raw/c.json raw/sub/d.csv raw/sub/deep/e.csv"},
	{"./raw/sub/", "./raw/sub/d.csv ./raw/sub/deep/e.csv"},
	{"raw2", "raw2/link.bin raw2/x.csv"},
	{"_w", "_w/in.csv"},
	{"raw/_SUCCESS", "raw/_SUCCESS"},
	{"raw/*", "raw/a.csv raw/b.csv raw/c.json"},
	{"raw/_*", "raw/_SUCCESS"},
	{"raw/**", "raw/a.csv raw/b.csv raw/c.json raw/sub/d.csv raw/sub/deep/e.csv"},
	{"raw/*/", "raw/sub/d.csv raw/sub/deep/e.csv"},
	{"raw/**/*.csv", "raw/a.csv raw/b.csv raw/sub/d.csv raw/sub/deep/e.csv"},
	{"**/e.csv", "raw/sub/deep/e.csv"},
	{"raw/**/deep/**/e.csv", "raw/sub/deep/e.csv"},
	{"*/loop/a.csv", "raw2/loop/a.csv"},
	{"raw/[!a].{csv,json}", "raw/b.csv raw/c.json"},
	{"{raw/{a,b}.csv,raw2/?.csv,raw/a*}", "raw/a.csv raw/b.csv raw2/x.csv"},
	{"part-{000..001}.bin", "part-000.bin part-001.bin"},
	{"{9..10}.txt", "10.txt 9.txt"},
	{"odd[1].csv", "odd[1].csv"},
	{`odd\[*`, "odd[1].csv"},
	{"file://raw/*.json", "file://raw/c.json"},
	{"absent", "error: absent: not found"},
	{"none", "error: none: no files below it (names that begin with . or _ do not count)"},
	{"*.parquet", "error: *.parquet: no file matches"},
	{"absent/*.csv", "error: absent/*.csv: no file matches"},
	{"part-{000..002}.bin", "error: part-002.bin: not found"},
	{"part-{5..4}.bin", "error: part-{5..4}.bin: {5..4} is not a range of 1 to 131072 numbers"},
	{"{0..99999}{0..99999}", "error: {0..99999}{0..99999}: braces stand for more than 131072 patterns"},
	{"raw/[", `error: raw/[: "[" is not a pattern`},
	{"bro*", "error: broken: not found"},
	{"gs://x/y", "error: gs://x/y: not found; weir reads s3:// and local files"},
	{"/dev/null", "error: /dev/null: neither a file nor a directory"},
}

func TestLocalListsWhatAPatternNames(t *testing.T) {
	tree(t, "raw/a.csv", "raw/b.csv", "raw/c.json", "raw/sub/d.csv", "raw/sub/deep/e.csv", "raw/_SUCCESS", "raw/.tmp/f.csv",
		"raw2/x.csv", "part-000.bin", "part-001.bin", "part-010.bin", "odd[1].csv", "_w/in.csv", "none/_x", "9.txt", "10.txt")
	link := func(to, name string) {
		t.Helper()
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	link("../part-000.bin", "raw2/link.bin")
	link("../raw", "raw2/loop")
	link("nowhere", "none/_y")
	link("nowhere", "broken")
	st := store.New(store.Options{})
	for _, test := range localPatterns {
		list, err := st.List(t.Context(), test.pattern)
		got := strings.Join(urls(list), " ")
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.pattern, got, test.want)
		}
	}
	if _, err := st.List(t.Context(), "absent"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("%v is not ErrNotFound", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := st.List(ctx, "raw"); !errors.Is(err, context.Canceled) {
		t.Errorf("%v after cancel", err)
	}
}

func TestLocalReadsWholeRanges(t *testing.T) {
	tree(t)
	data := noise(1<<20+3, 1)
	write(t, "f", data)
	for _, drop := range []bool{false, true} {
		var stats store.Stats
		st := store.New(store.Options{DropCache: drop, Stats: &stats})
		o, r := open(t, st, "f")
		if o.Size != int64(len(data)) || r.Size() != o.Size || r.Remote() || o.ETag == "" {
			t.Errorf("%+v, size %d, remote %v", o, r.Size(), r.Remote())
		}
		p := make([]byte, 1<<16)
		for off := int64(0); off+int64(len(p)) <= o.Size; off += 99_991 {
			if err := r.ReadAt(t.Context(), p, off); err != nil || !bytes.Equal(p, data[off:off+int64(len(p))]) {
				t.Fatalf("offset %d: wrong bytes or %v", off, err)
			}
			r.Drop(off, int64(len(p)))
		}
		if n := stats.Bytes.Load(); n != stats.Requests.Load()<<16 {
			t.Errorf("%d bytes counted", n)
		}
		for _, off := range []int64{o.Size - 1, o.Size, 1 << 60} {
			if err := r.ReadAt(t.Context(), p, off); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("offset %d: %v", off, err)
			}
		}
		if err := r.ReadAt(t.Context(), p, -1); err == nil {
			t.Error("a negative offset is read")
		}
		if n := testing.AllocsPerRun(100, func() { r.ReadAt(context.Background(), p, 5); r.Drop(0, 5) }); n != 0 {
			t.Errorf("%v allocations per read", n)
		}
		r.Close()
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		r.Drop(0, 5)
		if err := r.ReadAt(t.Context(), p, 0); !errors.Is(err, os.ErrClosed) {
			t.Errorf("%v after Close", err)
		}
	}
}

func TestLocalStopsAtAChangedFile(t *testing.T) {
	later := time.Now().Add(time.Hour)
	changes := map[string]func(t *testing.T){
		"shorter":   func(t *testing.T) { os.Truncate("f", 10) },
		"longer":    func(t *testing.T) { write(t, "f", noise(2000, 2)) },
		"same size": func(t *testing.T) { write(t, "f", noise(1000, 2)); os.Chtimes("f", later, later) },
	}
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			tree(t)
			write(t, "f", noise(1000, 1))
			st := store.New(store.Options{})
			o, r := open(t, st, "f")
			change(t)
			for _, n := range []int{5, 500} {
				err := r.ReadAt(t.Context(), make([]byte, n), 0)
				if !errors.Is(err, store.ErrChanged) || !strings.HasPrefix(err.Error(), "f: bytes 0-") {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
			if _, err := st.Open(t.Context(), o); !errors.Is(err, store.ErrChanged) {
				t.Errorf("opened again: %v", err)
			}
		})
	}
}

// A file moved into the place of an open one leaves the open one as it was.
func TestLocalReplacedFileStaysReadable(t *testing.T) {
	tree(t)
	data := noise(1000, 1)
	write(t, "f", data)
	st := store.New(store.Options{})
	o, r := open(t, st, "f")
	write(t, "g", noise(1001, 2))
	if err := os.Rename("g", "f"); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 1000)
	if err := r.ReadAt(t.Context(), p, 0); err != nil || !bytes.Equal(p, data) {
		t.Errorf("wrong bytes or %v", err)
	}
	if _, err := st.Open(t.Context(), o); !errors.Is(err, store.ErrChanged) {
		t.Errorf("opened again: %v", err)
	}
	os.Remove("f")
	if _, err := st.Open(t.Context(), o); !errors.Is(err, store.ErrNotFound) || err.Error() != "f: not found" {
		t.Errorf("opened when gone: %v", err)
	}
}
