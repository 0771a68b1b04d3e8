package corpus_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/mds"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const rowsOfFile = 4000

// source writes files of rows with ids, of which every tenth has the text of
// another row.
func source(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	var texts []string
	for f := range files {
		var b strings.Builder
		b.WriteString("id,text\n")
		for i := range rowsOfFile {
			text := fmt.Sprintf("%d-%s", rnd.Int64(), strings.Repeat("x", rnd.IntN(40)))
			if len(texts) > 0 && rnd.IntN(10) == 0 {
				text = texts[rnd.IntN(len(texts))]
			}
			texts = append(texts, text)
			fmt.Fprintf(&b, "%d,%s\n", f*rowsOfFile+i, text)
		}
		if err := os.WriteFile(fmt.Sprintf("%s/part-%d.csv", dir, f), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir + "/"
}

func formats() []format.Format { return []format.Format{parquet.Format(), mds.Format(), csv.Format()} }

func config(t *testing.T, in, out string) corpus.Config {
	st := store.New(store.Options{})
	return corpus.Config{
		Run: run.Config{Paths: []string{in}, Store: st, Formats: formats(), Budget: mem.New(128 << 20), Memory: 148 << 20,
			Options: format.Options{Threads: 2}},
		Store: st, Out: out, Scratch: filepath.Join(t.TempDir(), "scratch"), Seed: 7, Version: "weir test", Recipe: "r",
		Writer: parquet.Writer(), Write: format.WriteOptions{PartSize: 100 << 10, RowGroup: 1 << 20},
	}
}

// made runs a configuration, whose memory is all back behind it.
func made(t *testing.T, c corpus.Config) corpus.Report {
	t.Helper()
	rep, err := corpus.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	runtest.Empty(t, c.Run.Budget)
	if _, err := os.Stat(c.Scratch); !os.IsNotExist(err) {
		t.Errorf("scratch files are left in %s", c.Scratch)
	}
	return rep
}

// tree is all files below a directory.
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

// row is what is read back.
type row struct {
	id   int64
	text string
}

type collect struct{ rows []row }

func (c *collect) Write(b *stream.Batch) error {
	ids, texts := b.Record.Column(0).(*array.Int64), b.Record.Column(1).(*array.String)
	for i := range int(b.Rows()) {
		c.rows = append(c.rows, row{ids.Value(i), strings.Clone(texts.Value(i))})
	}
	return nil
}
func (c *collect) Close() error { return nil }
func (c *collect) Abort()       {}

// read is all rows, in order.
func read(t *testing.T, path string) []row {
	t.Helper()
	var got collect
	st := store.New(store.Options{})
	c := run.Config{Paths: []string{path}, Store: st, Formats: formats(), Budget: mem.New(64 << 20), Memory: 84 << 20,
		Sink: func(context.Context, *arrow.Schema) (run.Prepared, error) { return run.Ready(&got), nil }}
	if _, err := run.Scan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return got.rows
}

func TestRowsThatAreOnlyCopiedStayInOrder(t *testing.T) {
	in, out := source(t, 3), t.TempDir()+"/out"
	rep := made(t, config(t, in, out))
	want, got := read(t, in), read(t, out+"/data/")
	if !slices.Equal(got, want) || rep.Rows != int64(len(want)) || rep.Parts < 3 {
		t.Errorf("%d rows in %d parts, want %d in order", len(got), rep.Parts, len(want))
	}
}

func TestShuffledRowsAreAPermutationForEveryBudgetAndThreads(t *testing.T) {
	in := source(t, 3)
	want := read(t, in)
	var first map[string]string
	for _, threads := range []int{1, 2, 5} {
		for _, budget := range []int64{40 << 20, 128 << 20} {
			c := config(t, in, t.TempDir()+"/out")
			c.Shuffle, c.Run.Options.Threads, c.Run.Budget = true, threads, mem.New(budget)
			made(t, c)
			got := read(t, c.Out+"/data/")
			if slices.Equal(got, want) {
				t.Error("the rows are in their order")
			}
			slices.SortFunc(got, func(a, b row) int { return int(a.id - b.id) })
			if !slices.Equal(got, want) {
				t.Errorf("%d threads, budget %d: not a permutation", threads, budget)
			}
			files := tree(t, c.Out)
			delete(files, "manifest.json")
			if first == nil {
				first = files
			} else if !maps.Equal(first, files) {
				t.Errorf("%d threads, budget %d: other bytes", threads, budget)
			}
		}
	}
}

// first is the rows that are the first of their text.
func first(rows []row) (out []row) {
	seen := make(map[string]bool)
	for _, r := range rows {
		if !seen[r.text] {
			out = append(out, r)
		}
		seen[r.text] = true
	}
	return out
}

func TestTheFirstOfEveryTextIsKeptInOrder(t *testing.T) {
	in := source(t, 3)
	want := first(read(t, in))
	for _, budget := range []int64{40 << 20, 128 << 20} {
		c := config(t, in, t.TempDir()+"/out")
		c.Dedup, c.Run.Budget = &corpus.Dedup{By: []string{"text"}}, mem.New(budget)
		rep := made(t, c)
		if got := read(t, c.Out+"/data/"); !slices.Equal(got, want) || rep.Kept.Distinct != int64(len(want)) {
			t.Errorf("%d rows are kept, want %d in order", len(got), len(want))
		}
	}
}

// nearly writes rows of which every fourth is a copy of the one before with one
// word changed, and is how many those are.
func nearly(t *testing.T) (in string, planted int) {
	t.Helper()
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("id,text\n")
	var last []string
	for i := range 2000 {
		words := make([]string, 60)
		for j := range words {
			words[j] = fmt.Sprintf("w%d", rnd.IntN(100_000))
		}
		if last != nil && i%4 == 3 {
			copy(words, last)
			words[5+rnd.IntN(50)] = "other" // five of 56 shingles differ: similarity 0.84
			planted++
		}
		last = words
		fmt.Fprintf(&b, "%d,%s\n", i, strings.Join(words, " "))
	}
	if err := os.WriteFile(dir+"/part.csv", []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir + "/", planted
}

func TestTextsThatAreNearlyTheSameAreLeftOut(t *testing.T) {
	in, planted := nearly(t)
	for _, d := range []corpus.Dedup{{Near: 0.75, Check: true}, {Near: 0.75, Exact: true}} {
		c := config(t, in, t.TempDir()+"/out")
		d.By, d.Show = []string{"text"}, 5
		c.Dedup = &d
		rep := made(t, c)
		left := rep.Kept.Rows - rep.Kept.Distinct
		if left < int64(planted)*9/10 || left > int64(planted) || len(rep.Examples) != 5 || rep.Examples[0].First != rep.Examples[0].Row-1 {
			t.Errorf("%d rows left out, %d were planted; %v", left, planted, rep.Examples)
		}
	}
}

// TestNothingBelowTheSimilarityIsLeftOutExactly has copies of 0.84, and one more
// than that is asked for.
func TestNothingBelowTheSimilarityIsLeftOutExactly(t *testing.T) {
	in, _ := nearly(t)
	for _, threads := range []int{1, 4} {
		c := config(t, in, t.TempDir()+"/out")
		c.Run.Options.Threads = threads
		c.Dedup = &corpus.Dedup{By: []string{"text"}, Near: 0.86, Exact: true}
		if rep := made(t, c); rep.Kept.Distinct != rep.Kept.Rows {
			t.Errorf("%d of %d rows are kept", rep.Kept.Distinct, rep.Kept.Rows)
		}
	}
}

func TestARunThatWasEndedGoesOnToTheSameBytes(t *testing.T) {
	in := source(t, 3)
	for _, shuffled := range []bool{false, true} {
		c := config(t, in, t.TempDir()+"/out")
		c.Shuffle, c.Dedup = shuffled, &corpus.Dedup{By: []string{"text"}}
		made(t, c)
		want := tree(t, c.Out)
		for _, n := range []int64{0, 1, 5} {
			c := config(t, in, t.TempDir()+"/out")
			c.Shuffle, c.Dedup, c.Every = shuffled, &corpus.Dedup{By: []string{"text"}}, 20*time.Millisecond
			ends := ended(t, &c, func() int64 { return n + 6 })
			if got := tree(t, c.Out); !maps.Equal(got, want) {
				t.Errorf("shuffled %v, ended %d times: other bytes", shuffled, ends)
			}
		}
	}
}

// ended runs c until it is done, every time behind so many objects, and says how
// often it was ended.
func ended(t *testing.T, c *corpus.Config, objects func() int64) int {
	t.Helper()
	for ends := 0; ; ends++ {
		ctx, cancel := context.WithCancel(t.Context())
		c.Run.Budget = mem.New(128 << 20)
		e := &ending{ReadWriter: store.New(store.Options{}), cancel: cancel}
		e.left.Store(objects())
		c.Store = e
		_, err := corpus.Run(ctx, *c)
		cancel()
		runtest.Empty(t, c.Run.Budget)
		if err == nil {
			return ends
		}
		if ends > 100 {
			t.Fatal(err)
		}
	}
}

// ending is a store that ends the run behind so many objects.
type ending struct {
	store.ReadWriter
	left   atomic.Int64
	cancel func()
}

func (e *ending) Create(ctx context.Context, url string, share *mem.Budget) (store.Output, error) {
	if e.left.Add(-1) < 0 {
		e.cancel()
		return nil, context.Canceled
	}
	return e.ReadWriter.Create(ctx, url, share)
}
