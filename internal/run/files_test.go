package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/klauspost/compress/zstd"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
)

// tree is all files below a directory, hidden ones too.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir+"/")] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func sorted(m map[string]string) []string {
	var names []string
	for n := range m {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// indexed is JSON lines with an index, as MDS has.
func indexed() format.Writer {
	w := json.Writer()
	w.Name = "indexed"
	w.PartName = func(i int, _ format.WriteOptions) string { return fmt.Sprintf("shard.%05d.x", i) }
	w.Index = func(_ *arrow.Schema, _ format.WriteOptions, parts []format.Part) (string, []byte, error) {
		var b bytes.Buffer
		for _, p := range parts {
			fmt.Fprintf(&b, "%s %d rows %d bytes\n", p.Name, p.Rows, p.Bytes)
		}
		return "index.txt", b.Bytes(), nil
	}
	return w
}

func ids(n int) arrow.RecordBatch {
	return runtest.Random(arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int8}}, nil), n, 3)
}

func TestDirectoryIsCutIntoParts(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	for i, test := range []struct {
		writer format.Writer
		url    string
		want   []string
	}{
		{json.Writer(), dir + "/0/", []string{"part-00000.jsonl", "part-00001.jsonl", "part-00002.jsonl", "part-00003.jsonl"}},
		{indexed(), dir + "/1", []string{"index.txt", "shard.00000.x", "shard.00001.x", "shard.00002.x", "shard.00003.x"}},
	} {
		c := config(&runtest.Fake{Record: ids(100)})
		c.Options.BatchRows = 50
		c.Sink = run.Files{Store: store.New(store.Options{}), URL: test.url, Writer: test.writer,
			Options: format.WriteOptions{PartSize: 10}}.Target
		r, err := run.Scan(t.Context(), c)
		if err != nil || r.Rows != 200 {
			t.Fatalf("%d rows, %v", r.Rows, err)
		}
		got := tree(t, fmt.Sprintf("%s/%d", dir, i))
		if !slices.Equal(sorted(got), test.want) {
			t.Errorf("files %v, want %v", sorted(got), test.want)
		}
		lines := 0
		for name, text := range got {
			if !strings.HasPrefix(name, "index") {
				lines += strings.Count(text, "\n")
			}
		}
		if lines != 200 {
			t.Errorf("%d lines", lines)
		}
		if i == 1 && strings.Count(got["index.txt"], " 50 rows ") != 4 {
			t.Errorf("index:\n%s", got["index.txt"])
		}
		runtest.Empty(t, c.Budget)
		// Once more into the same directory.
		c = config(&runtest.Fake{At: func(context.Context, int) error { t.Error("data was read"); return nil }})
		c.Sink = run.Files{Store: store.New(store.Options{}), URL: test.url, Writer: test.writer}.Target
		_, err = run.Scan(t.Context(), c)
		want := fmt.Sprintf("%s/%d/ already holds %s; name another directory or remove it", dir, i, test.want[0])
		if !errors.Is(err, format.ErrUsage) || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		runtest.Empty(t, c.Budget)
	}
}

func TestFailureRemovesPartsThatWereDone(t *testing.T) {
	dir := t.TempDir()
	for stop := range 5 {
		for _, how := range []string{"error", "cancel"} {
			ctx, cancel := context.WithCancel(t.Context())
			torn := errors.New("torn")
			c := config(&runtest.Fake{Record: ids(100), At: func(ctx context.Context, n int) error {
				switch {
				case n == stop && how == "cancel":
					cancel()
					return ctx.Err()
				case n == stop:
					return torn
				}
				if n > 0 && len(tree(t, dir)) != n {
					t.Errorf("%d files after %d batches", len(tree(t, dir)), n)
				}
				return nil
			}})
			c.Options.BatchRows = 40
			c.Sink = run.Files{Store: store.New(store.Options{}), URL: dir, Writer: indexed(),
				Options: format.WriteOptions{PartSize: 1}}.Target
			if _, err := run.Scan(ctx, c); !errors.Is(err, torn) && !errors.Is(err, context.Canceled) {
				t.Errorf("%s at %d: %v", how, stop, err)
			}
			if left := tree(t, dir); len(left) != 0 {
				t.Errorf("%s at %d: left %v", how, stop, sorted(left))
			}
			runtest.Empty(t, c.Budget)
			cancel()
		}
	}
}

func TestFailingIndexRemovesAllParts(t *testing.T) {
	dir := t.TempDir()
	w := indexed()
	w.Index = func(_ *arrow.Schema, _ format.WriteOptions, parts []format.Part) (string, []byte, error) {
		return "index.txt", nil, errors.New("no index")
	}
	c := config(&runtest.Fake{Record: ids(100)})
	c.Sink = run.Files{Store: store.New(store.Options{}), URL: dir, Writer: w}.Target
	if _, err := run.Scan(t.Context(), c); !errors.Is(err, run.ErrOutput) || err.Error() != "output: no index" {
		t.Error(err)
	}
	if left := tree(t, dir); len(left) != 0 {
		t.Errorf("left %v", sorted(left))
	}
	runtest.Empty(t, c.Budget)
}

func TestTextIsCompressedAsNameOrCodecSays(t *testing.T) {
	unzstd := func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) }
	gunzip := func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) }
	for _, test := range []struct {
		url, codec, file string
		open             func(io.Reader) (io.Reader, error)
	}{
		{"x.jsonl.zst", "", "x.jsonl.zst", unzstd},
		{"x.jsonl.gz", "", "x.jsonl.gz", gunzip},
		{"x.jsonl", "gzip:9", "x.jsonl", gunzip},
		{"d/", "zstd", "d/part-00000.jsonl.zst", unzstd},
	} {
		dir := t.TempDir()
		c := config(&runtest.Fake{Record: ids(1000)})
		c.Sink = run.Files{Store: store.New(store.Options{}), URL: dir + "/" + test.url, Writer: json.Writer(),
			Options: format.WriteOptions{Codec: test.codec}}.Target
		if _, err := run.Scan(t.Context(), c); err != nil {
			t.Errorf("%s: %v", test.url, err)
			continue
		}
		got := tree(t, dir)
		r, err := test.open(strings.NewReader(got[test.file]))
		if err != nil {
			t.Errorf("%s: files %v: %v", test.url, sorted(got), err)
			continue
		}
		if text, err := io.ReadAll(r); err != nil || bytes.Count(text, []byte("\n")) != 2000 {
			t.Errorf("%s: %d bytes, %v", test.url, len(text), err)
		}
		runtest.Empty(t, c.Budget)
	}
}

func TestImpossibleOutputsAreRefusedBeforeReading(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/f", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, f := range map[string]run.Files{
		"indexed is a directory of files: name one with -o": {Pipe: io.Discard, Writer: indexed()},
		`--codec: compression "x" is not one of none, gzip`: {Pipe: io.Discard, Writer: json.Writer(), Options: format.WriteOptions{Codec: "x"}},
		"--codec: xz cannot be written":                     {Pipe: io.Discard, Writer: json.Writer(), Options: format.WriteOptions{Codec: "xz"}},
		"output: " + dir + "/f/x.jsonl: not a directory":    {URL: dir + "/f/x.jsonl", Writer: json.Writer()},
	} {
		f.Store = store.New(store.Options{})
		c := config(&runtest.Fake{At: func(context.Context, int) error { t.Error("data was read"); return nil }})
		c.Sink = f.Target
		if _, err := run.Scan(t.Context(), c); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		runtest.Empty(t, c.Budget)
	}
}

// patching goes back to the beginning of its file.
type patching struct {
	format.File
	out format.Output
}

func (p patching) Close() (format.Part, error) {
	if err := p.out.Patch([]byte("["), 0); err != nil {
		p.File.Abort()
		return format.Part{}, err
	}
	return p.File.Close()
}

func TestPatchWorksInFilesOnly(t *testing.T) {
	w := json.Writer()
	begin := w.Begin
	w.Begin = nil
	name := filepath.Join(t.TempDir(), "x")
	for _, f := range []run.Files{
		{URL: name, Writer: w},
		{Pipe: io.Discard, Writer: w},
		{URL: name + ".gz", Writer: w},
	} {
		f.Store = store.New(store.Options{})
		f.Writer.Begin = beginPatching(begin)
		c := config(&runtest.Fake{Record: ids(10)})
		c.Sink = f.Target
		_, err := run.Scan(t.Context(), c)
		if f.URL == name {
			if text, _ := os.ReadFile(name); err != nil || !bytes.HasPrefix(text, []byte("[\"x\"")) {
				t.Errorf("%v, %.20q", err, text)
			}
		} else if !errors.Is(err, format.ErrUsage) {
			t.Errorf("%+v: %v", f, err)
		}
		runtest.Empty(t, c.Budget)
	}
}

func TestRowsGoToS3(t *testing.T) {
	srv := storetest.S3(t)
	srv.Bucket(t, "lake")
	st := store.New(store.Options{})
	defer st.Close()
	for _, url := range []string{"s3://lake/a/x.jsonl", "s3://lake/b/"} {
		c := config(&runtest.Fake{Record: ids(100)})
		c.Sink = run.Files{Store: st, URL: url, Writer: json.Writer(), Options: format.WriteOptions{PartSize: 1}}.Target
		if _, err := run.Scan(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		runtest.Empty(t, c.Budget)
	}
	want := []string{"a/x.jsonl", "b/part-00000.jsonl", "b/part-00001.jsonl", "b/part-00002.jsonl", "b/part-00003.jsonl"}
	if got := srv.Keys(t, "lake"); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if n := bytes.Count(srv.Get(t, "lake", "a/x.jsonl"), []byte("\n")); n != 200 {
		t.Errorf("%d lines", n)
	}
	c := config(&runtest.Fake{Record: ids(100), At: func(_ context.Context, n int) error {
		if n == 3 {
			return io.ErrUnexpectedEOF
		}
		return nil
	}})
	c.Sink = run.Files{Store: st, URL: "s3://lake/c/", Writer: json.Writer(), Options: format.WriteOptions{PartSize: 1}}.Target
	if _, err := run.Scan(t.Context(), c); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
	if got := srv.Keys(t, "lake"); !slices.Equal(got, want) {
		t.Errorf("after a failure: %v", got)
	}
}

func beginPatching(begin func(format.Output, *arrow.Schema, format.WriteOptions, *mem.Budget) (format.File, error)) func(format.Output, *arrow.Schema, format.WriteOptions, *mem.Budget) (format.File, error) {
	return func(out format.Output, s *arrow.Schema, opt format.WriteOptions, share *mem.Budget) (format.File, error) {
		f, err := begin(out, s, opt, share)
		return patching{f, out}, err
	}
}
