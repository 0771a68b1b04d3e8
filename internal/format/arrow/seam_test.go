package arrow

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	"github.com/weir-data/weir/internal/format/formattest"
)

var (
	i32    = arrow.PrimitiveTypes.Int32
	str    = arrow.BinaryTypes.String
	chat   = arrow.StructOf(arrow.Field{Name: "role", Type: str, Nullable: true}, arrow.Field{Name: "content", Type: str, Nullable: true})
	shapes = []arrow.DataType{arrow.PrimitiveTypes.Float64, arrow.FixedWidthTypes.Boolean, str, arrow.ListOf(chat), arrow.MapOf(str, i32),
		arrow.FixedSizeListOf(3, arrow.FixedWidthTypes.Boolean), arrow.BinaryTypes.StringView}
)

// TestSeamFile: files, of which one is compressed and one is empty.
func TestSeamFile(t *testing.T) {
	d := newDice(1)
	first, second, empty := d.table(25, shapes...), d.table(9, shapes...), d.table(0, shapes...)
	small := d.table(9, arrow.ListOf(str))
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files: [][]byte{
			write(t, false, cut(first, 11, 0, 9)),
			write(t, false, []arrow.RecordBatch{empty}),
			write(t, false, cut(second, 5, 1), ipc.WithZstd()),
		},
		Want:   []arrow.RecordBatch{first, second},
		Damage: write(t, false, cut(small, 5)),
		Stride: 15,
	})
}

// TestSeamCompressed: nothing but compressed batches.
func TestSeamCompressed(t *testing.T) {
	d := newDice(2)
	rec := d.table(20, shapes...)
	small := d.table(9, arrow.BinaryTypes.StringView)
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{write(t, false, cut(rec, 7, 8), ipc.WithLZ4())},
		Want:   []arrow.RecordBatch{rec},
		Damage: write(t, false, cut(small, 5), ipc.WithLZ4()),
		Stride: 15,
	})
}

// TestSeamStream: a stream may be cut between its messages.
func TestSeamStream(t *testing.T) {
	d := newDice(3)
	rec := d.table(20, shapes...)
	small := d.table(9, str)
	formattest.Run(t, formattest.Case{
		Format:   Format(),
		Files:    [][]byte{write(t, true, cut(rec, 7, 8))},
		Want:     []arrow.RecordBatch{rec},
		Damage:   write(t, true, cut(small, 5)),
		Cuttable: true,
		Stride:   15,
	})
}
