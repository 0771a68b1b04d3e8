package parquet

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// memoryOut is an output in memory that fails after left bytes, if that is not
// negative.
type memoryOut struct {
	bytes.Buffer
	left int
}

var errFull = errors.New("the disk is full")

func (o *memoryOut) Write(p []byte) (int, error) {
	if o.left >= 0 {
		if o.left -= len(p); o.left < 0 {
			o.left = 0
			return 0, errFull
		}
	}
	return o.Buffer.Write(p)
}

func (o *memoryOut) Patch([]byte, int64) error { return errors.New("nothing is patched") }

// writeOwn writes records with weir's own writer in a share of some bytes; 0:
// the least.
func writeOwn(t testing.TB, opt format.WriteOptions, share int64, recs ...arrow.RecordBatch) []byte {
	t.Helper()
	out := &memoryOut{left: -1}
	part, err := writeTo(t, out, opt, share, recs...)
	if err != nil {
		t.Fatalf("%+v, share %d: %v", opt, share, err)
	}
	rows := int64(0)
	for _, r := range recs {
		rows += r.NumRows()
	}
	if part.Rows != rows || part.Bytes != int64(out.Len()) {
		t.Errorf("%d rows in %d bytes; Close says %d in %d", rows, out.Len(), part.Rows, part.Bytes)
	}
	return out.Bytes()
}

// writeTo checks that all memory comes back, whatever happens.
func writeTo(t testing.TB, out *memoryOut, opt format.WriteOptions, share int64, recs ...arrow.RecordBatch) (format.Part, error) {
	t.Helper()
	least, most, err := Writer().Memory(recs[0].Schema(), opt)
	if err != nil {
		return format.Part{}, err
	}
	if least > most {
		t.Errorf("least %d, most %d", least, most)
	}
	if share == 0 {
		share = least
	}
	b := mem.New(share)
	defer func() {
		if b.Used() != 0 || b.Leased() != 0 {
			t.Errorf("%d bytes are still leased", b.Used())
		}
	}()
	f, err := Writer().Begin(out, recs[0].Schema(), opt, b)
	if err != nil {
		return format.Part{}, err
	}
	last := int64(0)
	for _, r := range recs {
		if err := f.Write(&stream.Batch{Record: r}); err != nil {
			f.Abort()
			return format.Part{}, err
		}
		if opt.Groups > 1 {
			continue // their size is known only when all are written
		}
		if n := f.Size(); n < last/2 {
			t.Errorf("the size fell from %d to %d", last, n)
		} else {
			last = n
		}
	}
	return f.Close()
}

// pieces cuts a record into slices, empty ones where two cuts are the same.
func pieces(rec arrow.RecordBatch, cuts ...int64) []arrow.RecordBatch {
	var out []arrow.RecordBatch
	at := int64(0)
	for _, c := range append(cuts, rec.NumRows()) {
		out = append(out, rec.NewSlice(at, c))
		at = c
	}
	return out
}

func TestWriterFlatTypesInEveryCodec(t *testing.T) {
	for i, codec := range []string{"none", "snappy", "gzip", "gzip:1", "zstd", "zstd:9", "brotli", "brotli:1", "lz4", "lz4_raw"} {
		t.Run(codec, func(t *testing.T) {
			d := newDice(uint64(i))
			d.nulls = []float64{0.5, 0.02, 0.97}[i%3]
			d.kinds = []int{0, 5, 300}[i%3]
			d.run = []int{0, 40, 3}[i%3]
			rec := flatTable(d, 250)
			opt := format.WriteOptions{Codec: codec, Threads: 1 + i%2}
			sameRows(t, writeOwn(t, opt, 64<<20, pieces(rec, 0, 13, 13, 150)...), rec)
			if i%3 == 0 {
				opt.RowGroup = 20_000
				sameRows(t, writeOwn(t, opt, 0, pieces(rec, 100)...), rec)
			}
		})
	}
}

func TestWriterNestedTypes(t *testing.T) {
	for i, typ := range nestedTypes() {
		for _, nulls := range []float64{0, 0.4} {
			d := newDice(uint64(i))
			d.nulls = nulls
			rec := table(column{"c", d.values(typ, true, 150), true}, column{"r", d.values(typ, false, 150), false})
			sameRows(t, writeOwn(t, format.WriteOptions{}, 8<<20, pieces(rec, 40, 41)...), rec)
			sameRows(t, writeOwn(t, format.WriteOptions{Codec: "zstd", RowGroup: 3000}, 0, pieces(rec, 70)...), rec)
			if t.Failed() {
				t.Fatalf("%s, nulls %v", typ, nulls)
			}
		}
	}
}

func TestWriterRandomTables(t *testing.T) {
	for seed := range uint64(12) {
		d := newDice(1000 + seed)
		d.nulls = d.Float64()
		d.kinds = []int{0, 3, 50}[seed%3]
		d.run = []int{0, 0, 20}[seed%3]
		rows := 50 + d.IntN(800)
		rec := mixed(d, rows)
		least, most, err := Writer().Memory(rec.Schema(), format.WriteOptions{Codec: "snappy", Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		share := least + d.Int64N(most-least)>>(d.IntN(12))
		var cuts []int64
		for at := int64(d.IntN(300)); at < int64(rows); at += int64(d.IntN(300)) {
			cuts = append(cuts, at)
		}
		file := writeOwn(t, format.WriteOptions{Threads: 2}, share, pieces(rec, cuts...)...)
		sameRows(t, file, rec)
		if t.Failed() {
			t.Fatalf("seed %d, share %d", seed, share)
		}
	}
}

func TestWriterZeroRows(t *testing.T) {
	rec := mixed(newDice(1), 0)
	sameRows(t, writeOwn(t, format.WriteOptions{}, 0, rec), rec)
}

// TestWriterOutputErrors: whichever write fails, the error comes out and all
// memory comes back.
func TestWriterOutputErrors(t *testing.T) {
	d := newDice(3)
	d.nulls = 0.2
	rec := mixed(d, 400)
	opt := format.WriteOptions{RowGroup: 10_000, Threads: 2}
	whole := len(writeOwn(t, opt, 0, pieces(rec, 100, 200)...))
	for left := 0; left < whole; left += 1 + whole/60 {
		_, err := writeTo(t, &memoryOut{left: left}, opt, 0, pieces(rec, 100, 200)...)
		if !errors.Is(err, errFull) {
			t.Fatalf("after %d of %d bytes: %v", left, whole, err)
		}
	}
}

func TestWriterSharesBelowTheLeastAreRefused(t *testing.T) {
	rec := mixed(newDice(4), 10)
	least, _, err := Writer().Memory(rec.Schema(), format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, share := range []int64{1, least / 2, least - 1} {
		b := mem.New(share)
		_, err := Writer().Begin(&memoryOut{left: -1}, rec.Schema(), format.WriteOptions{}, b)
		if !errors.Is(err, mem.ErrTooSmall) || b.Leased() != 0 {
			t.Errorf("share %d of %d: %v, %d leased", share, least, err, b.Leased())
		}
	}
}

func TestWriterGiantValues(t *testing.T) {
	for _, codec := range []string{"none", "snappy", "zstd"} {
		text := bytes.Repeat([]byte("a text that goes on and on, "), 150_000)
		b := array.NewStringBuilder(memory.DefaultAllocator)
		for i := range 20 {
			b.Append(fmt.Sprint(i))
		}
		b.Append(string(text))
		b.AppendNull()
		b.Append("the end")
		rec := table(column{"s", b.NewArray(), true})
		opt := format.WriteOptions{Codec: codec}
		sameRows(t, writeOwn(t, opt, 24<<20, rec), rec)
		out := &memoryOut{left: -1}
		_, err := writeTo(t, out, opt, 3<<20, rec)
		var small *mem.TooSmallError
		if !errors.As(err, &small) {
			t.Fatalf("%s: %v", codec, err)
		}
		// What the error says suffices.
		sameRows(t, writeOwn(t, opt, small.Need, rec), rec)
	}
}

// TestWhatCompressionDoesNothingForIsStoredAsItIs by the codecs that are fast.
func TestWhatCompressionDoesNothingForIsStoredAsItIs(t *testing.T) {
	const rows = 8000
	r := rand.New(rand.NewPCG(1, 2))
	noise, text, few := array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary),
		array.NewStringBuilder(memory.DefaultAllocator), array.NewBinaryBuilder(memory.DefaultAllocator, arrow.BinaryTypes.Binary)
	values := make([][]byte, 16)
	for i := range values {
		values[i] = binary.LittleEndian.AppendUint64(nil, r.Uint64())
	}
	for i := range rows {
		noise.Append(binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, r.Uint64()), r.Uint64()))
		text.Append(fmt.Sprintf("a text that goes on and on, %d times", i))
		few.Append(values[r.IntN(len(values))])
	}
	rec := table(column{"noise", noise.NewArray(), false}, column{"text", text.NewArray(), false}, column{"few", few.NewArray(), false})
	for codec, want := range map[string][3]bool{"snappy": {false, true, true}, "lz4": {false, true, true}, "zstd": {true, true, true}, "none": {}} {
		data := writeOwn(t, format.WriteOptions{Codec: codec}, 64<<20, pieces(rec, 700)...)
		sameRows(t, data, rec)
		sameElsewhere(t, data, rec)
		for i, want := range want {
			if c := chunkOf(t, data, i); (c.Compression() != compress.Codecs.Uncompressed) != want {
				t.Errorf("%s, column %d: %s", codec, i, c.Compression())
			}
		}
	}
}

func TestWriterUsage(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int32}}, nil)
	typ := func(t arrow.DataType) *arrow.Schema {
		return arrow.NewSchema([]arrow.Field{{Name: "a", Type: t}}, nil)
	}
	for _, c := range []struct {
		schema *arrow.Schema
		opt    format.WriteOptions
		want   string
	}{
		{s, format.WriteOptions{Codec: "lzo"}, `parquet: no compression "lzo"; there are none, snappy, gzip, zstd, brotli and lz4`},
		{s, format.WriteOptions{Codec: "zstd:40"}, `parquet: compression zstd: level "40" is not one of 1 to 22`},
		{s, format.WriteOptions{Codec: "snappy:1"}, `parquet: compression snappy has no levels: leave out "1"`},
		{s, format.WriteOptions{RowGroup: -1}, `parquet: a row group of -1 bytes`},
		{arrow.NewSchema(nil, nil), format.WriteOptions{}, `parquet: there are no columns to write`},
		{typ(arrow.StructOf()), format.WriteOptions{}, `parquet: column "a": struct<> cannot be written to Parquet: a struct needs a field`},
		{typ(arrow.FixedWidthTypes.MonthInterval), format.WriteOptions{}, `parquet: column "a": month_interval cannot be written to Parquet`},
	} {
		_, _, err := Writer().Memory(c.schema, c.opt)
		if !errors.Is(err, format.ErrUsage) || err.Error() != c.want {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}
