package meta

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
)

// TestPagesOfTheCorpusFillTheirChunks walks from page header to page header,
// and compares them with the offset index where there is one.
func TestPagesOfTheCorpusFillTheirChunks(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t), "data", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	// In these the pages are at fault, on purpose.
	broken := "nation.dict-malformed.parquet"
	pages, indexes := 0, 0
	for _, file := range files {
		if strings.Contains(broken, filepath.Base(file)) {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f, err := open(t, data)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for g := range f.Groups() {
			chunks, err := f.Chunks(t.Context(), g, allLeaves(f), nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range chunks {
				locations := walk(t, filepath.Base(file), data, c)
				pages += len(locations)
				if c.OffsetIndexLen > 0 {
					indexes++
					sameIndex(t, filepath.Base(file), data[c.OffsetIndex:c.OffsetIndex+int64(c.OffsetIndexLen)], locations)
				}
			}
		}
	}
	if pages < 1000 || indexes < 100 {
		t.Errorf("only %d pages and %d offset indexes", pages, indexes)
	}
}

// walk finds the data pages of a chunk.
func walk(t *testing.T, file string, data []byte, c Chunk) []PageLocation {
	t.Helper()
	var out []PageLocation
	values, at, end := int64(0), c.Start, c.Start+c.Compressed
	for at < end && values < c.Values {
		h, n, err := ParsePageHeader(data[at:end])
		if err != nil {
			t.Fatalf("%s: column %d at %d: %v", file, c.Leaf, at, err)
		}
		size := int64(n) + int64(h.Compressed)
		if h.Kind == DataPage || h.Kind == DataPageV2 {
			values += int64(h.Values)
			out = append(out, PageLocation{Offset: at, Size: int32(size)})
		} else if h.Kind == DictionaryPage && at != c.Start {
			t.Errorf("%s: column %d: a dictionary page at %d, the first page is at %d", file, c.Leaf, at, c.Start)
		}
		at += size
	}
	if values != c.Values || at > end {
		t.Errorf("%s: column %d: %d of %d values, to %d of %d", file, c.Leaf, values, c.Values, at, end)
	}
	return out
}

func sameIndex(t *testing.T, file string, b []byte, want []PageLocation) {
	t.Helper()
	got, err := ParseOffsetIndex(b, nil)
	if err != nil {
		t.Errorf("%s: %v", file, err)
		return
	}
	// Pages without values are in the index, but not after the last value.
	for i, w := range want {
		if i >= len(got) || got[i].Offset != w.Offset || got[i].Size != w.Size {
			t.Errorf("%s: page %d: %+v, found %+v", file, i, got, w)
			return
		}
	}
}

func v2Header() []byte {
	return new(thrift).int(1, 3).int(2, 100).int(3, 60).int(4, -2).
		sub(8, new(thrift).int(1, 10).int(2, 3).int(3, 9).int(4, 8).int(5, 7).int(6, 5).bool(7, false).
			sub(8, new(thrift).text(5, strings.Repeat("x", 500)))).done()
}

func TestPageHeaderIsReadWhole(t *testing.T) {
	b := v2Header()
	want := PageHeader{Kind: DataPageV2, Uncompressed: 100, Compressed: 60, CRC: 0xFFFFFFFE, HasCRC: true,
		Values: 10, Encoding: RLEDictionary, DefEncoding: RLE, RepEncoding: RLE, Nulls: 3, Rows: 9, DefLen: 7, RepLen: 5}
	h, n, err := ParsePageHeader(append(b, 1, 2, 3))
	if err != nil || n != len(b) || h != want {
		t.Fatalf("%+v, %d of %d bytes, %v", h, n, len(b), err)
	}
	for i := range b {
		if _, _, err := ParsePageHeader(b[:i]); !errors.Is(err, ErrShort) {
			t.Fatalf("%d bytes: %v, not ErrShort", i, err)
		}
	}
	if n := testing.AllocsPerRun(100, func() { _, _, _ = ParsePageHeader(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestBadPageHeaders(t *testing.T) {
	data := func() *thrift { return new(thrift).int(1, 10).int(2, 0).int(3, 3).int(4, 3) }
	for _, c := range []struct{ want, header string }{
		{"page header: field 3 is -1, which is no size", string(new(thrift).int(1, 0).int(2, 1).int(3, -1).done())},
		{"page header: field 2 is 4294967296, which is no 32-bit number", string(new(thrift).int(1, 0).int(2, 1<<32).done())},
		{"page header: page kind 1000", string(new(thrift).int(1, 1000).done())},
		{"page header: kind or sizes are missing", string(new(thrift).int(1, 0).int(2, 1).sub(5, data()).done())},
		{"page header: a data page with the description of another kind", string(new(thrift).int(1, 0).int(2, 1).int(3, 1).sub(7, data()).done())},
		{"page header: a dictionary page with the description of another kind", string(new(thrift).int(1, 2).int(2, 1).int(3, 1).done())},
		{"page header: 40 bytes of levels in a page of 100 bytes, 39 in the file",
			string(new(thrift).int(1, 3).int(2, 100).int(3, 39).sub(8, new(thrift).int(5, 30).int(6, 10)).done())},
		{"page header: 2 of 1 values are null", string(new(thrift).int(1, 3).int(2, 9).int(3, 9).sub(8, new(thrift).int(1, 1).int(2, 2)).done())},
		{"page header: an unknown Thrift type, 14", "\x9e"},
		{"page header: a length of 4294967295 where 0 bytes are left", "\x98\xff\xff\xff\xff\x0f"},
		{"page header: more than 64 structs and lists in one another", strings.Repeat("\x9c", 200)},
		{"page header: field 1 is not an integer", "\x1c"},
		{"page header: a number is longer than 10 bytes", "\x15" + strings.Repeat("\xff", 20)},
	} {
		_, _, err := ParsePageHeader([]byte(c.header))
		if err == nil || err.Error() != c.want || !errors.Is(err, format.ErrData) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestBadOffsetIndexes(t *testing.T) {
	at := func(off, size, row int64) *thrift { return new(thrift).int(1, off).int(2, size).int(3, row) }
	for _, c := range []struct {
		want  string
		index *thrift
	}{
		{"offset index: a page at -1 that begins with row 0", new(thrift).structs(1, at(-1, 1, 0))},
		{"offset index: field 2 is -5, which is no size", new(thrift).structs(1, at(1, -5, 0))},
		{"offset index: page 1 lies before the end of page 0", new(thrift).structs(1, at(10, 5, 0), at(14, 5, 3))},
		{"offset index: page 1 lies before the end of page 0", new(thrift).structs(1, at(10, 5, 9), at(15, 5, 3))},
		{"offset index: ends too early", new(thrift).list(1, wireStruct, 100)},
		{"offset index: field 1 is a list of another type", new(thrift).list(1, wireI64, 1)},
	} {
		_, err := ParseOffsetIndex(c.index.done(), nil)
		if err == nil || err.Error() != c.want || !errors.Is(err, format.ErrData) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func BenchmarkPageHeader(b *testing.B) {
	h := new(thrift).int(1, 0).int(2, 1<<20).int(3, 1<<19).
		sub(5, new(thrift).int(1, 20000).int(2, 8).int(3, 3).int(4, 3).
			sub(5, new(thrift).int(3, 0).text(5, "12345678").text(6, "12345678"))).done()
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := ParsePageHeader(h); err != nil {
			b.Fatal(err)
		}
	}
}
