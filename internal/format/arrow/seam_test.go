package arrow

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weir-data/weir/internal/format/formattest"
)

var (
	i32     = arrow.PrimitiveTypes.Int32
	str     = arrow.BinaryTypes.String
	chat    = arrow.StructOf(arrow.Field{Name: "role", Type: str, Nullable: true}, arrow.Field{Name: "content", Type: str, Nullable: true})
	shapes1 = []arrow.DataType{arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, str,
		&arrow.Decimal128Type{Precision: 20, Scale: 2}, arrow.ListOf(i32), arrow.ListOf(chat), arrow.MapOf(str, i32),
		arrow.LargeListOf(arrow.BinaryTypes.LargeString), arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean),
		arrow.BinaryTypes.StringView, arrow.BinaryTypes.BinaryView}
)

// TestSeamFile: files, of which one is compressed and one is empty.
func TestSeamFile(t *testing.T) {
	d := newDice(1)
	first, second, empty := d.table(90, shapes1...), d.table(41, shapes1...), d.table(0, shapes1...)
	small := d.table(9, i32, arrow.ListOf(str), arrow.FixedWidthTypes.Boolean)
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files: [][]byte{
			write(t, false, cut(first, 37, 0, 30)),
			write(t, false, []arrow.RecordBatch{empty}),
			write(t, false, cut(second, 20, 1), ipc.WithZstd()),
		},
		Want:   []arrow.RecordBatch{first, second},
		Damage: write(t, false, cut(small, 5)),
		Stride: 3,
	})
}

// TestSeamCompressed: nothing but compressed batches.
func TestSeamCompressed(t *testing.T) {
	d := newDice(2)
	rec := d.table(50, shapes1...)
	small := d.table(9, arrow.BinaryTypes.StringView, arrow.ListOf(chat))
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{write(t, false, cut(rec, 11, 20), ipc.WithLZ4())},
		Want:   []arrow.RecordBatch{rec},
		Damage: write(t, false, cut(small, 5), ipc.WithLZ4()),
		Stride: 5,
	})
}

// TestSeamStream: a stream may be cut between its messages.
func TestSeamStream(t *testing.T) {
	d := newDice(3)
	rec := d.table(50, shapes1...)
	small := d.table(9, i32, arrow.MapOf(str, i32))
	formattest.Run(t, formattest.Case{
		Format:   Format(),
		Files:    [][]byte{write(t, true, cut(rec, 11, 20))},
		Want:     []arrow.RecordBatch{rec},
		Damage:   write(t, true, cut(small, 5)),
		Cuttable: true,
		Stride:   5,
	})
}
