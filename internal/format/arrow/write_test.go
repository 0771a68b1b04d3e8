package arrow_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	arrowformat "github.com/weir-data/weir/internal/format/arrow"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stream"
)

// sink is an output to w.
type sink struct{ io.Writer }

func (sink) Patch([]byte, int64) error { panic("arrow is never patched") }

// begin begins a file with the least memory that the writer asks for.
func begin(t *testing.T, w format.Writer, out io.Writer, s *arrow.Schema, codec string) (format.File, *mem.Budget) {
	t.Helper()
	opt := format.WriteOptions{Codec: codec}
	least, most, err := w.Memory(s, opt)
	if err != nil || least > most {
		t.Fatalf("%d to %d bytes, %v", least, most, err)
	}
	share := mem.New(least)
	f, err := w.Begin(sink{out}, s, opt, share)
	if err != nil {
		t.Fatal(err)
	}
	return f, share
}

// written writes batches with every writer and codec, and calls check with what
// came out.
func written(t *testing.T, parts []arrow.RecordBatch, s *arrow.Schema, check func(t *testing.T, next func() (arrow.RecordBatch, error))) {
	for _, w := range []format.Writer{arrowformat.Writer(), arrowformat.StreamWriter()} {
		for _, codec := range []string{"", "none", "lz4", "zstd"} {
			t.Run(fmt.Sprintf("%s %s", w.Name, codec), func(t *testing.T) {
				var out bytes.Buffer
				f, share := begin(t, w, &out, s, codec)
				var rows int64
				for _, p := range parts {
					if err := f.Write(&stream.Batch{Record: p}); err != nil {
						t.Fatal(err)
					}
					rows += p.NumRows()
				}
				part, err := f.Close()
				if err != nil || part.Rows != rows || f.Size() != int64(out.Len()) || share.Leased() != 0 {
					t.Fatalf("%v, %+v, size %d of %d, %d bytes leased", err, part, f.Size(), out.Len(), share.Leased())
				}
				check(t, read(t, w.Name, out.Bytes()))
			})
		}
	}
}

func read(t *testing.T, name string, data []byte) func() (arrow.RecordBatch, error) {
	t.Helper()
	if name == "arrow" {
		r, err := ipc.NewFileReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Schema().Equal(runtest.Schema()) {
			t.Error("another schema")
		}
		return r.Read
	}
	r, err := ipc.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if !r.Schema().Equal(runtest.Schema()) {
		t.Error("another schema")
	}
	return r.Read
}

func TestFilesReadBackAsTheBatches(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 500, 1)
	parts := []arrow.RecordBatch{rec.NewSlice(0, 100), rec.NewSlice(100, 101), rec.NewSlice(101, 101), rec.NewSlice(101, 500)}
	written(t, parts, rec.Schema(), func(t *testing.T, next func() (arrow.RecordBatch, error)) {
		for i, p := range parts {
			got, err := next()
			if err != nil {
				t.Fatalf("batch %d: %v", i, err)
			}
			if !array.RecordApproxEqual(got, p, array.WithNaNsEqual(true)) {
				t.Errorf("batch %d differs", i)
			}
		}
		if _, err := next(); !errors.Is(err, io.EOF) {
			t.Errorf("more batches than were written: %v", err)
		}
	})
}

func TestFilesWithoutBatchesHaveTheirSchema(t *testing.T) {
	written(t, nil, runtest.Schema(), func(t *testing.T, next func() (arrow.RecordBatch, error)) {
		if _, err := next(); !errors.Is(err, io.EOF) {
			t.Errorf("rows in an empty file: %v", err)
		}
	})
}

// floats is a column of numbers that no compression makes smaller.
func floats(n int) arrow.RecordBatch {
	rnd := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, n)
	for i := range values {
		values[i] = rnd.Float64()
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator,
		arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true}}, nil))
	b.Field(0).(*array.Float64Builder).AppendValues(values, nil)
	return b.NewRecordBatch()
}

func TestCompressedBatchesAreCutToTheirMemory(t *testing.T) {
	rec := floats(1_500_000) // 12 MB; the least share holds 4 MiB
	var out bytes.Buffer
	f, share := begin(t, arrowformat.Writer(), &out, rec.Schema(), "lz4")
	if err := f.Write(&stream.Batch{Record: rec}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if share.Leased() != 0 || share.Peak() > share.Limit() {
		t.Errorf("%d bytes leased, %d at most", share.Leased(), share.Peak())
	}
	r, err := ipc.NewFileReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	at := int64(0)
	for i := range r.NumRecords() {
		got, err := r.RecordBatchAt(i)
		if err != nil {
			t.Fatal(err)
		}
		if !array.RecordApproxEqual(got, rec.NewSlice(at, at+got.NumRows()), array.WithNaNsEqual(true)) {
			t.Errorf("batch %d differs", i)
		}
		at += got.NumRows()
	}
	if at != rec.NumRows() || r.NumRecords() < 3 {
		t.Errorf("%d rows in %d batches", at, r.NumRecords())
	}
}

func TestRowThatDoesNotFitIsRefused(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.StringBuilder).Append(strings.Repeat("x", 10<<20))
	f, share := begin(t, arrowformat.StreamWriter(), io.Discard, schema, "lz4")
	if err := f.Write(&stream.Batch{Record: b.NewRecordBatch()}); !errors.Is(err, mem.ErrTooSmall) {
		t.Errorf("10 MiB through 4: %v", err)
	}
	f.Abort()
	if share.Leased() != 0 {
		t.Errorf("%d bytes leased", share.Leased())
	}
}

func TestUnknownCodecIsRefused(t *testing.T) {
	for _, codec := range []string{"gzip", "zstd:9", "x"} {
		if _, _, err := arrowformat.Writer().Memory(runtest.Schema(), format.WriteOptions{Codec: codec}); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%s: %v", codec, err)
		}
	}
}

func TestWriterCopiesNoValues(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "x", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	rec := runtest.Random(schema, 200_000, 1)
	w, _ := begin(t, arrowformat.StreamWriter(), io.Discard, schema, "")
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

// TestEncodersCostWhatTheyLease: the heap that compressing a batch leaves, and
// takes on the way, stays below what was leased.
func TestEncodersCostWhatTheyLease(t *testing.T) {
	rec := floats(400_000)
	for _, codec := range []string{"lz4", "zstd"} {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		w, share := begin(t, arrowformat.StreamWriter(), io.Discard, rec.Schema(), codec)
		if err := w.Write(&stream.Batch{Record: rec}); err != nil {
			t.Fatal(err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if n := int64(after.HeapAlloc) - int64(before.HeapAlloc); n > share.Leased() {
			t.Errorf("%s: %d bytes held, %d leased", codec, n, share.Leased())
		} else {
			t.Logf("%s: %s held, %s leased", codec, mem.Format(n), mem.Format(share.Leased()))
		}
		if _, err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
