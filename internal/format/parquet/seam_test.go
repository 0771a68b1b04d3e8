package parquet

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/format/formattest"
)

// message is a chat record's.
var message = arrow.StructOf(
	arrow.Field{Name: "role", Type: arrow.BinaryTypes.String, Nullable: true},
	arrow.Field{Name: "content", Type: arrow.BinaryTypes.String, Nullable: true})

// mixed is a table with one column of every shape.
func mixed(d *dice, rows int) arrow.RecordBatch {
	i32 := arrow.PrimitiveTypes.Int32
	return table(
		column{"id", d.values(arrow.PrimitiveTypes.Int64, false, rows), false},
		column{"price", d.values(arrow.PrimitiveTypes.Float64, true, rows), true},
		column{"ok", d.values(arrow.FixedWidthTypes.Boolean, true, rows), true},
		column{"text", d.values(arrow.BinaryTypes.String, true, rows), true},
		column{"amount", d.values(&arrow.Decimal128Type{Precision: 20, Scale: 2}, true, rows), true},
		column{"tokens", d.values(arrow.ListOf(i32), true, rows), true},
		column{"messages", d.values(arrow.ListOf(message), true, rows), true},
		column{"meta", d.values(arrow.MapOf(arrow.BinaryTypes.String, i32), true, rows), true},
		column{"deep", d.values(arrow.StructOf(arrow.Field{Name: "in", Type: message, Nullable: true},
			arrow.Field{Name: "ls", Type: arrow.ListOf(arrow.ListOf(i32)), Nullable: true}), true, rows), true},
	)
}

func TestSeam(t *testing.T) {
	d := newDice(1)
	d.nulls = 0.2
	first, second := mixed(d, 90), mixed(d, 41)
	empty := mixed(d, 0)
	small := table(column{"a", d.values(arrow.PrimitiveTypes.Int32, true, 9), true},
		column{"b", d.values(arrow.ListOf(arrow.BinaryTypes.String), true, 9), true})
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files: [][]byte{
			write(t, first, layout{codec: compress.Codecs.Snappy, dict: true, page: 200, group: 37}),
			write(t, empty, layout{}),
			write(t, second, layout{codec: compress.Codecs.Zstd, v2: true, page: 300, group: 20}),
		},
		Want:   []arrow.RecordBatch{first, second},
		Damage: write(t, small, layout{codec: compress.Codecs.Snappy, dict: true, group: 5}),
	})
}

// TestSeamPlain: no codec and no dictionary between the damage and the values.
func TestSeamPlain(t *testing.T) {
	d := newDice(2)
	d.nulls = 0.3
	rec := mixed(d, 11)
	small := table(column{"a", d.values(arrow.ListOf(message), true, 7), true},
		column{"b", d.values(arrow.FixedWidthTypes.Boolean, true, 7), true})
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{write(t, rec, layout{v2: true, page: 100})},
		Want:   []arrow.RecordBatch{rec},
		Damage: write(t, small, layout{v2: true}),
	})
}
