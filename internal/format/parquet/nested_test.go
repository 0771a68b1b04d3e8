package parquet

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

func field(name string, t arrow.DataType, nullable bool) arrow.Field {
	return arrow.Field{Name: name, Type: t, Nullable: nullable}
}

// nestedTypes have nulls at any level and at none.
func nestedTypes() []arrow.DataType {
	i32, text := arrow.PrimitiveTypes.Int32, arrow.BinaryTypes.String
	required := arrow.StructOf(field("a", i32, false), field("b", text, false))
	return []arrow.DataType{
		arrow.ListOf(i32), arrow.ListOfNonNullable(i32), arrow.ListOf(text), arrow.ListOfNonNullable(text),
		arrow.ListOf(arrow.FixedWidthTypes.Boolean), arrow.ListOf(arrow.PrimitiveTypes.Int8),
		arrow.ListOf(&arrow.FixedSizeBinaryType{ByteWidth: 3}),
		arrow.ListOf(message), arrow.ListOfNonNullable(message), arrow.ListOfNonNullable(required),
		arrow.ListOf(arrow.ListOf(i32)), arrow.ListOf(arrow.ListOf(arrow.ListOf(text))),
		arrow.ListOf(arrow.StructOf(field("l", arrow.ListOf(text), true), field("n", i32, true))),
		required, message, arrow.StructOf(field("x", message, true), field("y", required, true)),
		arrow.StructOf(field("l", arrow.ListOf(i32), true), field("after", arrow.PrimitiveTypes.Float64, true)),
		arrow.StructOf(field("one", arrow.StructOf(field("two", arrow.StructOf(field("three", text, true)), true)), true)),
		arrow.MapOf(text, i32), arrow.MapOf(i32, arrow.ListOf(text)), arrow.ListOf(arrow.MapOf(text, text)),
	}
}

func nestedTable(d *dice, rows int) arrow.RecordBatch {
	var cols []column
	for i, typ := range nestedTypes() {
		for _, nullable := range []bool{false, true} {
			cols = append(cols, column{fmt.Sprintf("c%02d%v", i, nullable), d.values(typ, nullable, rows), nullable})
		}
	}
	return table(cols...)
}

func TestNestedTypes(t *testing.T) {
	for i, nulls := range []float64{0, 0.05, 0.4, 1} {
		for _, v2 := range []bool{false, true} {
			for j, page := range []int64{40, 2000, 0} {
				l := layout{codec: codecs[(i+j)%len(codecs)], v2: v2, dict: (i+j)%2 == 0, page: page, group: []int64{0, 50, 33}[j]}
				t.Run(fmt.Sprintf("nulls %v, %s", nulls, l), func(t *testing.T) {
					d := newDice(uint64(10*i + j))
					d.nulls = nulls
					rec := nestedTable(d, 120)
					sameRows(t, write(t, rec, l), rec)
				})
			}
		}
	}
}

// TestRowsOfManyLengths: lists of thousands beside empty ones, so that rows
// outgrow their region and pages end inside rows.
func TestRowsOfManyLengths(t *testing.T) {
	for _, v2 := range []bool{false, true} {
		for _, typ := range []arrow.DataType{arrow.ListOf(arrow.PrimitiveTypes.Int32), arrow.ListOf(message)} {
			d := newDice(9)
			d.nulls = 0.1
			rec := table(column{"id", d.values(arrow.PrimitiveTypes.Int32, false, 200), false},
				column{"l", longLists(d, typ, 200), true})
			sameRows(t, write(t, rec, layout{codec: compress.Codecs.Zstd, v2: v2, page: 4000}), rec)
			sameRows(t, write(t, rec, layout{v2: v2, dict: true}), rec)
		}
	}
}
