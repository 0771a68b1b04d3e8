package feed

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
)

func formats() []format.Format { return []format.Format{parquet.Format(), csv.Format()} }

// source writes rows whose label is their number: as CSV, and the same as
// Parquet of many row groups.
func source(t *testing.T, rows int) (csvDir, parquetDir string) {
	t.Helper()
	csvDir, parquetDir = t.TempDir()+"/", t.TempDir()+"/"
	var b strings.Builder
	for f := range 2 {
		b.Reset()
		b.WriteString("f0,f1,name,y\n")
		for i := range rows / 2 {
			n := f*(rows/2) + i
			fmt.Fprintf(&b, "%d.5,%d,n%d,%d\n", n, -n, n, n)
		}
		if err := os.WriteFile(fmt.Sprintf("%spart-%d.csv", csvDir, f), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	st := store.New(store.Options{})
	c := run.Config{Paths: []string{csvDir}, Store: st, Formats: formats(), Budget: mem.New(64 << 20), Memory: 84 << 20,
		Sink: run.Files{Store: st, URL: parquetDir, Writer: parquet.Writer(), Options: format.WriteOptions{RowGroup: 4 << 10, PartSize: 20 << 10}}.Target}
	if _, err := run.Scan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return csvDir, parquetDir
}

func env(memory int64) Env {
	return Env{
		Store: store.New(store.Options{}), Formats: formats(), Version: "test",
		Memory: func(string) (int64, error) { return memory, nil }, Setup: func(n int64) *mem.Budget { return mem.New(n - run.Base) },
		Threads: func() int { return 1 }, Options: func(Read) (format.Options, error) { return format.Options{}, nil },
	}
}

// opened is a loader that is ready.
func opened(t *testing.T, e Env, c Config) (*loader, feeder) {
	t.Helper()
	l := &loader{Config: &c, env: e}
	feed, err := l.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.close)
	return l, feed
}

// sink is an outlet that keeps labels, or ends after so many batches.
type sink struct {
	labels  []int64 // behind the matrix
	after   []int64 // positions
	batches int
	most    int
}

var errEnough = errors.New("enough")

func (s *sink) Reserve(n int) (slot, error) { return heapSlot(make([]byte, n)), nil }
func (s *sink) Discard(slot)                {}
func (s *sink) End(int64, int64) error      { return nil }
func (s *sink) Send(b slot, w wire.Batch) error {
	raw := b.Bytes()
	x := int(w.Rows) * 2 * 4
	y := (x + 63) / 64 * 64
	for i := range int(w.Rows) {
		s.labels = append(s.labels, int64(binary.LittleEndian.Uint64(raw[y+8*i:])))
	}
	s.after = append(s.after, w.Position)
	if s.batches++; s.batches == s.most {
		return errEnough
	}
	return nil
}

func base(path string) Config {
	return Config{Mode: matrix, Sources: []Source{{Paths: []string{path}}}, BatchSize: 7, Features: []string{"f*"}, Label: "y",
		Shuffle: true, Seed: 5, Window: 16 << 10}
}

// epoch is the labels of an epoch from a position on.
func epoch(t *testing.T, feed feeder, e, position int64) *sink {
	t.Helper()
	s := new(sink)
	if err := feed(t.Context(), s, e, position); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTheOrderDoesNotDependOnThreadsMemoryAndFormat(t *testing.T) {
	const rows = 4000
	text, par := source(t, rows)
	_, feed := opened(t, env(128<<20), base(par))
	want := [][]int64{epoch(t, feed, 0, 0).labels, epoch(t, feed, 1, 0).labels}
	for _, w := range want {
		if sorted := slices.Sorted(slices.Values(w)); len(sorted) != rows || sorted[0] != 0 || sorted[rows-1] != rows-1 || slices.IsSorted(w) {
			t.Fatalf("%d labels, %v…", len(w), w[:10])
		}
	}
	if slices.Equal(want[0], want[1]) {
		t.Error("two epochs have one order")
	}
	for _, v := range []struct {
		threads int
		memory  int64
	}{{1, 64 << 20}, {2, 128 << 20}, {4, 512 << 20}} {
		c := base(par)
		c.Threads = v.threads
		_, feed := opened(t, env(v.memory), c)
		for e := range 2 {
			if got := epoch(t, feed, int64(e), 0).labels; !slices.Equal(got, want[e]) {
				t.Errorf("%+v: epoch %d differs", v, e)
			}
		}
	}
	c := base(text)
	_, feed = opened(t, env(128<<20), c)
	first := epoch(t, feed, 0, 0).labels
	c.Threads = 3
	_, feed = opened(t, env(256<<20), c)
	if got := epoch(t, feed, 0, 0).labels; !slices.Equal(got, first) {
		t.Error("CSV: the order depends on threads or memory")
	}
	if sorted := slices.Sorted(slices.Values(first)); len(sorted) != rows || sorted[rows-1] != rows-1 {
		t.Error("CSV: not every row once")
	}
}

// TestLargeBatchesAreTheSameRows: they are copied by all threads, others by one.
func TestLargeBatchesAreTheSameRows(t *testing.T) {
	const rows = 100_000 // of 16 bytes
	_, data := source(t, rows)
	c := base(data)
	c.Window = 4 << 20
	_, feed := opened(t, env(64<<20), c)
	want := epoch(t, feed, 0, 0).labels
	c.BatchSize, c.Threads = rows, 3
	_, feed = opened(t, env(128<<20), c)
	got := epoch(t, feed, 0, 0)
	if got.batches != 1 || !slices.Equal(got.labels, want) {
		t.Errorf("%d batches; the same rows: %v", got.batches, slices.Equal(got.labels, want))
	}
}

func TestNaturalOrder(t *testing.T) {
	text, par := source(t, 3000)
	for _, path := range []string{text, par} {
		c := base(path)
		c.Shuffle = false
		_, feed := opened(t, env(128<<20), c)
		for e := range int64(2) {
			got := epoch(t, feed, e, 0)
			for i, y := range got.labels {
				if y != int64(i) {
					t.Fatalf("%s: row %d is %d", path, i, y)
				}
			}
			if len(got.labels) != 3000 {
				t.Fatalf("%s: %d rows", path, len(got.labels))
			}
		}
	}
}

// TestEveryBatchCanBeResumed ends a run at every batch, for several worlds, and
// goes on with another world.
func TestEveryBatchCanBeResumed(t *testing.T) {
	const rows = 600
	_, par := source(t, rows)
	take := func(world int, e, from int64, steps int) (labels []int64, after int64) {
		t.Helper()
		for rank := range world {
			c := base(par)
			c.World, c.Rank, c.Window = world, rank, 4<<10
			_, feed := opened(t, env(64<<20), c)
			s := &sink{most: steps}
			if err := feed(t.Context(), s, e, from); err != nil && !errors.Is(err, errEnough) {
				t.Fatal(err)
			}
			labels = append(labels, s.labels...)
			after = s.after[len(s.after)-1]
		}
		return labels, after
	}
	for _, worlds := range [][2]int{{1, 1}, {1, 3}, {2, 1}, {3, 8}, {8, 3}} {
		steps := rows / 7 / worlds[0]
		for n := 1; n < steps; n += 1 + steps/6 {
			first, after := take(worlds[0], 3, 0, n)
			if after != int64(7*n*worlds[0]) {
				t.Fatalf("%v: after %d steps at %d", worlds, n, after)
			}
			rest, _ := take(worlds[1], 3, after, 0)
			seen := map[int64]int{}
			for _, y := range append(first, rest...) {
				seen[y]++
			}
			if len(seen) != rows {
				t.Fatalf("%v: resumed after %d steps: %d of %d rows", worlds, n, len(seen), rows)
			}
			if extra := len(first) + len(rest) - rows; extra >= worlds[1] {
				t.Errorf("%v: %d rows are repeated", worlds, extra)
			}
		}
	}
}

func TestMixedSources(t *testing.T) {
	_, a := source(t, 1000)
	_, b := source(t, 1000)
	c := base(a)
	c.Sources = []Source{{Paths: []string{a}, Weight: 3}, {Paths: []string{b}, Weight: 1}}
	c.Samples = 2000
	_, feed := opened(t, env(128<<20), c)
	whole := epoch(t, feed, 0, 0)
	if len(whole.labels) != 2000 {
		t.Fatalf("%d samples", len(whole.labels))
	}
	_, feed = opened(t, env(256<<20), c)
	if got := epoch(t, feed, 0, 700); !slices.Equal(got.labels, whole.labels[700:]) {
		t.Error("resumed in the middle it is another order")
	}
}

func TestTooLittleMemoryIsRefusedWithTheNumber(t *testing.T) {
	_, par := source(t, 1000)
	c := base(par)
	l := &loader{Config: &c, env: env(22 << 20)}
	_, err := l.prepare(t.Context())
	if !errors.Is(err, mem.ErrTooSmall) || !strings.Contains(err.Error(), "try memory=") {
		t.Fatalf("got %v", err)
	}
	_, number, _ := strings.Cut(err.Error(), `try memory="`)
	n, err := mem.Parse(strings.TrimSuffix(number, `"`), 0)
	if err != nil {
		t.Fatal(err)
	}
	_, feed := opened(t, env(n), c)
	if got := epoch(t, feed, 0, 0); len(got.labels) != 1000 {
		t.Errorf("%d labels", len(got.labels))
	}
}

func TestConfigurationsThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		`{"mode": "x"}`: "mode", `{"mode": "scan"}`: "at least one file", `{"mode": "scan", "nonsense": 1}`: "nonsense",
		`{"mode": "scan", "sources": [{"paths": ["a"]}]}`:                                           "batch_size",
		`{"mode": "matrix", "sources": [{"paths": ["a"]}], "batch_size": 1, "rank": 3, "world": 2}`: "rank 3",
	} {
		if _, err := parse([]byte(text)); !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}
