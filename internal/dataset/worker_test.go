package dataset_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/store/storetest"
	"github.com/weir-data/weir/internal/stream"
)

// The fake worker's data: row i is in split i%10; a set of parts has setRows
// rows of the source.
const (
	rows    = 120
	setRows = 40
	fitRows = 70
)

var schema = arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float32}, {Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String), Nullable: true}}, nil)

func plan() dataset.Plan {
	return dataset.Plan{
		CreatedBy: "weir test", Recipe: "read: raw/\nscale: <standard>\n", Seed: 1<<63 + 7,
		Source: []store.Object{{URL: "raw/a.csv", Size: 10, ETag: "1"}, {URL: "raw/b.csv", Size: 20, ETag: `"2"`}},
		Splits: []string{"train", "val", "test"}, Arrays: []string{"X_train.npy", "y_train.npy", "X_val.npy"},
	}
}

func place(st store.ReadWriter, url string) dataset.Place {
	return dataset.Place{Store: st, URL: url, Share: mem.New(dataset.Cost(url))}
}

func splitOf(row int64) int {
	switch row % 10 {
	case 8:
		return 1
	case 9:
		return 2
	}
	return 0
}

func digestOf(data []byte) string { return fmt.Sprintf("%016x", xxh3.Hash(data)) }

// work does all that is left to do, as prepare would.
func work(ctx context.Context, at dataset.Place, p dataset.Plan, force bool) (err error) {
	run, was, err := dataset.Begin(ctx, at, p, force)
	if err != nil {
		return err
	}
	if was.Finished {
		return nil
	}
	defer run.Abort()
	w := &worker{ctx: ctx, run: run, at: at, splits: was.Splits, share: mem.New(32 << 20)}
	pass, from, sum := was.Pass, was.Cursor.Row, int64(0)
	if was.StateBytes >= 0 {
		state := make([]byte, was.StateBytes)
		if err := run.State(ctx, state); err != nil {
			return err
		}
		if err := json.Unmarshal(state, &sum); err != nil {
			return err
		}
	}
	if pass < 2 {
		if sum, err = w.fit(from, sum); err != nil {
			return err
		}
		from = 0
	}
	if pass < 3 {
		if err := w.write(from, sum); err != nil {
			return err
		}
	}
	arrays, err := w.arrays(p.Arrays, was.Arrays)
	if err != nil {
		return err
	}
	return run.Finish(ctx, dataset.Ending{Schema: schema, Params: fmt.Appendf(nil, `{"sum": %d}`, sum), Arrays: arrays})
}

type worker struct {
	ctx    context.Context
	run    *dataset.Run
	at     dataset.Place
	share  *mem.Budget
	splits []dataset.Split
}

// fit is the first pass: the sum of the train rows.
func (w *worker) fit(from, sum int64) (int64, error) {
	for row := from; row < rows; row++ {
		if splitOf(row) == 0 {
			sum += row
		}
		if (row+1)%fitRows != 0 {
			continue
		}
		c := dataset.Checkpoint{Pass: 1, Cursor: stream.Cursor{Row: row + 1}, State: fmt.Append(nil, sum)}
		if err := w.run.Checkpoint(w.ctx, c); err != nil {
			return 0, err
		}
	}
	return sum, w.run.Checkpoint(w.ctx, dataset.Checkpoint{Pass: 2, State: fmt.Append(nil, sum)})
}

// write is the second: parts are cut at the same rows in every life.
func (w *worker) write(from, sum int64) error {
	for ; from < rows; from += setRows {
		bufs := make([]bytes.Buffer, 3)
		counts := make([]int64, 3)
		for row := from; row < min(rows, from+setRows); row++ {
			s := splitOf(row)
			fmt.Fprintf(&bufs[s], "row %d of %d\n", row, sum)
			counts[s]++
		}
		c := dataset.Checkpoint{Pass: 2, Cursor: stream.Cursor{Object: 1, Row: from + setRows}}
		for i := range bufs {
			name := dataset.PartName(w.splits[i].Parts, ".parquet")
			f, err := w.put(w.splits[i].Prefix+name, bufs[i].Bytes())
			if err != nil {
				return err
			}
			w.splits[i].Parts++
			f.Name, f.Rows = name, counts[i]
			c.Parts = append(c.Parts, dataset.NewPart{Split: i, Part: f})
		}
		if err := w.run.Checkpoint(w.ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// arrays is the third, with a checkpoint after the first two and one at the end.
func (w *worker) arrays(names []string, done []dataset.Part) (all []dataset.Array, err error) {
	from := len(done)
	for i := from; i < len(names); i++ {
		p, err := w.put(names[i], []byte("array "+names[i]))
		if err != nil {
			return nil, err
		}
		if done = append(done, p); i != 1 && i != len(names)-1 {
			continue
		}
		if err := w.run.Checkpoint(w.ctx, dataset.Checkpoint{Pass: 3, Arrays: done[from:]}); err != nil {
			return nil, err
		}
		from = len(done)
	}
	for _, p := range done {
		all = append(all, dataset.Array{Part: p, Shape: []int64{0, 2}, Dtype: "float32", Columns: []string{"a", "b"}})
	}
	return all, nil
}

func (w *worker) put(name string, data []byte) (dataset.Part, error) {
	f := dataset.Part{Name: name, Bytes: int64(len(data)), Digest: digestOf(data)}
	out, err := w.at.Store.Create(w.ctx, w.at.URL+"/"+name, w.share)
	if err != nil {
		return f, err
	}
	defer out.Abort()
	if _, err := out.Write(data); err != nil {
		return f, err
	}
	return f, out.Commit(w.ctx)
}

// check is what verify's user gives it.
func check(st store.Store) func(context.Context, dataset.Entry) (int64, string, int64, error) {
	return func(ctx context.Context, e dataset.Entry) (int64, string, int64, error) {
		data, err := readAll(ctx, st, e.Object)
		return int64(bytes.Count(data, []byte("\n"))), digestOf(data), int64(len(data)), err
	}
}

func readAll(ctx context.Context, st store.Store, o store.Object) ([]byte, error) {
	r, err := st.Open(ctx, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data := make([]byte, r.Size())
	return data, r.ReadAt(ctx, data, 0)
}

// ground is where tests write: a disk or a bucket.
type ground struct {
	name string
	// fresh is the URL of a directory that is not there yet.
	fresh func() string
	// tree is everything below it, hidden files and empty directories too.
	tree func(url string) string
}

// disk is a directory in memory where there is one: hundreds of runs sync all
// they write, which is not what the tests are about.
func disk(t *testing.T) ground {
	dir, err := os.MkdirTemp("/dev/shm", "weir-test-")
	if err != nil {
		dir = t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	n := 0
	return ground{"disk", func() string { n++; return filepath.Join(dir, fmt.Sprint("out", n)) }, func(url string) string {
		var b strings.Builder
		err := filepath.WalkDir(url, func(p string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(url, p)
			if e.IsDir() {
				fmt.Fprintf(&b, "%s/\n", rel)
				return nil
			}
			data, err := os.ReadFile(p)
			fmt.Fprintf(&b, "%s: %s\n", rel, data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return b.String()
	}}
}

func bucket(t *testing.T) ground {
	srv := storetest.S3(t)
	n := 0
	return ground{"s3", func() string {
		n++
		srv.Bucket(t, fmt.Sprintf("bucket%d", n))
		return fmt.Sprintf("s3://bucket%d/deep/out", n)
	}, func(url string) string {
		var b strings.Builder
		name, _, _ := strings.Cut(strings.TrimPrefix(url, "s3://"), "/")
		for _, k := range srv.Keys(t, name) {
			fmt.Fprintf(&b, "%s: %s\n", k, srv.Get(t, name, k))
		}
		return b.String()
	}}
}

// everywhere runs a test on both grounds.
func everywhere(t *testing.T, f func(t *testing.T, g ground)) {
	t.Run("disk", func(t *testing.T) { f(t, disk(t)) })
	t.Run("s3", func(t *testing.T) { f(t, bucket(t)) })
}

// golden is the tree of an undisturbed run.
func golden(t *testing.T, g ground) string {
	t.Helper()
	st := store.New(store.Options{})
	url := g.fresh()
	if err := work(t.Context(), place(st, url), plan(), false); err != nil {
		t.Fatal(err)
	}
	return g.tree(url)
}

// same compares trees and shows where they part.
func same(t *testing.T, got, want, when string) {
	t.Helper()
	if got == want {
		return
	}
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			t.Fatalf("%s: the trees part at line %d:\n%q\nwant\n%q", when, i+1, a[i:min(len(a), i+3)], b[i:min(len(b), i+3)])
		}
	}
}
