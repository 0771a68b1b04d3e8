package prepare_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const rowsOfFile = 3000

var colors = []string{"red", "green", "blue", ""}

// source writes files of rows: id, two features, a word, a text, a label.
func source(t *testing.T, files int) string {
	t.Helper()
	dir := t.TempDir()
	rnd := rand.New(rand.NewPCG(1, 2))
	for f := range files {
		var b strings.Builder
		b.WriteString("id,f0,f1,color,text,y\n")
		for i := range rowsOfFile {
			f1 := fmt.Sprint(rnd.NormFloat64() * 1000)
			if i%7 == 0 {
				f1 = ""
			}
			fmt.Fprintf(&b, "%d,%v,%s,%s,%s,%d\n", f*rowsOfFile+i, rnd.NormFloat64()*3+5, f1,
				colors[rnd.IntN(len(colors))], strings.Repeat("x", rnd.IntN(40)), rnd.IntN(2))
		}
		if err := os.WriteFile(fmt.Sprintf("%s/part-%d.csv", dir, f), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir + "/"
}

// toParquet rewrites a source as Parquet.
func toParquet(t *testing.T, dir string) string {
	t.Helper()
	out := t.TempDir() + "/"
	st := store.New(store.Options{})
	c := run.Config{Paths: []string{dir}, Store: st, Formats: formats(), Budget: mem.New(64 << 20), Memory: 84 << 20,
		Sink: run.Files{Store: st, URL: out, Writer: parquet.Writer(), Options: format.WriteOptions{RowGroup: 1 << 18, PartSize: 1 << 19}}.Target}
	if _, err := run.Scan(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	return out
}

func formats() []format.Format { return []format.Format{parquet.Format(), csv.Format()} }

func config(in, out string) prepare.Config {
	st := store.New(store.Options{})
	return prepare.Config{
		Run: run.Config{Paths: []string{in}, Store: st, Formats: formats(), Budget: mem.New(128 << 20), Memory: 148 << 20,
			Options: format.Options{Threads: 1}},
		Store: st, Out: out, Seed: 7, Version: "weir test", Recipe: "r",
		Split: split.Config{Names: []string{"train", "val", "test"}, Weights: []int{80, 10, 10}},
		Scale: scale.Config{Scale: []scale.Rule{{Column: "f*", Do: "standard"}}, Impute: []scale.Rule{{Column: "f1", Do: "mean"}},
			Encode: []scale.Rule{{Column: "color", Do: "onehot"}}, Label: "y"},
		Writer: parquet.Writer(), Write: format.WriteOptions{PartSize: 200 << 10, RowGroup: 1 << 20},
	}
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

// same fails unless two datasets are the same bytes.
func same(t *testing.T, what string, got, want map[string]string) {
	t.Helper()
	names, wanted := slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want))
	if !slices.Equal(names, wanted) {
		t.Errorf("%s: files\n%v\nwant\n%v", what, names, wanted)
		return
	}
	for _, n := range names {
		if got[n] != want[n] {
			t.Errorf("%s: %s differs: %d bytes, %d", what, n, len(got[n]), len(want[n]))
		}
	}
}

// prepared runs a preparation to its end.
func prepared(t *testing.T, c prepare.Config) map[string]string {
	t.Helper()
	if _, err := prepare.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	runtest.Empty(t, c.Run.Budget)
	return tree(t, c.Out)
}

// row is one as it was written.
type row struct {
	f0, f1, red float64
	y           int64
}

// read returns a split's rows by their id.
func read(t *testing.T, dir string) map[int64]row {
	t.Helper()
	out := make(map[int64]row)
	eachBatch(t, dir, func(rec arrow.RecordBatch) {
		col := func(name string) arrow.Array { return rec.Column(rec.Schema().FieldIndices(name)[0]) }
		f := func(name string, i int) float64 { return col(name).(*array.Float64).Value(i) }
		for i := range int(rec.NumRows()) {
			id := col("id").(*array.Int64).Value(i)
			out[id] = row{f("f0", i), f("f1", i), f("color_red", i), col("y").(*array.Int64).Value(i)}
		}
	})
	if len(out) == 0 {
		t.Fatalf("%s: no rows", dir)
	}
	return out
}

func TestRowsAreInTheirSplitsAndScaledByTrain(t *testing.T) {
	c := config(source(t, 2), t.TempDir()+"/out")
	rep, err := prepare.Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for i, name := range []string{"train", "val", "test"} {
		rows := read(t, c.Out+"/"+name+"/")
		total += len(rows)
		if int64(len(rows)) != rep.Splits[i].Rows || rep.Splits[i].Parts < 2 {
			t.Errorf("%s: %d rows read, report: %+v", name, len(rows), rep.Splits[i])
		}
		if share := float64(len(rows)) / (2 * rowsOfFile); math.Abs(share-[]float64{.8, .1, .1}[i]) > 0.03 {
			t.Errorf("%s: a share of %v", name, share)
		}
		if name != "train" {
			continue
		}
		var sum, squares, f1 float64
		for _, r := range rows {
			sum, squares, f1 = sum+r.f0, squares+r.f0*r.f0, f1+r.f1
		}
		n := float64(len(rows))
		if math.Abs(sum/n) > 1e-9 || math.Abs(squares/n-1) > 1e-9 || math.Abs(f1/n) > 1e-9 {
			t.Errorf("train: mean %v, variance %v, mean of f1 %v", sum/n, squares/n, f1/n)
		}
	}
	if total != 2*rowsOfFile || rep.Fit.Rows != rep.Write.Rows || rep.Params.Rows != rep.Splits[0].Rows {
		t.Errorf("%d rows, report %+v", total, rep)
	}
	runtest.Empty(t, c.Run.Budget)
	result, err := prepare.Verify(t.Context(), c.Store, formats(), c.Out, mem.New(64<<20), nil)
	if err != nil || result.Rows != 2*rowsOfFile {
		t.Errorf("verify: %v, %d rows", err, result.Rows)
	}
}

func TestTheBytesDoNotDependOnThreadsBatchesAndMemory(t *testing.T) {
	in := toParquet(t, source(t, 2))
	dir := t.TempDir()
	want := prepared(t, config(in, dir+"/want"))
	n := 0
	for _, v := range []struct {
		threads, batch int
		memory         int64
	}{{1, 77, 128}, {2, 0, 128}, {4, 1500, 128}, {4, 3, 64}, {2, 1024, 48}, {1, 0, 512}} {
		n++
		c := config(in, fmt.Sprintf("%s/%d", dir, n))
		c.Run.Options.Threads, c.Run.Options.BatchRows = v.threads, v.batch
		c.Run.Budget = mem.New(v.memory << 20)
		same(t, fmt.Sprintf("%+v", v), prepared(t, c), want)
	}
}

// cut is a format whose streams end with an error at the nth batch.
func cut(f format.Format, at *int, err error) format.Format {
	plan := f.Plan
	f.Plan = func(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
		d, e := plan(ctx, src, opt)
		return cutDataset{d, at, err}, e
	}
	return f
}

type cutDataset struct {
	format.Dataset
	at  *int
	err error
}

func (d cutDataset) Open(ctx context.Context, share *mem.Budget, from stream.Cursor, w *stream.Waits) (stream.Stream, error) {
	s, err := d.Dataset.Open(ctx, share, from, w)
	return cutStream{s, d}, err
}

type cutStream struct {
	stream.Stream
	d cutDataset
}

func (s cutStream) Next(ctx context.Context) (*stream.Batch, error) {
	if *s.d.at--; *s.d.at < 0 {
		return nil, s.d.err
	}
	return s.Stream.Next(ctx)
}

func TestARunThatWasEndedGoesOnToTheSameBytes(t *testing.T) {
	raw := source(t, 2)
	for in, stratify := range map[string]string{raw: "y", toParquet(t, raw): ""} {
		dir := t.TempDir()
		base := config(in, dir+"/want")
		base.Split.Stratify = stratify
		base.Run.Options.BatchRows = 900
		base.Every = 1
		want := prepared(t, base)
		for n := 1; endedAt(t, base, n, fmt.Sprintf("%s/%d", dir, n), want); n++ {
		}
	}
}

// endedAt ends a run at the nth batch of both passes and goes on with batches
// of another size; false: it came to its end before.
func endedAt(t *testing.T, c prepare.Config, n int, out string, want map[string]string) bool {
	t.Helper()
	gone := errors.New("gone")
	c.Out = out
	at := n
	c.Run.Formats = nil
	for _, f := range formats() {
		c.Run.Formats = append(c.Run.Formats, cut(f, &at, gone))
	}
	_, err := prepare.Run(t.Context(), c)
	runtest.Empty(t, c.Run.Budget)
	if err == nil {
		return false
	}
	if !errors.Is(err, gone) {
		t.Fatal(err)
	}
	c.Run.Formats = formats()
	c.Run.Options.BatchRows = 500 + 300*(n%3)
	same(t, fmt.Sprintf("ended at batch %d", n), prepared(t, c), want)
	return true
}

func TestAFinishedDirectoryIsKeptWithoutForce(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	want := prepared(t, c)
	if _, err := prepare.Run(t.Context(), c); !errors.Is(err, dataset.ErrFinished) {
		t.Errorf("got %v", err)
	}
	c.Force = true
	same(t, "again", prepared(t, c), want)
}

func TestASourceThatChangedIsRefused(t *testing.T) {
	in := source(t, 2)
	c := config(in, t.TempDir()+"/out")
	c.Every = 1
	at := 3
	c.Run.Options.BatchRows = 1000
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("gone"))}
	if _, err := prepare.Run(t.Context(), c); err == nil {
		t.Fatal("no error")
	}
	f, err := os.OpenFile(in+"part-1.csv", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("1,2,3,red,x,1\n")
	f.Close()
	c.Run.Formats = formats()
	if _, err := prepare.Run(t.Context(), c); !errors.Is(err, dataset.ErrDiffers) || !strings.Contains(err.Error(), "part-1.csv") {
		t.Errorf("got %v", err)
	}
}

func TestTooLittleMemoryIsRefusedWithTheNumber(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	c.Scale.Encode = nil // what it needs is known behind the fit
	c.Run.Memory, c.Run.Budget = 24<<20, mem.New(4<<20)
	_, err := prepare.Run(t.Context(), c)
	if !errors.Is(err, mem.ErrTooSmall) || !strings.Contains(err.Error(), "try --memory") {
		t.Errorf("got %v", err)
	}
	runtest.Empty(t, c.Run.Budget)
	_, number, _ := strings.Cut(err.Error(), "try --memory ")
	if c.Run.Memory, err = mem.Parse(number, 0); err != nil {
		t.Fatal(err)
	}
	c.Run.Budget = mem.New(c.Run.Memory - run.Base)
	prepared(t, c)
	// A little less is refused before anything is read.
	c.Run.Memory -= 2 << 20
	c.Run.Budget = mem.New(c.Run.Memory - run.Base)
	c.Out += "2"
	at := 0
	c.Run.Formats = []format.Format{cut(csv.Format(), &at, errors.New("data was read"))}
	if _, err = prepare.Run(t.Context(), c); !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("got %v", err)
	}
}

func TestVerifyNamesWhatIsWrong(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	prepared(t, c)
	name := c.Out + "/val/part-00000.parquet"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text[200] ^= 1
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
	var said []string
	_, err = prepare.Verify(t.Context(), c.Store, formats(), c.Out, mem.New(64<<20), func(s string) { said = append(said, s) })
	if !errors.Is(err, format.ErrData) || len(said) != 1 || !strings.HasPrefix(said[0], "val/part-00000.parquet: ") {
		t.Errorf("got %v, %q", err, said)
	}
}
