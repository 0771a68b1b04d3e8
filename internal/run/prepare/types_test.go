package prepare_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset/datasettest"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
)

// every is a preparation of columns of every type, all passed through but two.
func every(t *testing.T, rec arrow.RecordBatch, out string) prepare.Config {
	t.Helper()
	in := t.TempDir()
	for _, n := range []string{"a.fake", "b.fake"} {
		if err := os.WriteFile(in+"/"+n, []byte(runtest.Magic), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := config(in+"/", out)
	f := &runtest.Fake{Record: rec, Cost: 1 << 20, Least: 1 << 20}
	c.Run.Formats = []format.Format{f.Format()}
	c.Scale = scale.Config{Scale: []scale.Rule{{Column: "c00", Do: "standard"}, {Column: "c01", Do: "robust"}}}
	return c
}

func TestColumnsOfEveryTypeArePassedThrough(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 3000, 3)
	dir := t.TempDir()
	first := every(t, rec, dir+"/want")
	want := prepared(t, first)
	for i, batch := range []int{1000, 37, 0} {
		c := first
		c.Out = fmt.Sprintf("%s/%d", dir, i)
		c.Run.Options.BatchRows, c.Run.Options.Threads = batch, 1+i
		same(t, fmt.Sprint(batch), prepared(t, c), want)
		r, err := prepare.Verify(t.Context(), c.Store, formats(), c.Out, mem.New(64<<20), nil)
		if err != nil || r.Rows != 6000 {
			t.Errorf("verify: %v, %d rows", err, r.Rows)
		}
	}
}

func TestAStoreThatFailsAnywhereLeavesWhatGoesOn(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 300, 3)
	dir := t.TempDir()
	base := every(t, rec, dir+"/want")
	base.Write.PartSize = 120 << 10
	base.Run.Options.BatchRows = 200
	base.Every = 1
	want := prepared(t, base)
	gone := errors.New("gone")
	for n := 1; ; n += 3 { // of the two steps of an operation each in turn
		c := base
		c.Out = fmt.Sprintf("%s/%d", dir, n)
		var left atomic.Int64 // parts are made permanent side by side
		left.Store(int64(n))
		c.Store = datasettest.Steps{ReadWriter: store.New(store.Options{}), Step: func(name string) error {
			if f := strings.Fields(name); f[1] != "commit" && f[1] != "create" && f[1] != "remove" {
				return nil
			}
			if left.Add(-1) < 0 {
				return gone
			}
			return nil
		}}
		_, err := prepare.Run(t.Context(), c)
		runtest.Empty(t, c.Run.Budget)
		if err == nil {
			break
		}
		if !errors.Is(err, gone) {
			t.Fatalf("step %d: %v", n, err)
		}
		c.Store = base.Store
		_, err = prepare.Run(t.Context(), c)
		if err != nil && !strings.Contains(err.Error(), "finished") {
			t.Fatalf("step %d: %v", n, err)
		}
		same(t, fmt.Sprintf("step %d", n), tree(t, c.Out), want)
	}
}
