package feed

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
)

func TestKeptRowsAreTheRowsOfTheSliceInNoMoreMemoryThanTheyNeed(t *testing.T) {
	item := arrow.Field{Name: "item", Type: arrow.BinaryTypes.String, Nullable: true}
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "text", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "large", Type: arrow.BinaryTypes.LargeString},
		{Name: "list", Type: arrow.ListOfField(item), Nullable: true},
		{Name: "both", Type: arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
			arrow.Field{Name: "y", Type: arrow.ListOfField(item), Nullable: true}), Nullable: true},
	}, nil)
	random := runtest.Random(schema, 2000, 3)
	values := runtest.Random(arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.PrimitiveTypes.Float32, Nullable: true}}, nil), 8000, 4)
	four := arrow.Field{Name: "four", Type: arrow.FixedSizeListOf(4, arrow.PrimitiveTypes.Float32)}
	lists := array.MakeFromData(array.NewData(four.Type, 2000, []*memory.Buffer{nil}, []arrow.ArrayData{values.Column(0).Data()}, 0, 0))
	rec := array.NewRecordBatch(arrow.NewSchema(append(schema.Fields(), four), nil), append(random.Columns(), lists), 2000)
	whole := new(keeper)
	whole.record(rec)
	budget := mem.New(64 << 20)
	for _, at := range [][2]int64{{0, 2000}, {0, 1}, {1, 2}, {7, 9}, {8, 16}, {13, 400}, {1999, 2000}, {5, 5}} {
		slice := rec.NewSlice(at[0], at[1])
		got, err := keep(slice, budget)
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordApproxEqual(got, slice, array.WithNaNsEqual(true)) {
			t.Errorf("rows %d to %d are others", at[0], at[1])
		}
		part := new(keeper)
		part.record(slice)
		if rows := int(at[1] - at[0]); part.used > whole.used*(rows+64)/2000+64*40 {
			t.Errorf("%d rows take %d bytes, all of them %d", rows, part.used, whole.used)
		}
		got.Release()
		slice.Release()
	}
	runtest.Empty(t, budget)
}
