package arrow_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"

	arrowformat "github.com/weir-data/weir/internal/format/arrow"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stream"
)

func TestStreamReadsBackAsTheBatches(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 500, 1)
	parts := []arrow.RecordBatch{rec.NewSlice(0, 100), rec.NewSlice(100, 101), rec.NewSlice(101, 101), rec.NewSlice(101, 500)}
	var out bytes.Buffer
	w, err := arrowformat.NewWriter(&out, rec.Schema())
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range parts {
		if err := w.Write(&stream.Batch{Record: p}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	for i, p := range parts {
		if !r.Next() {
			t.Fatalf("batch %d is missing: %v", i, r.Err())
		}
		if !array.RecordApproxEqual(r.RecordBatch(), p, array.WithNaNsEqual(true)) {
			t.Errorf("batch %d differs", i)
		}
	}
	if r.Next() {
		t.Error("more batches than were written")
	}
}

func TestStreamWithoutBatchesHasItsSchema(t *testing.T) {
	var out bytes.Buffer
	w, err := arrowformat.NewWriter(&out, runtest.Schema())
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := ipc.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if !r.Schema().Equal(runtest.Schema()) || r.Next() {
		t.Error("not an empty stream of the schema")
	}
}

func TestWriterCopiesNoValues(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rec := runtest.Random(schema, 200_000, 1)
	w, err := arrowformat.NewWriter(io.Discard, schema)
	if err != nil {
		t.Fatal(err)
	}
	b := &stream.Batch{Record: rec}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 128<<10 {
		t.Errorf("%d bytes allocated to write %d", n, rec.Column(0).Data().SizeInBytes()+rec.Column(1).Data().SizeInBytes())
	}
}
