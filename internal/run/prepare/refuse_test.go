package prepare_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// given is c with a --memory.
func given(c prepare.Config, memory int64) prepare.Config {
	c.Run.Memory, c.Run.Budget = memory, mem.New(max(0, memory-run.Base))
	return c
}

// named is the number that a refusal names.
func named(t *testing.T, err error) int64 {
	t.Helper()
	if !errors.Is(err, mem.ErrTooSmall) {
		t.Fatalf("got %v", err)
	}
	_, number, _ := strings.Cut(err.Error(), "try --memory ")
	n, err := mem.Parse(number, 0)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// columns is a record of n columns of numbers, one of texts and one of as many
// categories.
func columns(n, rows, categories int, text func(row int) string) arrow.RecordBatch {
	fields := []arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}, {Name: "color", Type: arrow.BinaryTypes.String}}
	for i := range n {
		fields = append(fields, arrow.Field{Name: fmt.Sprintf("f%d", i), Type: arrow.PrimitiveTypes.Float64, Nullable: true})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for r := range rows {
		b.Field(0).(*array.StringBuilder).Append(text(r))
		b.Field(1).(*array.StringBuilder).Append(fmt.Sprintf("color%d", r%categories))
		for i := range n {
			b.Field(2 + i).(*array.Float64Builder).Append(float64(r*i%1000) / 7)
		}
	}
	return b.NewRecordBatch()
}

// noise is text that cannot be compressed.
func noise(n int) string {
	r := rand.NewChaCha8([32]byte{1})
	b := make([]byte, n)
	r.Read(b)
	for i := range b {
		b[i] = 32 + b[i]%90
	}
	return string(b)
}

// TestTheNumberThatARefusalNamesWorksAtOnce whatever the rows are like.
func TestTheNumberThatARefusalNamesWorksAtOnce(t *testing.T) {
	short := func(int) string { return "text" }
	onehot := scale.Config{Encode: []scale.Rule{{Column: "color", Do: "onehot"}}}
	for name, one := range map[string]struct {
		rec   arrow.RecordBatch
		scale scale.Config
		split split.Config
		npy   bool
		again bool // of a memory that is enough for the first pass only
	}{
		"narrow":    {rec: columns(2, 3000, 3, short)},
		"one split": {rec: columns(2, 3000, 3, short), split: split.Config{Names: []string{"train"}, Weights: []int{100}}},
		"arrays":    {rec: columns(5, 3000, 3, short), npy: true},
		"wide":      {rec: columns(3000, 300, 3, short), scale: scale.Config{Scale: []scale.Rule{{Column: "f*", Do: "standard"}}}},
		"onehot":    {rec: columns(2, 5000, 500, short), scale: onehot, again: true},
		"hash":      {rec: columns(2, 3000, 5, short), scale: scale.Config{Encode: []scale.Rule{{Column: "color", Do: "hash:300"}}}},
		"long texts": {rec: columns(2, 400, 3, func(r int) string {
			if r%97 == 5 {
				return noise(3<<20 + r<<10)
			}
			return noise(r << 4)
		}), again: true},
	} {
		t.Run(name, func(t *testing.T) {
			c := every(t, one.rec, t.TempDir()+"/out")
			c.Scale, c.Npy, c.Run.Options.BatchRows, c.Run.Options.Threads = one.scale, one.npy, 100, 2
			c.Run.Formats = append(c.Run.Formats, formats()...)
			c.Write.RowGroup, c.Write.PartSize = 0, 0
			if one.split.Names != nil {
				c.Split = one.split
			}
			for _, little := range []int64{run.Base / 2, run.Base + 4<<20} {
				_, err := prepare.Run(t.Context(), given(c, little))
				tried := given(c, named(t, err))
				tried.Out = fmt.Sprint(c.Out, little)
				_, err = prepare.Run(t.Context(), tried)
				if !one.again && err != nil || err != nil && name == "onehot" {
					t.Fatalf("--memory %s: %v", mem.Flag(tried.Run.Memory), err)
				}
				runtest.Empty(t, tried.Run.Budget)
			}
			if !one.again {
				return
			}
			// What the plan accepts, and what is refused behind the fit.
			c.Out += "again"
			least := run.Base + int64(8<<20)
			for ; ; least += 2 << 20 {
				if _, err := prepare.Plan(t.Context(), given(c, least)); err == nil {
					break
				}
			}
			_, err := prepare.Run(t.Context(), given(c, least))
			prepared(t, given(c, named(t, err)))
		})
	}
}
