package run_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

var two = runtest.Objects{"d/a.fake": runtest.Magic, "d/b.fake": runtest.Magic}

func config(f *runtest.Fake) run.Config {
	if f.Record == nil {
		f.Record = runtest.Random(runtest.Schema(), 1000, 1)
	}
	return run.Config{
		Paths: []string{"d/"}, Store: two, Formats: []format.Format{f.Format()},
		Options: format.Options{BatchRows: 64},
		Memory:  64 << 20, Budget: mem.New(48 << 20),
	}
}

// lines is the target that writes JSON lines to a file.
func lines(name string) run.Target {
	return run.Files{Store: store.New(store.Options{}), URL: name, Writer: json.Writer()}.Target
}

func TestScanCountsEverything(t *testing.T) {
	c := config(&runtest.Fake{Cost: 1 << 20, Least: 1 << 20})
	var log bytes.Buffer
	c.Log = slog.New(slog.NewTextHandler(&log, nil))
	r, err := run.Scan(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if r.Rows != 2000 || r.Batches != 32 || r.Files != 2 || r.MemoryBytes == 0 {
		t.Errorf("report: %+v", r)
	}
	if r.BudgetPeak != 1<<20 || r.BudgetLimit != 48<<20 || r.MemoryLimit != 64<<20 || r.PeakMemory == 0 {
		t.Errorf("memory: %+v", r)
	}
	if n := strings.Count(log.String(), "file read"); n != 2 || !strings.Contains(log.String(), "file=d/b.fake") {
		t.Errorf("%d records of files:\n%s", n, &log)
	}
	runtest.Empty(t, c.Budget)
}

func TestScanRefusesBeforeReading(t *testing.T) {
	f := &runtest.Fake{Least: 40 << 20, At: func(context.Context, int) error {
		t.Error("data was read")
		return nil
	}}
	c := config(f)
	c.Memory, c.Budget = 32<<20, mem.New(16<<20)
	_, err := run.Scan(t.Context(), c)
	want := "--memory 32MiB is too small: reading needs 40 MiB beside 20 MiB for the program; try --memory 60MiB"
	if err == nil || err.Error() != want || !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	runtest.Empty(t, c.Budget)
}

func TestInspectTellsWhatScanAccepts(t *testing.T) {
	for _, live := range []int64{0, 5 << 20, 7 << 20, 50 << 20} {
		c := config(&runtest.Fake{Least: 9 << 20})
		c.Heap = func() int64 { return live }
		d, err := run.Inspect(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		c.Memory, c.Budget = d.Smallest, mem.New(d.Smallest-run.Base)
		// A heap that has grown a little since must not make it a lie.
		c.Heap = func() int64 { return live + live/16 }
		if _, err := run.Scan(t.Context(), c); err != nil {
			t.Errorf("live heap %s: %v", mem.Format(live), err)
		}
	}
}

func TestScanNamesTheNumberHoweverLittleWasGiven(t *testing.T) {
	for _, memory := range []int64{1, 8 << 20, run.Base, run.Base + 1<<20} {
		c := config(&runtest.Fake{Least: 8 << 20})
		c.Memory, c.Budget = memory, mem.New(max(memory-run.Base, 0))
		_, err := run.Scan(t.Context(), c)
		want := "reading needs 8 MiB beside 20 MiB for the program; try --memory 28MiB"
		if !errors.Is(err, mem.ErrTooSmall) || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("--memory %d: got  %v\nwant … %s", memory, err, want)
		}
	}
}

func TestScanExplainsMixedKinds(t *testing.T) {
	for name, files := range map[string]runtest.Objects{
		"known first":   {"d/a.fake": runtest.Magic, "d/b.txt": "text", "d/c.fake": runtest.Magic},
		"unknown first": {"d/a.txt": "text", "d/b.fake": runtest.Magic},
	} {
		c := config(&runtest.Fake{})
		c.Store = files
		_, err := run.Scan(t.Context(), c)
		if !errors.Is(err, format.ErrData) || !strings.Contains(err.Error(), "fake (d/") || !strings.Contains(err.Error(), "unknown (d/") {
			t.Errorf("%s: %v", name, err)
		}
	}
	c := config(&runtest.Fake{})
	c.Store = runtest.Objects{"d/a.txt": ""}
	if _, err := run.Scan(t.Context(), c); !errors.Is(err, format.ErrData) {
		t.Errorf("unknown kind: %v", err)
	}
	c.Paths = []string{"nowhere"}
	if _, err := run.Scan(t.Context(), c); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("nothing there: %v", err)
	}
}

func TestCancelAtEveryBatchLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	for stop := range 6 {
		ctx, cancel := context.WithCancel(t.Context())
		c := config(&runtest.Fake{Cost: 1 << 16, At: func(ctx context.Context, n int) error {
			if n == stop {
				cancel()
			}
			return ctx.Err()
		}})
		c.Sink = lines(filepath.Join(dir, "out.jsonl"))
		_, err := run.Scan(ctx, c)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("stopped at %d: %v", stop, err)
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 {
			t.Errorf("stopped at %d: %v is left", stop, left)
		}
		runtest.Empty(t, c.Budget)
		cancel()
	}
}

func TestOutputAppearsWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "out.jsonl")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := config(&runtest.Fake{At: func(_ context.Context, n int) error {
		if text, _ := os.ReadFile(name); string(text) != "before" {
			t.Error("the file changed while it was written")
		}
		return nil
	}})
	c.Sink = lines(name)
	if _, err := run.Scan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(name)
	if n := bytes.Count(text, []byte("\n")); n != 2000 {
		t.Errorf("%d lines, want 2000", n)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left: %v", left)
	}
}

// failing is a sink that fails at one of its calls.
type failing struct {
	at     string
	aborts int
}

func (f *failing) Write(*stream.Batch) error { return f.fail("write") }
func (f *failing) Close() error              { return f.fail("close") }
func (f *failing) Abort()                    { f.aborts++ }
func (f *failing) fail(at string) error {
	if f.at == at {
		return errors.New(at)
	}
	return nil
}

// target prepares a sink with a demand, and tells the share it is opened with.
func target(s run.Sink, least, most int64, opened func(share int64)) run.Target {
	return func(context.Context, *arrow.Schema) (run.Prepared, error) {
		return run.Prepared{Least: least, Most: most, Open: func(_ context.Context, share *mem.Budget) (run.Sink, error) {
			if opened != nil {
				opened(share.Limit())
			}
			return s, nil
		}}, nil
	}
}

func TestFailingSinkEndsTheScan(t *testing.T) {
	for at, aborts := range map[string]int{"write": 1, "close": 0} {
		c := config(&runtest.Fake{Cost: 4096})
		sink := &failing{at: at}
		c.Sink = target(sink, 0, 0, nil)
		_, err := run.Scan(t.Context(), c)
		if err == nil || err.Error() != at || sink.aborts != aborts {
			t.Errorf("%s: error %v, %d aborts", at, err, sink.aborts)
		}
		runtest.Empty(t, c.Budget)
	}
}

func TestOthersAreAbortedWhenOneSinkFails(t *testing.T) {
	bad, good := &failing{at: "close"}, &failing{}
	c := config(&runtest.Fake{})
	c.Sink = run.Both(target(bad, 0, 0, nil), target(good, 1<<20, 2<<20, nil))
	if _, err := run.Scan(t.Context(), c); err == nil || good.aborts != 1 {
		t.Errorf("error %v, %d aborts", err, good.aborts)
	}
	runtest.Empty(t, c.Budget)
}

func TestSinkGetsItsLeastAndAtMostHalfOfTheRest(t *testing.T) {
	for _, test := range []struct{ budget, least, most, want int64 }{
		{18 << 20, 10 << 20, 100 << 20, 10 << 20},        // all is spoken for
		{28 << 20, 10 << 20, 100 << 20, 10<<20 + 35<<17}, // half of what the runtime leaves of the rest
		{28 << 20, 10 << 20, 11 << 20, 11 << 20},         // no more than it can use
		{28 << 20, 0, 0, 0},
	} {
		c := config(&runtest.Fake{Least: 8 << 20})
		c.Budget = mem.New(test.budget)
		var got int64
		c.Sink = target(&failing{}, test.least, test.most, func(n int64) { got = n })
		if _, err := run.Scan(t.Context(), c); err != nil || got != test.want {
			t.Errorf("%+v: %s, %v", test, mem.Format(got), err)
		}
		runtest.Empty(t, c.Budget)
	}
}

func TestScanRefusesWhatReadingAndWritingCannotShare(t *testing.T) {
	c := config(&runtest.Fake{Least: 8 << 20})
	c.Memory, c.Budget = 32<<20, mem.New(12<<20)
	c.Sink = target(&failing{}, 10<<20, 20<<20, func(int64) { t.Error("the sink was opened") })
	_, err := run.Scan(t.Context(), c)
	want := "--memory 32MiB is too small: reading needs 8 MiB, writing 10 MiB beside 20 MiB for the program; try --memory 38MiB"
	if err == nil || err.Error() != want || !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	runtest.Empty(t, c.Budget)
}

func TestObservationsEndWithAllRows(t *testing.T) {
	c := config(&runtest.Fake{})
	var last run.Observation
	c.Observe = func(o run.Observation) { last = o }
	if _, err := run.Scan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	if last.Rows != 2000 || last.TotalRows != 2000 || last.Memory == 0 || last.Limit != 64<<20 {
		t.Errorf("last observation: %+v", last)
	}
}

func TestPageCacheIsDroppedForLargeDatasetsOnly(t *testing.T) {
	for limit, want := range map[int64]bool{0: false, 4: true, 8: false} {
		s := &dropping{Objects: two}
		c := config(&runtest.Fake{})
		c.Store, c.CacheLimit = s, limit
		inner := c.Formats[0].Plan
		c.Formats[0].Plan = func(ctx context.Context, src format.Source, o format.Options) (format.Dataset, error) {
			r, err := src.Store.Open(ctx, src.Objects[0])
			if err != nil {
				return nil, err
			}
			r.Drop(0, 1)
			return inner(ctx, src, o)
		}
		if _, err := run.Scan(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if s.dropped != want {
			t.Errorf("8 bytes with a limit of %d: dropped is %v", limit, s.dropped)
		}
	}
}

// dropping is a store that remembers whether anything was dropped.
type dropping struct {
	runtest.Objects
	dropped bool
}

func (d *dropping) Open(ctx context.Context, o store.Object) (store.Reader, error) {
	r, err := d.Objects.Open(ctx, o)
	return droppingReader{r, d}, err
}

type droppingReader struct {
	store.Reader
	d *dropping
}

func (r droppingReader) Drop(_, _ int64) { r.d.dropped = true }
