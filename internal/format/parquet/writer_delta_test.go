package parquet

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	pqfile "github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/metadata"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/stream"
)

// integers is a column of n integers, of which every nullth is null; 0: none.
func integers[T int32 | int64](name string, n, null int, value func(i int) T) column {
	b := array.NewBuilder(memory.DefaultAllocator, arrow.GetDataType[T]())
	defer b.Release()
	for i := range n {
		switch b := b.(type) {
		case *array.Int32Builder:
			b.Append(int32(value(i)))
		case *array.Int64Builder:
			b.Append(int64(value(i)))
		}
		if null > 0 && i%null == 0 {
			b.AppendNull()
		}
	}
	return column{name, array.NewSlice(b.NewArray(), 0, int64(n)), null > 0}
}

// packed is tokens with what goes with them, in lists of 128: tokens, tokens of
// which runs do not count, and places in documents.
func packed(rows int) arrow.RecordBatch {
	const length = 128
	n := rows * length
	r := rand.New(rand.NewPCG(8, 8))
	tokens := make([]int32, n)
	for i := range tokens {
		tokens[i] = int32(r.ExpFloat64() * 9000)
	}
	lists := func(name string, c column) column {
		typ := arrow.FixedSizeListOfNonNullable(length, arrow.PrimitiveTypes.Int32)
		data := array.NewData(typ, rows, []*memory.Buffer{nil}, []arrow.ArrayData{c.values.Data()}, 0, 0)
		return column{name, array.MakeFromData(data), false}
	}
	return table(
		lists("input_ids", integers("", n, 0, func(i int) int32 { return tokens[i] })),
		lists("labels", integers("", n, 0, func(i int) int32 {
			if i/300%3 == 1 {
				return -100
			}
			return tokens[i]
		})),
		lists("position_ids", integers("", n, 0, func(i int) int32 { return int32(i % 777) })))
}

// chunkOf is what another reader finds in the footer for a column of the first
// row group.
func chunkOf(t testing.TB, data []byte, column int) *metadata.ColumnChunkMetaData {
	t.Helper()
	f, err := pqfile.NewParquetReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	c, err := f.MetaData().RowGroup(0).ColumnChunk(column)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// sameElsewhere checks that another reader reads the rows as well.
func sameElsewhere(t testing.TB, data []byte, rec arrow.RecordBatch) {
	t.Helper()
	got, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(data), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer got.Release()
	want := array.NewTableFromRecords(rec.Schema(), []arrow.RecordBatch{rec})
	defer want.Release()
	for i := range int(rec.NumCols()) {
		if !array.ChunkedEqual(got.Column(i).Data(), want.Column(i).Data()) {
			t.Errorf("column %d: another reader reads other values", i)
		}
	}
}

func TestPackedTokensAreStoredAsDifferences(t *testing.T) {
	rec := packed(1500)
	for _, codec := range []string{"snappy", "lz4", "none"} {
		data := writeOwn(t, format.WriteOptions{Codec: codec}, 64<<20, pieces(rec, 400, 401)...)
		sameRows(t, data, rec)
		sameElsewhere(t, data, rec)
		for i := range 3 {
			if c := chunkOf(t, data, i); !slices.Contains(c.Encodings(), pq.Encodings.DeltaBinaryPacked) || c.HasDictionaryPage() {
				t.Errorf("%s, column %d: %v", codec, i, c.Encodings())
			}
		}
		// 17 bits a token, which nothing compresses; places take next to none.
		if c := chunkOf(t, data, 0); c.Compression() != compress.Codecs.Uncompressed || c.TotalCompressedSize() > rec.NumRows()*128*18/8 {
			t.Errorf("%s: tokens take %d bytes, %s", codec, c.TotalCompressedSize(), c.Compression())
		}
		if c := chunkOf(t, data, 2); codec != "none" && (c.Compression() == compress.Codecs.Uncompressed || c.TotalCompressedSize() > rec.NumRows()*128/16) {
			t.Errorf("%s: places take %d bytes, %s", codec, c.TotalCompressedSize(), c.Compression())
		}
	}
	if c := chunkOf(t, writeOwn(t, format.WriteOptions{Codec: "zstd"}, 64<<20, rec), 0); slices.Contains(c.Encodings(), pq.Encodings.DeltaBinaryPacked) {
		t.Error("differences with a codec that does better without")
	}
}

func TestDifferencesDoNotDependOnMemoryAndThreads(t *testing.T) {
	rec := packed(3000)
	opt := format.WriteOptions{Steady: true, Threads: 1, RowGroup: 1 << 20, PartSize: 16 << 20}
	want := writeOwn(t, opt, 0, pieces(rec, 1000, 1500)...)
	if c := chunkOf(t, want, 0); !slices.Contains(c.Encodings(), pq.Encodings.DeltaBinaryPacked) {
		t.Errorf("no differences: %v", c.Encodings())
	}
	for _, threads := range []int{2, 5} {
		opt.Threads = threads
		for _, share := range []int64{0, 256 << 20} {
			if got := writeOwn(t, opt, share, pieces(rec, 1, 2200)...); !bytes.Equal(got, want) {
				t.Errorf("%d threads, share %d: %d bytes, %d with one thread", threads, share, len(got), len(want))
			}
		}
	}
}

// TestChunksChangeHowTheyAreEncoded: what the first page was good for is not
// what later ones are.
func TestChunksChangeHowTheyAreEncoded(t *testing.T) {
	const n = 200_000
	r := rand.New(rand.NewPCG(9, 9))
	rec := table(
		// A dictionary gets too large, and the rest rises.
		integers("few, then rising", n, 0, func(i int) int64 {
			if i < n/4 {
				return r.Int64N(500) * 0x123456789a
			}
			return int64(i) << 20
		}),
		// Differences do not help any more.
		integers("rising, then any", n, 7, func(i int) int64 {
			if i < n/4 {
				return int64(i)
			}
			return int64(r.Uint64())
		}),
		// Modulo 1 << 32 the limits are neighbours.
		integers("tokens, then the limits", n, 0, func(i int) int32 {
			if i < n/2 {
				return r.Int32N(100_000) - 100
			}
			return []int32{math.MinInt32, math.MaxInt32}[r.IntN(2)]
		}),
		integers("nulls, then tokens", n, 1, func(int) int32 { return r.Int32N(50_000) }),
		integers("any", n, 3, func(int) int32 { return int32(r.Uint32()) }))
	all := []pq.Encoding{pq.Encodings.Plain, pq.Encodings.RLEDict, pq.Encodings.DeltaBinaryPacked}
	want := [][]pq.Encoding{all, {all[0], all[2]}, {all[2]}, {all[2]}, {all[0]}}
	for _, opt := range []format.WriteOptions{{}, {Codec: "lz4", Threads: 2}, {Codec: "none"}} {
		data := writeOwn(t, opt, 64<<20, rec)
		sameRows(t, data, rec)
		sameElsewhere(t, data, rec)
		for i, w := range want {
			got := chunkOf(t, data, i).Encodings()
			for _, e := range all {
				if slices.Contains(got, e) != slices.Contains(w, e) {
					t.Errorf("%+v: %s: %v", opt, rec.ColumnName(i), got)
					break
				}
			}
		}
		sameRows(t, writeOwn(t, opt, 0, rec), rec) // in the least memory
	}
}

// TestIntegersAreStoredAsTheCodecLikesThem: what is smallest once compressed, of
// phrases that matches are found in, of few values, and of rising ones.
func TestIntegersAreStoredAsTheCodecLikesThem(t *testing.T) {
	const n = 100_000
	r := rand.New(rand.NewPCG(3, 9))
	phrases := make([][15]int32, 100)
	for i := range phrases {
		for k := range phrases[i] {
			phrases[i][k] = r.Int32N(20_000) * 7
		}
	}
	var phrase [15]int32
	rec := table(
		integers("phrases", n, 0, func(i int) int32 {
			if i%15 == 0 {
				phrase = phrases[r.IntN(len(phrases))]
			}
			return phrase[i%15]
		}),
		integers("few", n, 5, func(int) int32 { return r.Int32N(6)*1_000_000 - 100 }),
		integers("rising", n, 5, func(i int) int64 { return math.MinInt64 + int64(i)*1000 + r.Int64N(50) }))
	data := writeOwn(t, format.WriteOptions{}, 64<<20, rec)
	// Not in the least memory: snappy's matches lie too far back for a window.
	if got, _, err := readDigest(t, sourceOf(data), format.Options{}, 1<<28, stream.Cursor{}); err != nil || got != digestOf(t, rec) {
		t.Errorf("other rows than were written, %v", err)
	}
	sameElsewhere(t, data, rec)
	for i, want := range []struct {
		encoding pq.Encoding
		bits     int64 // of a value
	}{{pq.Encodings.Plain, 8}, {pq.Encodings.RLEDict, 5}, {pq.Encodings.DeltaBinaryPacked, 13}} {
		c := chunkOf(t, data, i)
		if !slices.Contains(c.Encodings(), want.encoding) || c.TotalCompressedSize() > n*want.bits/8 {
			t.Errorf("%s: %v, %d bytes", rec.ColumnName(i), c.Encodings(), c.TotalCompressedSize())
		}
	}
	if c := chunkOf(t, data, 0); c.HasDictionaryPage() {
		t.Error("phrases have a dictionary")
	}
}
