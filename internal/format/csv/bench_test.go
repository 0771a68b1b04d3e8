package csv

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	engine "github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// numbers is a table of 32 floats and an integer.
func numbers(r *rand.Rand) []byte {
	b := []byte("id")
	for i := range 32 {
		b = fmt.Appendf(b, ",f%d", i)
	}
	for i := range 800 {
		b = fmt.Appendf(b, "\n%d", i)
		for range 32 {
			b = fmt.Appendf(b, ",%v", r.NormFloat64())
		}
	}
	return append(b, '\n')
}

// quotes is long texts with many quotes.
func quotes(r *rand.Rand) []byte {
	words := []string{"the", "quick", "brown", "fox", "said:", `""hello""`, "and,", "then\n", "jumps", "over", "lazy", "dog"}
	b := []byte("id,text\n")
	for i := range 400 {
		b = fmt.Appendf(b, "%d,\"", i)
		for range r.IntN(400) {
			b = append(append(b, words[r.IntN(len(words))]...), ' ')
		}
		b = append(b, "\"\n"...)
	}
	return b
}

// short is columns of every kind.
func short(r *rand.Rand) []byte {
	b := []byte("id,day,when,name,n,price,flag\n")
	for i := range 8000 {
		b = fmt.Appendf(b, "%d,2024-%02d-%02d,2024-01-02 %02d:%02d:%02d,name%d,%d,%.2f,%v\r\n",
			i, i%12+1, i%28+1, i%24, i%60, i%59, i%977, r.IntN(100_000)-1000, r.Float64()*1000, i%3 == 0)
	}
	return b
}

func BenchmarkRead(b *testing.B) {
	for _, c := range []struct {
		name    string
		make    func(*rand.Rand) []byte
		columns string
	}{
		{"numbers", numbers, ""}, {"one of the numbers", numbers, "f7"}, {"quotes", quotes, ""}, {"short", short, ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			data := c.make(rand.New(rand.NewPCG(1, 2)))
			opt := format.Options{Delimiter: ','}
			if c.columns != "" {
				opt.Columns = strings.Split(c.columns, ",")
			}
			benchmarkRead(b, data, opt)
		})
	}
}

// benchmarkRead cuts and parses data, which is one piece. The best round says
// more than the mean where the machine has other work.
func benchmarkRead(b *testing.B, data []byte, opt format.Options) {
	p := &planning{
		opt: opt, none: newNulls(nil), dialect: newDialect(','), object: []int{unseen}, orders: map[string]int{},
		src: format.Source{Objects: []store.Object{{URL: "x"}}},
	}
	if _, err := p.visit(0, data, true); err != nil {
		b.Fatal(err)
	}
	ds, err := p.dataset(engine.Survey{})
	if err != nil {
		b.Fatal(err)
	}
	batch, err := build.New(ds.Schema())
	if err != nil {
		b.Fatal(err)
	}
	parser, err := p.parser(batch)
	if err != nil {
		b.Fatal(err)
	}
	var rec arrow.RecordBatch
	budget := mem.New(64 << 20)
	b.SetBytes(int64(len(data)))
	best := time.Hour
	for b.Loop() {
		t0 := time.Now()
		(&cutter{dialect: p.dialect, header: true}).Cut(data, false)
		ram, err := budget.Map(b.Context(), 4<<20)
		if err != nil {
			b.Fatal(err)
		}
		batch.Reset(ram, 0)
		piece := &engine.Piece{Data: data, First: true, Last: true}
		if err := parser.Parse(piece); err != nil || piece.At < len(data) {
			b.Fatal(err, piece.At)
		}
		rec = batch.Finish()
		rec.Release()
		best = min(best, time.Since(t0))
	}
	b.ReportMetric(float64(len(data))/1e6/best.Seconds(), "bestMB/s")
}
