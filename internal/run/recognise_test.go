package run_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
)

// kind is a format that knows its files by sniff, and reads them as Fake does.
func kind(name string, inline bool, sniff func(format.Clue) bool) format.Format {
	fake := &runtest.Fake{Record: ids(3)}
	f := fake.Format()
	inner := f.Plan
	f.Name, f.Inline, f.Sniff = name, inline, sniff
	f.Plan = func(ctx context.Context, src format.Source, o format.Options) (format.Dataset, error) {
		// Fake reads by name.
		objects := make([]store.Object, len(src.Objects))
		for i, o := range src.Objects {
			objects[i] = store.Object{URL: o.URL + ".fake"}
		}
		src.Objects = objects
		return inner(ctx, src, o)
	}
	return f
}

// kinds are one known by a magic number, one by its text, one by its name, and
// one by the files that lie together.
func kinds() []format.Format {
	gathers := kind("shards", false, func(format.Clue) bool { return false })
	gathers.Gather = func(objects []store.Object) (out []store.Object) {
		index := false
		for _, o := range objects {
			switch {
			case strings.HasSuffix(o.URL, "/index"):
				index = true
			case strings.HasSuffix(o.URL, ".shard"):
				out = append(out, o)
			}
		}
		if !index {
			return nil
		}
		return out
	}
	return []format.Format{
		kind("magic", false, func(c format.Clue) bool { return bytes.HasPrefix(c.Head, []byte("MAGIC")) }),
		kind("lines", true, func(c format.Clue) bool { return bytes.HasPrefix(c.Head, []byte("{")) }),
		kind("text", true, func(c format.Clue) bool { return strings.HasSuffix(c.Name, ".txt") }),
		gathers,
	}
}

func gzipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

func TestFilesAreRecognised(t *testing.T) {
	for name, test := range map[string]struct {
		files  runtest.Objects
		format string // asked for
		want   string // format and number of objects, or an error
	}{
		"content before name": {runtest.Objects{"d/a.txt": "{}", "d/b.json": "{}"}, "", "lines 2"},
		"name":                {runtest.Objects{"d/a.txt": "hello", "d/b.txt": ""}, "", "text 2"},
		"compressed content":  {runtest.Objects{"d/a.bin": gzipped("{}"), "d/b.bin.gz": gzipped("{}")}, "", "lines 2"},
		"compressed name":     {runtest.Objects{"d/a.txt.gz": gzipped("hello"), "d/b.txt": "hello"}, "", "text 2"},
		"magic in compressed": {runtest.Objects{"d/a.gz": gzipped("MAGIC")}, "", "d/a.gz: not a file weir can read (magic, lines, text, shards)"},
		"damaged compression": {runtest.Objects{"d/a.txt.gz": gzipped("hello")[:12]}, "", "text 1"},
		"one sniff an ending": {runtest.Objects{"d/a.txt": "hello", "d/b.txt": "{}"}, "", "text 2"},
		"dates are no ending": {runtest.Objects{"d/log.2024-01-01": "{}", "d/log.2024-01-02": "{}"}, "", "lines 2"},
		"several kinds": {runtest.Objects{"d/a.jsonl": "{}", "d/b.jsonl": "{}", "d/c.txt": "x", "d/d.bin": "?"}, "",
			"files of several kinds: 2 lines (d/a.jsonl), 1 text (d/c.txt), 1 unknown (d/d.bin); name those of one kind with a glob or --format"},
		"asked for":         {runtest.Objects{"d/a.jsonl": "{}", "d/c.txt": "x"}, "text", "text 2"},
		"unknown asked for": {runtest.Objects{"d/a.jsonl": "{}"}, "xml", `--format "xml": use one of magic, lines, text, shards`},
		"gathered":          {runtest.Objects{"d/index": "{}", "d/0.shard": "MAGIC", "d/1.shard": ""}, "", "shards 2"},
		"not gathered":      {runtest.Objects{"d/0.shard": "MAGIC"}, "", "magic 1"},
		"over gathered":     {runtest.Objects{"d/index": "{}", "d/0.shard": "MAGIC"}, "magic", "magic 2"},
		"gather asked for":  {runtest.Objects{"d/index": "{}", "d/0.shard": "MAGIC"}, "shards", "shards 1"},
	} {
		c := config(&runtest.Fake{})
		c.Store, c.Formats, c.Format = test.files, kinds(), test.format
		d, err := run.Inspect(t.Context(), c)
		got := d.Format
		if err != nil {
			got = err.Error()
			if !errors.Is(err, format.ErrData) && !errors.Is(err, format.ErrUsage) {
				t.Errorf("%s: an error of no kind: %v", name, err)
			}
		} else {
			got += " " + string(rune('0'+d.Info.Objects))
		}
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, test.want)
		}
	}
}

func TestSkippedRecordsAreCountedAndTheFirstAreLogged(t *testing.T) {
	var log bytes.Buffer
	for _, skip := range []bool{false, true} {
		var bad func(error)
		c := config(&runtest.Fake{At: func(_ context.Context, batch int) error {
			for i := 0; bad != nil && batch == 3 && i < 25; i++ {
				bad(errors.New("torn"))
			}
			return nil
		}})
		c.SkipBad = skip
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		inner := c.Formats[0].Plan
		c.Formats[0].Plan = func(ctx context.Context, src format.Source, o format.Options) (format.Dataset, error) {
			if (o.Bad != nil) != skip {
				t.Errorf("skip is %v, Bad %v", skip, o.Bad != nil)
			}
			d, err := inner(ctx, src, o)
			bad = o.Bad
			if o.Bad != nil {
				o.Bad(errors.New("seen while planning"))
			}
			return d, err
		}
		r, err := run.Scan(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int64{true: 25}[skip]; r.Skipped != want {
			t.Errorf("%d skipped, want %d", r.Skipped, want)
		}
	}
	if n := strings.Count(log.String(), "record skipped"); n != 10 || strings.Contains(log.String(), "planning") {
		t.Errorf("%d records:\n%s", n, &log)
	}
}
