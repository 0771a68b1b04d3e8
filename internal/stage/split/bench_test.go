package split_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stage/split"
)

func BenchmarkAssign(b *testing.B) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "label", Type: arrow.PrimitiveTypes.Int8},
	}, nil)
	rec := runtest.Random(schema, 65536, 1)
	dst := make([]uint8, rec.NumRows())
	for _, c := range []struct {
		name   string
		config split.Config
	}{
		{"position", split.Config{}},
		{"position of 5", split.Config{Names: []string{"a", "b", "c", "d", "e"}, Weights: []int{1, 1, 1, 1, 1}}},
		{"integer", split.Config{By: []string{"id"}}},
		{"text", split.Config{By: []string{"name"}}},
		{"integer and text", split.Config{By: []string{"id", "name"}}},
		{"stratify", split.Config{Stratify: "label"}},
	} {
		b.Run(c.name, func(b *testing.B) {
			a, err := split.New(c.config, schema, split.Source{Objects: []string{"x"}})
			if err != nil {
				b.Fatal(err)
			}
			var row int64
			for b.Loop() {
				if err := a.Assign(dst, rec, 0, row); err != nil {
					b.Fatal(err)
				}
				row += rec.NumRows()
			}
			b.ReportMetric(float64(row)/1e6/b.Elapsed().Seconds(), "Mrows/s")
		})
	}
}
