package shuffle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/shuffle"
	"github.com/weir-data/weir/internal/stream"
)

// doubles makes rows of numbers.
func doubles(columns, rows int) arrow.RecordBatch {
	var fields []arrow.Field
	for i := range columns {
		fields = append(fields, arrow.Field{Name: fmt.Sprint("x", i), Type: arrow.PrimitiveTypes.Float64})
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, arrow.NewSchema(fields, nil))
	defer b.Release()
	for i := range columns {
		for r := range rows {
			b.Field(i).(*array.Float64Builder).Append(float64(i*rows + r))
		}
	}
	return b.NewRecordBatch()
}

// BenchmarkShuffle is scatter and order of about 540 MB in 128 MiB, with two threads:
// 2M rows of 34 doubles, and rows of texts and lists.
func BenchmarkShuffle(b *testing.B) {
	b.Run("numbers", func(b *testing.B) { benchmark(b, doubles(34, 8192), 2_000_000) })
	b.Run("texts", func(b *testing.B) { benchmark(b, numbered(8192, 300), 540_000) })
}

func benchmark(b *testing.B, rec arrow.RecordBatch, rows int64) {
	const threads, share = 2, 128 << 20
	ctx := context.Background()
	in := shuffle.Input{Schema: rec.Schema(), Bytes: layout.Size(rec) * rows / rec.NumRows(), Rows: rows}
	l, err := shuffle.Plan(in, share, threads)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		dir, err := spill.Open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		budget := mem.New(share)
		c := shuffle.Config{Schema: rec.Schema(), Seed: 7, Scratch: dir, Name: "s", Partitions: l.Partitions, Threads: threads}
		begun := time.Now()
		s, err := shuffle.NewScatter(ctx, c, budget, nil)
		if err != nil {
			b.Fatal(err)
		}
		for at := int64(0); at < rows; {
			n := min(rec.NumRows(), rows-at)
			slice := rec.NewSlice(0, n)
			if err := s.Add(ctx, slice, at); err != nil {
				b.Fatal(err)
			}
			slice.Release()
			at += n
		}
		st, err := s.Close()
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(begun).Seconds()*1e3, "scatter-ms")
		begun = time.Now()
		total := order(b, c, st, budget, l)
		b.ReportMetric(time.Since(begun).Seconds()*1e3, "order-ms")
		if total != rows || budget.Leased() != 0 {
			b.Fatal(total, budget.Leased())
		}
		if err := dir.Clear(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(budget.Peak())/(1<<20), "peak-MiB")
	}
}

// order drains all partitions, two at a time.
func order(b *testing.B, c shuffle.Config, st shuffle.State, budget *mem.Budget, l shuffle.Layout) int64 {
	p, err := shuffle.Open(c, st)
	if err != nil {
		b.Fatal(err)
	}
	var next, total atomic.Int64
	work := func() error {
		share, err := budget.Carve("order", l.OrderShare)
		if err != nil {
			return err
		}
		defer share.Close()
		for {
			i := int(next.Add(1) - 1)
			if i >= p.Len() {
				return nil
			}
			n, err := drain(p, i, share)
			if err != nil {
				return err
			}
			total.Add(n)
		}
	}
	other := stream.Async(work)
	err = errors.Join(work(), other.Wait())
	if err != nil {
		b.Fatal(err)
	}
	return total.Load()
}

func drain(p *shuffle.Partitions, i int, share *mem.Budget) (rows int64, err error) {
	ctx := context.Background()
	s, err := p.Open(ctx, i, 0, share)
	if err != nil {
		return 0, err
	}
	defer s.Close()
	for {
		batch, err := s.Next(ctx)
		if errors.Is(err, io.EOF) {
			return rows, p.Remove(i)
		}
		if err != nil {
			return 0, err
		}
		rows += batch.Rows()
		batch.Release()
	}
}
