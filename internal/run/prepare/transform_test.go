package prepare_test

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
)

// texts are the rows of Parquet files, in order; numbers with all their digits.
func texts(t *testing.T, url string) (out []string) {
	t.Helper()
	eachBatch(t, url, func(rec arrow.RecordBatch) {
		for i := range int(rec.NumRows()) {
			var row strings.Builder
			for k, col := range rec.Columns() {
				row.WriteString(rec.ColumnName(k) + "=" + col.ValueStr(i) + " ")
			}
			out = append(out, row.String())
		}
	})
	if len(out) == 0 {
		t.Fatalf("%s: no rows", url)
	}
	return out
}

func transformed(t *testing.T, c prepare.Config, p *scale.Params, out string) error {
	t.Helper()
	r := c.Run
	r.Sink = prepare.Transform(p, r.Options.Threads, run.Files{Store: c.Store, URL: out, Writer: parquet.Writer(), Options: c.Write}.Target)
	_, err := run.Scan(t.Context(), r)
	runtest.Empty(t, r.Budget)
	return err
}

func TestTransformedRowsAreThosePrepared(t *testing.T) {
	in := source(t, 2)
	c := config(in, t.TempDir()+"/out")
	c.Scale.Scale = []scale.Rule{{Column: "f0", Do: "standard"}, {Column: "f1", Do: "minmax"}}
	prepared(t, c)
	var want []string
	for _, s := range []string{"train", "val", "test"} {
		want = append(want, texts(t, c.Out+"/"+s+"/")...)
	}
	slices.Sort(want)
	p := loaded(t, c, c.Out)
	var first []string
	for _, v := range []struct {
		threads, batch int
		memory         int64
	}{{1, 0, 128}, {2, 77, 48}, {4, 1500, 64}} {
		c.Run.Options.Threads, c.Run.Options.BatchRows, c.Run.Budget = v.threads, v.batch, mem.New(v.memory<<20)
		out := filepath.Join(t.TempDir(), "x.parquet")
		if err := transformed(t, c, p, out); err != nil {
			t.Fatal(err)
		}
		got := texts(t, out)
		if first == nil {
			first = slices.Clone(got)
		} else if !slices.Equal(got, first) {
			t.Errorf("%+v: other rows, or another order", v)
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("%+v: %d rows, want %d; the first: %s, want %s", v, len(got), len(want), got[0], want[0])
		}
	}
	if !strings.HasPrefix(first[0], "id=0 ") || !strings.HasPrefix(first[rowsOfFile], "id=3000 ") {
		t.Errorf("the order is not that of the source: %s", first[rowsOfFile])
	}
}

func TestTransformNamesMissingColumnsAndPassesUnknown(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	prepared(t, c)
	p := loaded(t, c, c.Out)
	c.Run.Options.Columns = []string{"f1", "id"}
	out := filepath.Join(t.TempDir(), "x.parquet")
	err := transformed(t, c, p, out)
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `"f0", "color"`) {
		t.Errorf("got %v", err)
	}
	p.Columns = slices.DeleteFunc(p.Columns, func(k scale.Column) bool { return k.Name != "f1" })
	if err := transformed(t, c, p, out); err != nil {
		t.Fatal(err)
	}
	if rows := texts(t, out); len(rows) != rowsOfFile || !strings.HasSuffix(rows[5], " id=5 ") {
		t.Errorf("%d rows: %s", len(rows), rows[5])
	}
}

// TestWideRowsAreTransformedAFewAtATime makes 2 KiB of a batch's every row.
func TestWideRowsAreTransformedAFewAtATime(t *testing.T) {
	c := config(source(t, 1), t.TempDir()+"/out")
	c.Scale = scale.Config{Encode: []scale.Rule{{Column: "text", Do: "hash:256"}}, Label: "y"}
	_, p, err := prepare.Fit(t.Context(), c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	c.Run.Memory, c.Run.Budget = 24<<20, mem.New(4<<20)
	out := filepath.Join(t.TempDir(), "x.parquet")
	err = transformed(t, c, p, out)
	_, number, ok := strings.Cut(err.Error(), "try --memory ")
	if !errors.Is(err, mem.ErrTooSmall) || !ok {
		t.Fatal(err)
	}
	if c.Run.Memory, err = mem.Parse(number, 0); err != nil {
		t.Fatal(err)
	}
	c.Run.Budget = mem.New(c.Run.Memory - run.Base)
	if err := transformed(t, c, p, out); err != nil {
		t.Fatalf("with --memory %s: %v", number, err)
	}
	if rows := texts(t, out); len(rows) != rowsOfFile {
		t.Errorf("%d rows", len(rows))
	}
}
