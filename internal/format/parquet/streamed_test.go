package parquet

import (
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// largePage is one column that is one page of some megabytes.
type largePage struct {
	name     string
	typ      arrow.DataType
	nullable bool
	rows     int
	encoding pq.Encoding
	huge     bool // larger than the windows of zstd and brotli, which are megabytes
}

var largePages = []largePage{
	{"int64", arrow.PrimitiveTypes.Int64, false, 400_000, pq.Encodings.Plain, false},
	{"float64 with nulls", arrow.PrimitiveTypes.Float64, true, 400_000, pq.Encodings.Plain, false},
	{"text", arrow.BinaryTypes.String, true, 100_000, pq.Encodings.Plain, false},
	{"lists", arrow.ListOf(arrow.PrimitiveTypes.Int32), true, 200_000, pq.Encodings.Plain, false},
	{"decimal", &arrow.Decimal128Type{Precision: 30, Scale: 2}, true, 200_000, pq.Encodings.Plain, false},
	{"int32 delta", arrow.PrimitiveTypes.Int32, true, 600_000, pq.Encodings.DeltaBinaryPacked, false},
	{"bool", arrow.FixedWidthTypes.Boolean, true, 3_000_000, pq.Encodings.Plain, false},
	{"text, lengths first", arrow.BinaryTypes.String, true, 100_000, pq.Encodings.DeltaLengthByteArray, false},
	{"text, prefixes", arrow.BinaryTypes.Binary, true, 100_000, pq.Encodings.DeltaByteArray, false},
	{"float32 split", arrow.PrimitiveTypes.Float32, true, 800_000, pq.Encodings.ByteStreamSplit, false},
	{"much text", arrow.BinaryTypes.String, false, 600_000, pq.Encodings.Plain, true},
	{"many int64", arrow.PrimitiveTypes.Int64, false, 1_600_000, pq.Encodings.Plain, true},
}

// TestPagesLargerThanMemory: at the floor no page is held whole. Snappy is not
// here: see TestSnappyThatLooksFarBack.
func TestPagesLargerThanMemory(t *testing.T) {
	for i, p := range largePages {
		if raced && (p.huge || p.rows > 500_000) {
			continue // minutes, in plain loops that share nothing
		}
		d := newDice(uint64(i))
		d.long, d.nulls = 60, 0.15
		rec := table(column{"c", d.values(p.typ, p.nullable, p.rows), p.nullable})
		for j, codec := range codecs {
			if codec == compress.Codecs.Snappy || p.huge != (codec == compress.Codecs.Zstd || codec == compress.Codecs.Brotli) {
				continue
			}
			if codec == compress.Codecs.Brotli && p.typ != arrow.BinaryTypes.String {
				continue // slow to write
			}
			l := layout{codec: codec, v2: (i+j)%2 == 0, each: map[string]pq.Encoding{"c": p.encoding}, page: 1 << 30}
			t.Run(p.name+", "+l.String(), func(t *testing.T) { streamedRead(t, rec, write(t, rec, l)) })
			if codec == compress.Codecs.Uncompressed {
				l.v2 = !l.v2
				t.Run(p.name+", "+l.String(), func(t *testing.T) { streamedRead(t, rec, write(t, rec, l)) })
			}
		}
	}
}

// streamedRead reads at the floor, which is too little for the page.
func streamedRead(t *testing.T, rec arrow.RecordBatch, file []byte) {
	t.Helper()
	ds, err := Plan(t.Context(), sourceOf(file), format.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := ds.(*dataset).open(t.Context(), 0, mem.New(1<<30), new(stream.Waits))
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	chunks, err := f.meta.Chunks(t.Context(), 0, f.ordinals, nil)
	if err != nil {
		t.Fatal(err)
	}
	if have := ds.(*dataset).needs.pages; have >= chunks[0].Uncompressed {
		t.Fatalf("a page of %s is not streamed at the floor, which has %s for it", mem.Format(chunks[0].Uncompressed), mem.Format(have))
	}
	for _, threads := range []int{1, 3} {
		got, rows, err := readRetry(t, sourceOf(file), format.Options{Threads: threads}, 0, stream.Cursor{})
		if err != nil || got != digestOf(t, rec) {
			t.Fatalf("threads %d, at the floor of %s: %d rows, %v", threads, mem.Format(ds.Floor()), rows, err)
		}
	}
	from := rec.NumRows() * 3 / 4
	rest := rec.NewSlice(from, rec.NumRows())
	defer rest.Release()
	got, _, err := readRetry(t, sourceOf(file), format.Options{}, 0, stream.Cursor{Row: from})
	if err != nil || got != digestOf(t, rest) {
		t.Errorf("resumed: %v", err)
	}
}

// TestLargeDictionaries: the dictionary is held, the pages are not.
func TestLargeDictionaries(t *testing.T) {
	d := newDice(2)
	d.kinds, d.long, d.nulls = 10_000, 40, 0.05
	rec := table(column{"s", d.values(arrow.BinaryTypes.String, true, 40_000), true},
		column{"n", d.values(arrow.PrimitiveTypes.Int64, false, 40_000), false},
		column{"dec", d.values(&arrow.Decimal128Type{Precision: 30, Scale: 1}, true, 40_000), true})
	for _, codec := range []compress.Compression{compress.Codecs.Uncompressed, compress.Codecs.Zstd, compress.Codecs.Gzip} {
		for _, v2 := range []bool{false, true} {
			sameRows(t, write(t, rec, layout{codec: codec, v2: v2, dict: true, page: 1 << 30, dictSize: 1 << 30}), rec)
		}
	}
}

// TestSnappyThatLooksFarBack: arrow-go's encoder refers back further than a
// window, so its pages must be held; the error says with how much memory.
func TestSnappyThatLooksFarBack(t *testing.T) {
	d := newDice(1)
	d.long, d.kinds = 1000, 5000
	rec := table(column{"s", d.values(arrow.BinaryTypes.String, false, 5000), false})
	file := write(t, rec, layout{codec: compress.Codecs.Snappy, page: 1 << 30})
	_, _, err := readDigest(t, sourceOf(file), format.Options{}, 0, stream.Cursor{})
	small, ok := errors.AsType[*mem.TooSmallError](err)
	if err == nil {
		t.Skip("the encoder does not look back that far any more")
	}
	if !ok {
		t.Fatal(err)
	}
	got, _, err := readDigest(t, sourceOf(file), format.Options{}, small.Need, stream.Cursor{})
	if err != nil || got != digestOf(t, rec) {
		t.Errorf("with the %s it asked for: %v", mem.Format(small.Need), err)
	}
}

func TestWideSchema(t *testing.T) {
	d := newDice(1)
	d.nulls = 0.1
	var cols []column
	for i := range 1000 {
		typ := flatTypes[i%len(flatTypes)]
		cols = append(cols, column{fmt.Sprintf("c%d", i), d.values(typ, i%2 == 0, 20), i%2 == 0})
	}
	rec := table(cols...)
	sameRows(t, write(t, rec, layout{codec: compress.Codecs.Zstd, group: 8}), rec)
}

func TestManyTinyRowGroups(t *testing.T) {
	d := newDice(1)
	d.nulls = 0.3
	rec := table(column{"a", d.values(arrow.PrimitiveTypes.Int32, true, 4000), true},
		column{"b", d.values(arrow.ListOf(arrow.BinaryTypes.String), true, 4000), true})
	sameRows(t, write(t, rec, layout{codec: compress.Codecs.Snappy, group: 2}), rec)
}
