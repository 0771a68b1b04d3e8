package parquet

import (
	"bytes"
	"context"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// readColumn reads one column of a file that is known to be readable.
func readColumn(t testing.TB, data []byte, name string) arrow.Array {
	t.Helper()
	ds, err := Plan(context.Background(), sourceOf(data), format.Options{Columns: []string{name}})
	if err != nil {
		t.Fatal(err)
	}
	s, err := ds.Open(context.Background(), mem.New(1<<30), stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var parts []arrow.Array
	for {
		b, err := s.Next(context.Background())
		if err != nil {
			break
		}
		// A copy: the batch's memory goes back.
		c, err := array.Concatenate([]arrow.Array{b.Record.Column(0), array.MakeArrayOfNull(memory.DefaultAllocator, b.Record.Column(0).DataType(), 1)}, memory.DefaultAllocator)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, array.NewSlice(c, 0, b.Rows()))
		b.Release()
	}
	all, err := array.Concatenate(parts, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// arrowGo reads column i as arrow-go does.
func arrowGo(t testing.TB, data []byte, i int) arrow.Array {
	t.Helper()
	pf, err := pqfile.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	r, err := pqarrow.NewFileReader(pf, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	tbl, err := r.ReadTable(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	all, err := array.Concatenate(tbl.Column(i).Data().Chunks(), memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// explain says where the rows of a file first differ from those written, and
// what arrow-go reads there.
func explain(t testing.TB, data []byte, rec arrow.RecordBatch) {
	t.Helper()
	for i, f := range rec.Schema().Fields() {
		got, want, other := readColumn(t, data, f.Name), rec.Column(i), arrowGo(t, data, i)
		for j := range want.Len() {
			if j < got.Len() && got.ValueStr(j) != want.ValueStr(j) {
				t.Logf("column %s (%s), row %d: %.80s, want %.80s, arrow-go has %.80s",
					f.Name, f.Type, j, got.ValueStr(j), want.ValueStr(j), other.ValueStr(j))
				break
			}
		}
	}
}
