package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
)

var update = flag.Bool("update", false, "rewrite testdata")

// harness is an app on a store in memory, and what it wrote.
type harness struct {
	app
	stdout, stderr bytes.Buffer
	fake           runtest.Fake
	budget         *mem.Budget
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema,
		strings.NewReader(`[{"id":1,"text":"one"},{"id":2,"text":null},{"id":3,"text":"a, b"}]`))
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{fake: runtest.Fake{Record: rec, Least: 8 << 20}}
	objects := runtest.Objects{"d/a.fake": runtest.Magic, "d/b.fake": runtest.Magic, "mixed/a.fake": runtest.Magic,
		"mixed/b.txt": "text", "other/a.txt": "text"}
	h.app = app{
		out: &h.stdout, err: &h.stderr,
		terminal: func() (int, bool) { return 0, false },
		formats:  []format.Format{h.fake.Format()},
		writers:  writers(),
		store:    func() store.ReadWriter { return memoryAndDisk{objects, store.New(store.Options{})} },
		setup: func(n int64) *mem.Budget {
			h.budget = mem.New(max(n-run.Base, 0))
			return h.budget
		},
		procs: func(int) {},
	}
	return h
}

// memoryAndDisk reads from the one, or from the other what has an absolute path;
// it writes to the other.
type memoryAndDisk struct {
	runtest.Objects
	disk store.ReadWriter
}

func (m memoryAndDisk) List(ctx context.Context, pattern string) ([]store.Object, error) {
	if filepath.IsAbs(pattern) {
		return m.disk.List(ctx, pattern)
	}
	return m.Objects.List(ctx, pattern)
}

func (m memoryAndDisk) Open(ctx context.Context, o store.Object) (store.Reader, error) {
	if filepath.IsAbs(o.URL) {
		return m.disk.Open(ctx, o)
	}
	return m.Objects.Open(ctx, o)
}

func (m memoryAndDisk) Create(ctx context.Context, url string, share *mem.Budget) (store.Output, error) {
	return m.disk.Create(ctx, url, share)
}

func (m memoryAndDisk) Sweep(ctx context.Context, url string) error  { return m.disk.Sweep(ctx, url) }
func (m memoryAndDisk) Remove(ctx context.Context, url string) error { return m.disk.Remove(ctx, url) }
func (m memoryAndDisk) Close() error                                 { return m.disk.Close() }

// unsteady are the parts of a report that differ from run to run.
var unsteady = []struct {
	re *regexp.Regexp
	to string
}{
	{regexp.MustCompile(`(?m)^(time|speed|waited|bottleneck) .*`), "$1 …"},
	{regexp.MustCompile(`(?m)^(memory +)[0-9.]+ [KMG]iB at most`), "$1… at most"},
}

// transcript runs command lines and shows what a user would see.
func transcript(t *testing.T, lines ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	for _, line := range lines {
		h := newHarness(t)
		code := h.main(t.Context(), strings.Fields(line)[1:])
		fmt.Fprintf(&out, "$ %s\n", line)
		for _, part := range []struct {
			name string
			text string
		}{{"stdout", h.stdout.String()}, {"stderr", h.stderr.String()}} {
			for _, u := range unsteady {
				part.text = u.re.ReplaceAllString(part.text, u.to)
			}
			if part.text != "" {
				fmt.Fprintf(&out, "-- %s\n%s", part.name, part.text)
			}
		}
		fmt.Fprintf(&out, "-- exit %d\n\n", code)
		if h.budget != nil {
			runtest.Empty(t, h.budget)
		}
	}
	return out.Bytes()
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; -update rewrites it; got:\n%s", file, got)
	}
}

func TestHelp(t *testing.T) {
	golden(t, "help.txt", transcript(t, "weir --help", "weir scan --help", "weir inspect --help", "weir --version"))
}

func TestScanAndInspectTexts(t *testing.T) {
	golden(t, "commands.txt", transcript(t,
		"weir scan d/ --memory 64MiB",
		"weir scan d/a.fake --memory 64MiB --digest",
		"weir scan d/ --memory 64MiB --digest --quiet",
		"weir scan d/ --memory 64MiB --to jsonl --quiet",
		"weir scan d/ --memory 64MiB --to csv -o - --batch-size 2",
		"weir inspect d/",
		"weir inspect d/ --json",
		"weir scan d/a.fake --memory 64MiB --format fake --on-error skip --digest --quiet",
	))
}

func TestErrorTexts(t *testing.T) {
	golden(t, "errors.txt", transcript(t,
		"weir scan",
		"weir sacn d/",
		"weir scan d/ --bogus",
		"weir scan d/ --memory lots",
		"weir scan d/ --memory 8MiB",
		"weir scan d/ --memory 20MiB",
		"weir scan d/ --to xml",
		"weir scan d/ -o out.csv",
		"weir scan d/ --to csv --report -",
		"weir scan d/ --threads -1",
		"weir scan d/ --batch-size -1",
		"weir scan d/ --log-level loud",
		"weir scan d/ --log-format xml",
		"weir scan nowhere/ --memory 64MiB",
		"weir scan mixed/ --memory 64MiB",
		"weir scan other/ --memory 64MiB",
		"weir scan d/ --memory 64MiB --to csv -o /dev/null/out.csv",
		"weir scan d/ --memory 28MiB --to csv -o -",
		"weir scan d/ --codec zstd",
		"weir scan d/ --to csv --codec rar",
		"weir scan d/ --to arrow --codec gzip",
		"weir scan d/ --to csv --part-size big",
		"weir scan d/ --format xml",
		"weir scan d/ --on-error ignore",
		"weir scan d/ --delimiter ab",
		"weir scan d/ --sample some",
		"weir scan d/ --schema /dev/null",
		"weir scan d/ --schema /nowhere/schema.json",
	))
}

func TestDigestDoesNotDependOnFlags(t *testing.T) {
	seen := map[string]bool{}
	for _, line := range []string{"--batch-size 1", "--batch-size 2", "--memory 1GiB", "--threads 7", "--to csv -o /dev/null"} {
		h := newHarness(t)
		args := append([]string{"scan", "d/", "--digest", "--quiet"}, strings.Fields(line)...)
		if code := h.main(t.Context(), args); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, &h.stderr)
		}
		seen[h.stdout.String()] = true
	}
	if len(seen) != 1 {
		t.Errorf("%d different digests", len(seen))
	}
}

func TestReportFileIsJSON(t *testing.T) {
	h := newHarness(t)
	file := filepath.Join(t.TempDir(), "report.json")
	if code := h.main(t.Context(), []string{"scan", "d/", "--quiet", "--report", file}); code != 0 {
		t.Fatalf("exit %d: %s", code, &h.stderr)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"rows": 6`, `"files": 2`, `"peak_memory": `, `"decode_for_store_percent": `} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%s is not in\n%s", want, text)
		}
	}
}

func TestPartsAreWrittenOnceAndNotOver(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	args := []string{"scan", "d/", "--quiet", "--memory", "64MiB", "--to", "jsonl", "--codec", "gzip", "-o", dir + "/", "--part-size", "1KiB"}
	h := newHarness(t)
	if code := h.main(t.Context(), args); code != 0 {
		t.Fatalf("exit %d: %s", code, &h.stderr)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 1 || files[0].Name() != "part-00000.jsonl.gz" {
		t.Errorf("files: %v, %v", files, err)
	}
	h = newHarness(t)
	code := h.main(t.Context(), args)
	if want := "weir: " + dir + "/ already holds part-00000.jsonl.gz; name another directory or remove it\n"; code != exitUsage || h.stderr.String() != want {
		t.Errorf("exit %d:\n got %s\nwant %s", code, &h.stderr, want)
	}
}

func TestArrowIsAStreamToPipesAndAFileElsewhere(t *testing.T) {
	dir := t.TempDir()
	for output, magic := range map[string]string{"-": "\xff\xff\xff\xff", "x.arrows": "\xff\xff\xff\xff", "x.arrow": "ARROW1", "d/": "ARROW1"} {
		h := newHarness(t)
		name := output
		if output != "-" {
			name = filepath.Join(dir, output) + output[len(strings.TrimSuffix(output, "/")):]
		}
		if code := h.main(t.Context(), []string{"scan", "d/", "--quiet", "--to", "arrow", "-o", name}); code != 0 {
			t.Fatalf("%s: exit %d: %s", output, code, &h.stderr)
		}
		text := h.stdout.Bytes()
		switch {
		case output == "d/":
			name += "part-00000.arrow"
			fallthrough
		case output != "-":
			text, _ = os.ReadFile(name)
		}
		if !bytes.HasPrefix(text, []byte(magic)) {
			t.Errorf("%s begins with %.8q", output, text)
		}
	}
}

func TestInspectedSchemaIsTakenBack(t *testing.T) {
	h := newHarness(t)
	if code := h.main(t.Context(), []string{"inspect", "d/", "--json"}); code != 0 {
		t.Fatalf("exit %d: %s", code, &h.stderr)
	}
	name := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(name, h.stdout.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	opt, err := (&readFlags{schema: name, onError: "fail"}).options()
	if err != nil || !opt.Schema.Equal(h.fake.Record.Schema()) {
		t.Errorf("%v, %v", opt.Schema, err)
	}
}

func TestReadingFlagsBecomeOptions(t *testing.T) {
	f := readFlags{onError: "skip", sample: "all", delimiter: "tab", field: "a.b", noHeader: true, nulls: []string{"NA", ""}, wholeFiles: true, threads: 3}
	opt, err := f.options()
	want := format.Options{Threads: 3, Sample: -1, Delimiter: '\t', Field: "a.b", NoHeader: true, Nulls: []string{"NA", ""}, WholeFiles: true}
	if err != nil || !reflect.DeepEqual(opt, want) {
		t.Errorf("%+v, %v", opt, err)
	}
	f = readFlags{onError: "fail", sample: "2MiB", delimiter: ";", threads: 1}
	if opt, err := f.options(); err != nil || opt.Sample != 2<<20 || opt.Delimiter != ';' {
		t.Errorf("%+v, %v", opt, err)
	}
}

func TestInterruptedScanExits130AndLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	h := newHarness(t)
	ctx, cancel := context.WithCancel(t.Context())
	h.fake.At = func(ctx context.Context, n int) error {
		if n == 1 {
			cancel()
		}
		return ctx.Err()
	}
	code := h.main(ctx, []string{"scan", "d/", "--to", "jsonl", "-o", filepath.Join(dir, "out.jsonl")})
	if code != exitInterrupted {
		t.Errorf("exit %d: %s", code, &h.stderr)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	runtest.Empty(t, h.budget)
}

// closed is a pipe whose reader went away.
type closed struct{}

func (closed) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "/dev/stdout", Err: syscall.EPIPE}
}

func TestClosedPipeEndsQuietly(t *testing.T) {
	for _, to := range []string{"arrow", "jsonl", "csv"} {
		h := newHarness(t)
		h.out = closed{}
		if code := h.main(t.Context(), []string{"scan", "d/", "--to", to}); code != 0 || h.stderr.Len() > 0 {
			t.Errorf("%s: exit %d: %s", to, code, &h.stderr)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for want, errs := range map[int][]error{
		exitBudget: {&mem.TooSmallError{}, &run.TooSmallError{}},
		exitUsage:  {fmt.Errorf("x: %w", format.ErrUsage)},
		exitData:   {fmt.Errorf("x: %w", format.ErrData)},
		exitStore:  {store.ErrChanged, store.ErrStore, store.ErrNotFound, &os.PathError{Err: syscall.EACCES}, syscall.EIO},
		exitOther:  {errors.New("x"), io.ErrShortWrite, fmt.Errorf("%w: %w", run.ErrOutput, syscall.ENOSPC)},
	} {
		for _, err := range errs {
			if got := exitCode(&runError{err}); got != want {
				t.Errorf("%v: exit %d, want %d", err, got, want)
			}
		}
	}
}
