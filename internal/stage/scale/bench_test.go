package scale

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

// wide is a batch of 32 columns and 64Ki rows, and 80% of its rows.
func wide(b *testing.B) (arrow.RecordBatch, []int32) {
	r := rand.New(rand.NewPCG(1, 1))
	var names []string
	var cols []any
	for i := range 32 {
		v := make([]float64, 64<<10)
		for k := range v {
			v[k] = r.NormFloat64()
		}
		names, cols = append(names, fmt.Sprint("f", i)), append(cols, v)
	}
	var rows []int32
	for k := range 64 << 10 {
		if r.IntN(10) < 8 {
			rows = append(rows, int32(k))
		}
	}
	return batch(b, names, cols...), rows
}

func benchmarkFit(b *testing.B, rule string, some bool, threads int) {
	rec, rows := wide(b)
	if !some {
		rows = nil
	}
	d := plan(b, rec.Schema(), Config{Scale: []Rule{{"*", rule}}})
	f, err := d.NewFit(mem.New(d.Floor(threads)), threads, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(32 * 8 * 64 << 10)
	at := int64(0)
	for b.Loop() {
		if err := f.Add(rec, 0, at, rows); err != nil {
			b.Fatal(err)
		}
		at += 64 << 10
	}
	f.Close()
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(32*64<<10), "ns/value")
}

func BenchmarkFitStandard(b *testing.B)     { benchmarkFit(b, "standard", false, 1) }
func BenchmarkFitStandard80(b *testing.B)   { benchmarkFit(b, "standard", true, 1) }
func BenchmarkFitStandard80x2(b *testing.B) { benchmarkFit(b, "standard", true, 2) }
func BenchmarkFitRobust(b *testing.B)       { benchmarkFit(b, "robust", false, 1) }

func benchmarkTransform(b *testing.B, dtype, rule string, some bool, threads int) {
	rec, rows := wide(b)
	if !some {
		rows = nil
	}
	d := plan(b, rec.Schema(), Config{Scale: []Rule{{"*", rule}}, Dtype: dtype})
	p, err := fitOne(b, d, rec, nil)
	if err != nil {
		b.Fatal(err)
	}
	budget := mem.New(128 << 20)
	t, err := d.NewTransform(p, budget, threads)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(32 * 8 * 64 << 10)
	for b.Loop() {
		block, err := budget.Map(b.Context(), t.Size(rec, rows))
		if err != nil {
			b.Fatal(err)
		}
		out, err := t.Apply(rec, rows, block)
		if err != nil {
			b.Fatal(err)
		}
		out.Release()
	}
	t.Close()
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(32*64<<10), "ns/value")
}

func BenchmarkTransformFloat32(b *testing.B)  { benchmarkTransform(b, "float32", "standard", false, 1) }
func BenchmarkTransformFloat64(b *testing.B)  { benchmarkTransform(b, "float64", "standard", false, 1) }
func BenchmarkTransformMinmax80(b *testing.B) { benchmarkTransform(b, "float32", "minmax", true, 1) }
func BenchmarkTransformFloat32x2(b *testing.B) {
	benchmarkTransform(b, "float32", "standard", false, 2)
}
func BenchmarkTransformKeep(b *testing.B) { benchmarkTransform(b, "float32", "none", true, 1) }

// BenchmarkLanes is the sums alone, of a block that lies in the cache.
func BenchmarkLanes(b *testing.B) {
	v := make([]float64, Block)
	for i := range v {
		v[i] = rand.NormFloat64()
	}
	var m moments
	m.begin()
	b.SetBytes(8 * Block)
	for b.Loop() {
		m.open.add(v)
		m.end()
	}
}

// BenchmarkCategories counts a column of text.
func BenchmarkCategories(b *testing.B) {
	col := make([]*string, 64<<10)
	for i := range col {
		s := fmt.Sprint("city", rand.IntN(200))
		col[i] = &s
	}
	rec := batch(b, []string{"c"}, col)
	d := plan(b, rec.Schema(), Config{Encode: []Rule{{"c", "onehot"}}})
	f, err := d.NewFit(mem.New(d.Floor(1)), 1, nil)
	if err != nil {
		b.Fatal(err)
	}
	at := int64(0)
	for b.Loop() {
		if err := f.Add(rec, 0, at, nil); err != nil {
			b.Fatal(err)
		}
		at += 64 << 10
	}
	f.Close()
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(b.N)/(64<<10), "ns/value")
}
