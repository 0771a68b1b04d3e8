package layout_test

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/run/runtest"
)

func TestSizeOfSlicesAddsUp(t *testing.T) {
	// Bitmaps and offsets are counted once more where a slice cuts them.
	rec := runtest.Random(runtest.Schema(), 1024, 4)
	whole := layout.Size(rec)
	var parts int64
	for at := int64(0); at < 1024; at += 256 {
		parts += layout.Size(rec.NewSlice(at, at+256))
	}
	if parts < whole || parts > whole+whole/10 {
		t.Errorf("four slices have %d bytes, the whole %d", parts, whole)
	}
	if n := layout.Size(rec.NewSlice(7, 7)); n != 0 {
		t.Errorf("no rows have %d bytes", n)
	}
}

func TestSizeIsThatOfTheRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rec := runtest.Random(schema, 100, 4)
	// 10 values of 4 bytes, and the two bytes that bits 8 to 17 lie in.
	if n := layout.Size(rec.NewSlice(8, 18)); n != 42 {
		t.Errorf("10 rows have %d bytes, want 42", n)
	}
}
