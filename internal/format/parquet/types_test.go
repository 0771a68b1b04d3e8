package parquet

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	pq "github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
)

var codecs = []compress.Compression{
	compress.Codecs.Uncompressed, compress.Codecs.Snappy, compress.Codecs.Gzip,
	compress.Codecs.Zstd, compress.Codecs.Brotli, compress.Codecs.Lz4Raw,
}

// flatTypes are all that are not nested.
var flatTypes = []arrow.DataType{
	arrow.FixedWidthTypes.Boolean,
	arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
	arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
	arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
	arrow.BinaryTypes.String, arrow.BinaryTypes.Binary,
	&arrow.FixedSizeBinaryType{ByteWidth: 1}, &arrow.FixedSizeBinaryType{ByteWidth: 5}, &arrow.FixedSizeBinaryType{ByteWidth: 16},
	&arrow.Decimal128Type{Precision: 5, Scale: 2}, &arrow.Decimal128Type{Precision: 15, Scale: 0},
	&arrow.Decimal128Type{Precision: 38, Scale: 10}, &arrow.Decimal256Type{Precision: 60, Scale: 3},
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
	arrow.FixedWidthTypes.Timestamp_ms, arrow.FixedWidthTypes.Timestamp_us, &arrow.TimestampType{Unit: arrow.Nanosecond},
}

// flatTable has a required and a nullable column of every flat type.
func flatTable(d *dice, rows int) arrow.RecordBatch {
	var cols []column
	for i, typ := range flatTypes {
		for _, nullable := range []bool{false, true} {
			cols = append(cols, column{fmt.Sprintf("c%02d%v", i, nullable), d.values(typ, nullable, rows), nullable})
		}
	}
	return table(cols...)
}

func TestFlatTypesInEveryCodecAndPage(t *testing.T) {
	for i, codec := range codecs {
		for _, v2 := range []bool{false, true} {
			for _, dict := range []bool{false, true} {
				for j, page := range []int64{64, 3000, 0} {
					if page == 64 && i > 1 {
						continue // slow: as many decompressors as pages
					}
					d := newDice(uint64(i*10 + j))
					d.nulls = []float64{0.5, 0.02, 0.97}[(i+j)%3]
					d.kinds = []int{0, 5, 300}[j]
					d.run = []int{0, 40, 3}[(i+j)%3]
					l := layout{codec: codec, v2: v2, dict: dict, page: page, group: []int64{0, 133, 0}[j], decimals: v2}
					t.Run(l.String(), func(t *testing.T) {
						rec := flatTable(d, 350)
						sameRows(t, write(t, rec, l), rec)
					})
				}
			}
		}
	}
}

// encodings of each physical type besides plain and dictionary.
func encodings(typ arrow.DataType) []pq.Encoding {
	switch typ.ID() {
	case arrow.BOOL:
		// arrow-go writes wrong values when a page takes it several calls;
		// see TestRLEBooleans.
		return nil
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64,
		arrow.DATE32, arrow.TIME32, arrow.TIME64, arrow.TIMESTAMP:
		return []pq.Encoding{pq.Encodings.DeltaBinaryPacked, pq.Encodings.ByteStreamSplit}
	case arrow.FLOAT32, arrow.FLOAT64, arrow.FLOAT16:
		return []pq.Encoding{pq.Encodings.ByteStreamSplit}
	case arrow.STRING, arrow.BINARY:
		return []pq.Encoding{pq.Encodings.DeltaLengthByteArray, pq.Encodings.DeltaByteArray}
	case arrow.FIXED_SIZE_BINARY, arrow.DECIMAL128, arrow.DECIMAL256:
		// arrow-go cannot write DELTA_BYTE_ARRAY here; FuzzDelta has it.
		return []pq.Encoding{pq.Encodings.ByteStreamSplit}
	}
	return nil
}

// encodedTable has a column of every flat type in every other encoding.
func encodedTable(d *dice, rows int) (arrow.RecordBatch, map[string]pq.Encoding) {
	var cols []column
	each := map[string]pq.Encoding{}
	for i, typ := range flatTypes {
		for j, e := range encodings(typ) {
			for _, nullable := range []bool{false, true} {
				name := fmt.Sprintf("c%02d%d%v", i, j, nullable)
				cols = append(cols, column{name, d.values(typ, nullable, rows), nullable})
				each[name] = e
			}
		}
	}
	return table(cols...), each
}

func TestEncodings(t *testing.T) {
	for i, codec := range codecs {
		for _, v2 := range []bool{false, true} {
			for j, page := range []int64{64, 0} {
				if page == 64 && i > 1 {
					continue
				}
				d := newDice(uint64(i*10 + j))
				d.nulls = []float64{0.3, 0.01, 0.9}[(i+j)%3]
				d.kinds = []int{0, 40}[j]
				l := layout{codec: codec, v2: v2, page: page}
				t.Run(l.String(), func(t *testing.T) {
					rec, each := encodedTable(d, 400)
					l.each = each
					sameRows(t, write(t, rec, l), rec)
				})
			}
		}
	}
}

func TestRLEBooleans(t *testing.T) {
	for _, run := range []int{0, 3, 100} {
		for _, nulls := range []float64{0, 0.1, 0.9, 1} {
			d := newDice(uint64(run))
			d.run, d.nulls = run, nulls
			rec := table(column{"b", d.values(arrow.FixedWidthTypes.Boolean, true, 1000), true},
				column{"r", d.values(arrow.FixedWidthTypes.Boolean, false, 1000), false})
			for _, v2 := range []bool{false, true} {
				sameRows(t, write(t, rec, layout{encoding: pq.Encodings.RLE, v2: v2, group: 300}), rec)
			}
		}
	}
}

// TestDictionaryGivenUp: the first pages have indices, the later ones values.
func TestDictionaryGivenUp(t *testing.T) {
	for _, v2 := range []bool{false, true} {
		d := newDice(3)
		d.nulls = 0.1
		rec := flatTable(d, 1500)
		sameRows(t, write(t, rec, layout{codec: compress.Codecs.Snappy, v2: v2, dict: true, dictSize: 2000, page: 500}), rec)
	}
}

func TestNullDensities(t *testing.T) {
	for _, nulls := range []float64{0, 0.001, 0.05, 0.5, 0.95, 0.999, 1} {
		t.Run(fmt.Sprint(nulls), func(t *testing.T) {
			d := newDice(4)
			d.nulls = nulls
			var cols []column
			for i, typ := range flatTypes {
				cols = append(cols, column{fmt.Sprint(i), d.values(typ, true, 3000), true})
			}
			rec := table(cols...)
			sameRows(t, write(t, rec, layout{page: 2000}), rec)
			sameRows(t, write(t, rec, layout{dict: true, v2: true, group: 1999}), rec)
		})
	}
}

func TestInt96Timestamps(t *testing.T) {
	d := newDice(5)
	d.nulls = 0.2
	rec := table(column{"t", d.values(&arrow.TimestampType{Unit: arrow.Nanosecond}, true, 500), true})
	for _, dict := range []bool{false, true} {
		sameRows(t, write(t, rec, layout{int96: true, dict: dict, page: 300}), rec)
	}
}

// TestStringLengths: empty ones, ones around the width of a wide move, and
// ones longer than a streamed window.
func TestStringLengths(t *testing.T) {
	for _, long := range []int{1, 15, 16, 17, 33, 1000, 70_000} {
		d := newDice(uint64(long))
		d.long, d.nulls = long, 0.1
		rows := 2000
		if long > 10_000 {
			rows = 100
		}
		rec := table(column{"s", d.values(arrow.BinaryTypes.String, false, rows), false},
			column{"n", d.values(arrow.BinaryTypes.Binary, true, rows), true})
		for _, e := range []pq.Encoding{pq.Encodings.Plain, pq.Encodings.DeltaLengthByteArray, pq.Encodings.DeltaByteArray} {
			sameRows(t, write(t, rec, layout{encoding: e, codec: compress.Codecs.Zstd}), rec)
		}
		sameRows(t, write(t, rec, layout{dict: true, page: 700}), rec)
		if t.Failed() {
			t.Fatalf("strings of up to %d bytes", long)
		}
	}
}
