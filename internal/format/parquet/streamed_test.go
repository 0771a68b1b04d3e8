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

// largePages is a table whose columns are one page of a megabyte or more each.
func largePages(d *dice, rows int) (arrow.RecordBatch, map[string]pq.Encoding) {
	d.long = 60
	d.nulls = 0.15
	return table(
			column{"i64", d.values(arrow.PrimitiveTypes.Int64, false, rows), false},
			column{"f64", d.values(arrow.PrimitiveTypes.Float64, true, rows), true},
			column{"i16", d.values(arrow.PrimitiveTypes.Int16, true, rows), true},
			column{"text", d.values(arrow.BinaryTypes.String, true, rows), true},
			column{"d64", d.values(arrow.PrimitiveTypes.Int64, true, rows), true},
			column{"d32", d.values(arrow.PrimitiveTypes.Int32, false, rows), false},
			column{"dl", d.values(arrow.BinaryTypes.String, true, rows), true},
			column{"db", d.values(arrow.BinaryTypes.Binary, true, rows), true},
			column{"bss", d.values(arrow.PrimitiveTypes.Float32, true, rows), true},
			column{"bool", d.values(arrow.FixedWidthTypes.Boolean, true, rows), true},
			column{"list", d.values(arrow.ListOf(arrow.PrimitiveTypes.Int32), true, rows/4), true}.repeat(rows),
		), map[string]pq.Encoding{
			"d64": pq.Encodings.DeltaBinaryPacked, "d32": pq.Encodings.DeltaBinaryPacked,
			"dl": pq.Encodings.DeltaLengthByteArray, "db": pq.Encodings.DeltaByteArray, "bss": pq.Encodings.ByteStreamSplit,
		}
}

// TestPagesLargerThanMemory: at the floor no page is held whole. Snappy is not
// here: see TestSnappyThatLooksFarBack.
func TestPagesLargerThanMemory(t *testing.T) {
	d := newDice(1)
	rec, each := largePages(d, 24_000)
	want := digestOf(t, rec)
	rest := rec.NewSlice(17_234, rec.NumRows())
	for _, codec := range codecs {
		if codec == compress.Codecs.Snappy {
			continue
		}
		for _, v2 := range []bool{false, true} {
			l := layout{codec: codec, v2: v2, each: each, page: 1 << 30}
			t.Run(l.String(), func(t *testing.T) {
				file := write(t, rec, l)
				ds, err := Plan(t.Context(), sourceOf(file), format.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if floor := ds.Floor(); floor > ds.Info().InMemory {
					t.Logf("the floor is %s, the data %s", mem.Format(floor), mem.Format(ds.Info().InMemory))
				}
				for _, threads := range []int{1, 3} {
					got, rows, err := readDigest(t, sourceOf(file), format.Options{Threads: threads}, 0, stream.Cursor{})
					if err != nil || got != want {
						t.Fatalf("threads %d, at the floor of %s: %d rows, %v", threads, mem.Format(ds.Floor()), rows, err)
					}
				}
				got, _, err := readDigest(t, sourceOf(file), format.Options{}, 0, stream.Cursor{Row: 17_234})
				if err != nil || got != digestOf(t, rest) {
					t.Errorf("resumed: %v", err)
				}
			})
		}
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

// repeat makes a column of that many rows of c's first ones.
func (c column) repeat(rows int) column {
	parts := []arrow.Array{}
	for n := 0; n < rows; n += c.values.Len() {
		parts = append(parts, c.values)
	}
	c.values = join(parts, rows)
	return c
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
