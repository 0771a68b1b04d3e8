package mds

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

type sink struct{ io.Writer }

func (sink) Patch([]byte, int64) error { panic("mds is never patched") }

// written writes a batch as a directory, index first, in the least memory.
func written(t testing.TB, rec arrow.RecordBatch, opt format.WriteOptions) (names []string, files [][]byte) {
	t.Helper()
	w := Writer()
	least, _, err := w.Memory(rec.Schema(), opt)
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(least)
	names, files = []string{indexName}, [][]byte{nil}
	var parts []format.Part
	for row := int64(0); row < rec.NumRows() || len(parts) == 0; {
		var out bytes.Buffer
		f, err := w.Begin(sink{&out}, rec.Schema(), opt, share)
		if err != nil {
			t.Fatal(err)
		}
		n, err := f.(format.Filler).Fill(&stream.Batch{Record: rec}, row)
		if err != nil || n == 0 && rec.NumRows() > 0 {
			t.Fatalf("row %d: %d, %v", row, n, err)
		}
		row += n
		p, err := f.Close()
		if err != nil || p.Rows != n || share.Leased() != 0 {
			t.Fatalf("%v: %d rows of %d, %d bytes leased", err, p.Rows, n, share.Leased())
		}
		p.Name, p.Bytes = w.PartName(len(parts), opt), int64(out.Len())
		parts = append(parts, p)
		names, files = append(names, p.Name), append(files, out.Bytes())
	}
	if names[0], files[0], err = w.Index(rec.Schema(), opt, parts); err != nil {
		t.Fatal(err)
	}
	return names, files
}

func TestShardIsThatOfMDSWriter(t *testing.T) {
	s := schemaOf(t, simple)
	_, files := written(t, record(t, s, `[{"id":1,"text":"hi"},{"id":-2,"text":"é"}]`), format.WriteOptions{})
	want := "02000000c9000000d7000000e5000000" + fmt.Sprintf("%x", `{"column_encodings": ["int", "str"], "column_names": ["id", "text"], `+
		`"column_sizes": [8, null], "compression": null, "format": "mds", "hashes": [], "size_limit": 67108864, "version": 2}`) +
		"020000000100000000000000686902000000feffffffffffffffc3a9"
	if got := fmt.Sprintf("%x", files[1]); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if sum := fmt.Sprintf("%x", sha256.Sum256(files[1])); sum != "1579f06db1a0516d700a0954a3607f095823f8fcf3e270565c3f9c8b6a409bcd" {
		t.Error(sum)
	}
	index := `{"shards": [{"column_encodings": ["int", "str"], "column_names": ["id", "text"], "column_sizes": [8, null], ` +
		`"compression": null, "format": "mds", "hashes": [], "raw_data": {"basename": "shard.00000.mds", "bytes": 229, "hashes": {}}, ` +
		`"samples": 2, "size_limit": 67108864, "version": 2, "zip_data": null}], "version": 2}`
	if string(files[0]) != index {
		t.Errorf("%s, want %s", files[0], index)
	}
}

// all is rows of all types that have an encoding of their own.
func all(t testing.TB) arrow.RecordBatch {
	columns, _, text := everything()
	s := schemaOf(t, columns)
	return record(t, s, text)
}

func TestWrittenIsRead(t *testing.T) {
	rec := all(t)
	fields, cols := rec.Schema().Fields(), rec.Columns()
	for _, f := range fields {
		if c, err := outColumnOf(f); err != nil || c.encoding != f.Name {
			t.Errorf("%s is written as %s, %v", f.Name, c.encoding, err)
		}
	}
	for _, codec := range []string{"", "br:1", "bz2", "gzip:9", "snappy", "zstd:7"} {
		for name := range hashes {
			if codec != "" && name != "sha1" {
				continue
			}
			names, files := written(t, rec, format.WriteOptions{Codec: codec, Hashes: []string{name}, PartSize: 1})
			got := readAll(t, names, files, nil)
			if got.err != nil || len(got.records) != 2 {
				t.Fatalf("%s, %s: %d batches, %v", codec, name, len(got.records), got.err)
			}
			for i, r := range got.records {
				for j, c := range r.Columns() {
					if !array.SliceEqual(c, 0, 1, cols[j], int64(i), int64(i)+1) {
						t.Errorf("%s, %s: column %s: %v, want %v", codec, name, fields[j].Name, c, cols[j])
					}
				}
			}
			spoiled := slices.Clone(files[2])
			spoiled[len(spoiled)-1] ^= 1
			bad := readAll(t, names, [][]byte{files[0], files[1], spoiled}, nil)
			if !errors.Is(bad.err, format.ErrData) || !strings.Contains(bad.err.Error(), names[2]) || len(bad.records) != 1 {
				t.Errorf("%s, %s: a spoiled shard: %d batches, %v", codec, name, len(bad.records), bad.err)
			}
			if codec == "" && !strings.Contains(bad.err.Error(), "its "+name+" is ") {
				t.Error(bad.err)
			}
		}
	}
	names, files := written(t, rec, format.WriteOptions{Codec: "zstd", Hashes: []string{"xxh3_128", "sha256"}})
	formattest.Run(t, formattest.Case{Format: Format(), Names: names, Files: files, Want: []arrow.RecordBatch{rec}, Rows: []int{2}})
}

// TestWrittenAsItWasRead: what is read and written again is the same bytes.
func TestWrittenAsItWasRead(t *testing.T) {
	columns, samples, text := everything()
	for i := range samples { // a word that is written as 0
		for j, c := range columns {
			if c.encoding == "list[png]" {
				samples[i][j] = cat(le(uint32(0)), samples[i][j][4:])
			}
			if c.encoding == "ndarray:float64" && i == 0 {
				samples[i][j] = cat([]byte{1 << 2, 2}, samples[i][j][9:])
			}
			if c.encoding == "ndarray" && i == 0 {
				samples[i][j] = cat([]byte{17, 2 << 2, 1, 2}, samples[i][j][6:])
			}
		}
	}
	_, files := written(t, record(t, schemaOf(t, columns), text), format.WriteOptions{})
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) })
	want := made{columns: columns, samples: samples}.raw()
	got := files[1]
	body := bytes.Index(want, []byte("at\"}")) + 4
	if !bytes.HasSuffix(got, want[body:]) {
		t.Errorf("%x\nwant the end to be %x", got, want[body:])
	}
}

func TestPartsEndWhereMDSWriterEndsThem(t *testing.T) {
	s := schemaOf(t, simple)
	samples, text := simpleRows(0, 300)
	rec := record(t, s, text)
	for _, limit := range []int64{1, 250, 400, 1000, 5000} {
		d, err := newDesign(s, format.WriteOptions{PartSize: limit})
		if err != nil {
			t.Fatal(err)
		}
		var want []int
		size, n := 8+len(d.config), 0
		for _, m := range samples {
			k := 4 + 8 + len(m[1]) + 4
			if int(limit) < size+k && n > 0 {
				want = append(want, n)
				size, n = 8+len(d.config), 0
			}
			size, n = size+k, n+1
		}
		want = append(want, n)
		names, files := written(t, rec, format.WriteOptions{PartSize: limit})
		if len(want) != len(files)-1 {
			t.Errorf("limit %d: %d shards, want %d", limit, len(files)-1, len(want))
			continue
		}
		for i, n := range want {
			if got := int(files[i+1][0]) + int(files[i+1][1])<<8; got != n {
				t.Errorf("limit %d, shard %d: %d samples, want %d", limit, i, got, n)
			}
		}
		got := readAll(t, names, files, nil)
		if got.err != nil || got.rows != 300 {
			t.Errorf("limit %d: %d rows, %v", limit, got.rows, got.err)
		}
	}
}

func TestRowsLargerThanAShard(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.BinaryTypes.String}}, nil)
	long := strings.Repeat("x", 3<<20)
	rec := record(t, s, `[{"b":"a"},{"b":"`+long+`"},{"b":"c"}]`)
	share := mem.New(64 << 20)
	var out bytes.Buffer
	f, err := Writer().Begin(sink{&out}, s, format.WriteOptions{PartSize: 1000}, share)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Write(&stream.Batch{Record: rec}); err != nil {
		t.Fatal(err)
	}
	if p, err := f.Close(); err != nil || p.Rows != 3 || out.Len() < 3<<20 || share.Leased() != 0 {
		t.Fatalf("%+v, %v, %d bytes, %d leased", p, err, out.Len(), share.Leased())
	}
	least, _, _ := Writer().Memory(s, format.WriteOptions{PartSize: 1000})
	share = mem.New(least)
	if f, err = Writer().Begin(sink{&out}, s, format.WriteOptions{PartSize: 1000}, share); err != nil {
		t.Fatal(err)
	}
	if err := f.Write(&stream.Batch{Record: rec}); !errors.Is(err, mem.ErrTooSmall) {
		t.Error(err)
	}
	f.Abort()
	if share.Leased() != 0 {
		t.Error("leased after Abort")
	}
}

func TestTypesWithoutAnEncodingOfTheirOwn(t *testing.T) {
	list := arrow.ListOf
	for _, c := range []struct {
		typ      arrow.DataType
		json     string
		encoding string
		want     string // as read back
	}{
		{arrow.FixedWidthTypes.Boolean, `true`, "uint8", `1`},
		{&arrow.Decimal128Type{Precision: 5, Scale: 2}, `"1.50"`, "str_decimal", `1.50`},
		{arrow.FixedWidthTypes.Date32, `"2020-02-29"`, "str", `2020-02-29`},
		{list(arrow.PrimitiveTypes.Int32), `[1,-2]`, "ndarray:int32", `{"data":[1,-2],"shape":[2]}`},
		{list(arrow.PrimitiveTypes.Int32), `[]`, "ndarray:int32", `{"data":[],"shape":[0]}`},
		{arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Float32), `[1,2]`, "ndarray:float32:2", `[1,2]`},
		{list(arrow.BinaryTypes.String), `["a",null]`, "json", `["a",null]`},
		{arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int8, Nullable: true}), `{"x":null}`, "json", `{"x":null}`},
		{arrow.BinaryTypes.LargeString, `"é"`, "str", `é`},
		{&arrow.FixedSizeBinaryType{ByteWidth: 2}, `"YWI="`, "bytes", `YWI=`},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ, Nullable: true}}, nil)
		names, files := written(t, record(t, s, `[{"v":`+c.json+`}]`), format.WriteOptions{})
		if !bytes.Contains(files[0], []byte(`"column_encodings": ["`+c.encoding+`"]`)) {
			t.Errorf("%s: %s", c.typ, files[0])
		}
		got := readAll(t, names, files, nil)
		if got.err != nil || got.rows != 1 {
			t.Errorf("%s: %v", c.typ, got.err)
			continue
		}
		if v := got.records[0].Column(0).ValueStr(0); v != c.want {
			t.Errorf("%s: %s, want %s", c.typ, v, c.want)
		}
	}
}

func TestNullsAreRefused(t *testing.T) {
	for _, c := range []struct {
		typ  arrow.DataType
		json string
	}{
		{arrow.PrimitiveTypes.Int64, `null`},
		{arrow.BinaryTypes.String, `null`},
		{arrow.ListOf(arrow.PrimitiveTypes.Int64), `[1,null]`},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ, Nullable: true}}, nil)
		share := mem.New(128 << 20)
		f, err := Writer().Begin(sink{io.Discard}, s, format.WriteOptions{}, share)
		if err != nil {
			t.Fatal(err)
		}
		err = f.Write(&stream.Batch{Record: record(t, s, `[{"v":`+c.json+`}]`)})
		if err == nil || !strings.Contains(err.Error(), `column "v": a null`) {
			t.Errorf("%s: %v", c.typ, err)
		}
		f.Abort()
	}
}

func TestWriteOptionsAreChecked(t *testing.T) {
	s := schemaOf(t, simple)
	for _, opt := range []format.WriteOptions{
		{Codec: "lz4"}, {Codec: "xz"}, {Codec: "zstd:99"}, {Hashes: []string{"crc32"}}, {PartSize: 1 << 32},
	} {
		if _, _, err := Writer().Memory(s, opt); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}
