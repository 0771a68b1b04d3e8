package run

import (
	"encoding/binary"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/run/runtest"
)

func TestSumReadsEveryByte(t *testing.T) {
	p := make([]byte, 300)
	for n := range p {
		for i := range n {
			p[i] = 1
			if sum(p[:n]) == 0 {
				t.Fatalf("byte %d of %d is not read", i, n)
			}
			p[i] = 0
		}
	}
	binary.LittleEndian.PutUint64(p[128:], 41)
	p[299] = 1
	if got := sum(p); got != 42 {
		t.Errorf("sum is %d, want 42", got)
	}
}

func TestSizeOfSlicesAddsUp(t *testing.T) {
	// Bitmaps and offsets are counted once more where a slice cuts them.
	rec := runtest.Random(runtest.Schema(), 1024, 4)
	whole := size(rec)
	var parts int64
	for at := int64(0); at < 1024; at += 256 {
		parts += size(rec.NewSlice(at, at+256))
	}
	if parts < whole || parts > whole+whole/10 {
		t.Errorf("four slices have %d bytes, the whole %d", parts, whole)
	}
	if n := size(rec.NewSlice(7, 7)); n != 0 {
		t.Errorf("no rows have %d bytes", n)
	}
}

func TestSizeIsThatOfTheRows(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int32}}, nil)
	rec := runtest.Random(schema, 100, 4)
	// 10 values of 4 bytes, and the two bytes that bits 8 to 17 lie in.
	if n := size(rec.NewSlice(8, 18)); n != 42 {
		t.Errorf("10 rows have %d bytes, want 42", n)
	}
}

func BenchmarkSum(b *testing.B) {
	p := make([]byte, 256<<10)
	b.SetBytes(int64(len(p)))
	for b.Loop() {
		sum(p)
	}
}
