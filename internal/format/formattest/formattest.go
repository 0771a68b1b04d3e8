// Package formattest is the suite that every reader of a format passes:
// whatever the batch size, the threads and the budget, the same rows in the
// same order; resumed anywhere, the rest of them; cancelled, closed or given
// damaged files, an error and no byte or goroutine left behind.
package formattest

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Case is one dataset to try a format with.
type Case struct {
	Format format.Format
	// Files are the objects' bytes, in order. They should be small: they are
	// read some thousand times.
	Files [][]byte
	// Names are the objects' URLs; empty: part-0, part-1, and so on.
	Names []string
	// Options are the format's own; its Columns count, its BatchRows and
	// Threads are set by the suite.
	Options format.Options
	// Want holds the rows of all files, cut anyhow. Names and types of its
	// schema count, nullability and metadata do not.
	Want []arrow.RecordBatch
	// Rows is the rows of each object as cursors count them, where those are
	// not Files; nil: each file is read alone.
	Rows []int
	// Damage is a file of a few KiB that is cut and spoiled at every byte.
	// Empty: nothing is.
	Damage []byte
	// Around makes the files, called Names, of a dataset with a damaged file
	// in it; nil: the file is alone.
	Around func(damaged []byte) [][]byte
	// Cuttable says that a file may end anywhere without an error, as a text
	// may.
	Cuttable bool
	// Stride makes the spoiling try every Stride-th byte only; 0: all.
	Stride int
}

// Run tries everything.
func Run(t *testing.T, c Case) {
	t.Helper()
	w := newRows(t, c.Want)
	t.Run("any batch size, threads and budget", func(t *testing.T) { c.anyOptions(t, w) })
	t.Run("floor", func(t *testing.T) { c.floor(t, w) })
	t.Run("resume at every cursor", func(t *testing.T) { c.resume(t, w) })
	t.Run("close at every Next", func(t *testing.T) { c.closeEverywhere(t, w) })
	t.Run("cancel at every Next", func(t *testing.T) { c.cancelEverywhere(t, w) })
	t.Run("the store fails at every read", func(t *testing.T) { c.failEverywhere(t) })
	if len(c.Damage) > 0 {
		t.Run("cut at every byte", func(t *testing.T) { c.cut(t) })
		t.Run("spoiled at every byte", func(t *testing.T) { c.spoil(t) })
		t.Run("random bytes", func(t *testing.T) { c.noise(t) })
	}
}

// batchSizes are those worth trying for n rows: all of a few.
func batchSizes(n int) []int {
	if n <= 12 {
		out := []int{0}
		for i := range n + 1 {
			out = append(out, i+1)
		}
		return out
	}
	return []int{0, 1, 2, 3, 7, 8, 64, 65, n - 1, n, n + 1, 1 << 20}
}

// setting is one way to read.
type setting struct {
	batch, threads int
	budget         func(floor int64) int64
	remote         bool
}

func (s setting) String() string {
	return fmt.Sprintf("batch %d, threads %d, budget of 1 MiB floor %d, remote %v", s.batch, s.threads, s.budget(1<<20), s.remote)
}

// budgets are the shares worth trying; odd ones among them.
var budgets = []func(floor int64) int64{
	exactly,
	func(floor int64) int64 { return floor + 1 },
	func(floor int64) int64 { return floor*5/4 + 4097 },
	func(floor int64) int64 { return 2*floor + 12345 },
	plenty,
}

func exactly(floor int64) int64 { return floor }
func plenty(floor int64) int64  { return 4*floor + 64<<20 }

// settings are all combinations; the many batches of few rows are tried with
// fewer of the rest.
func settings(rows int) []setting {
	var out []setting
	for _, batch := range batchSizes(rows) {
		for _, threads := range []int{1, 2, 4, 8} {
			for i, b := range budgets {
				for _, remote := range []bool{false, true} {
					if batch > 0 && batch < 8 && rows > 100 && (i%2 == 1 || remote) {
						continue
					}
					out = append(out, setting{batch, threads, b, remote})
				}
			}
		}
	}
	return out
}

func (c *Case) anyOptions(t *testing.T, w *rows) {
	defer noGoroutineLeft(t)()
	for _, s := range settings(w.n) {
		r := c.plan(t, s)
		r.open(t, start)
		r.rest(t, w, 0)
		r.close(t)
		if t.Failed() {
			t.Fatal(s)
		}
	}
}
