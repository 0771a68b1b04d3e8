package meta

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

// FuzzFooter: any footer is read, or an error; memory stays in the share, and
// chunks lie in the file.
func FuzzFooter(f *testing.F) {
	small := smallFile()
	f.Add(small[36 : len(small)-8])
	wide := wideFile(20, "note")
	f.Add(wide[36 : len(wide)-8])
	zones := zoneFile(arrowRemark)
	f.Add(zones[36 : len(zones)-8])
	files, _ := filepath.Glob(filepath.Join(os.Getenv("WEIR_CORPUS"), "parquet-testing", "data", "*.parquet"))
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if r, err := open(f, data); err == nil && r.win.length < 4000 {
			f.Add(data[r.win.start : len(data)-8])
		}
	}
	f.Fuzz(func(t *testing.T, footer []byte) {
		share := mem.New(64 << 20)
		f, err := Read(t.Context(), &memReader{data: file(footer)}, "x", share)
		if err != nil {
			if !errors.Is(err, format.ErrData) && !errors.Is(err, mem.ErrTooSmall) {
				t.Fatal(err)
			}
		} else {
			for g := range min(f.Groups(), 3) {
				chunks, err := f.Chunks(t.Context(), g, allLeaves(f), nil)
				if err != nil && !errors.Is(err, format.ErrData) {
					t.Fatal(err)
				}
				for _, c := range chunks {
					if c.Start < 4 || c.Compressed < 0 || c.Start+c.Compressed > 36 || c.Values < 0 {
						t.Fatalf("%+v", c)
					}
				}
			}
		}
		if narrow, narrowErr := readNarrow(t, file(footer)); (err == nil) != (narrowErr == nil) {
			t.Fatalf("%v; through a window of 7 bytes: %v", err, narrowErr)
		} else if err == nil && !narrow.Schema.Arrow.Equal(f.Schema.Arrow) {
			t.Fatalf("%v; through a window of 7 bytes: %v", f.Schema.Arrow, narrow.Schema.Arrow)
		}
		f.Close()
		if share.Leased() != 0 {
			t.Fatal("a lease is left")
		}
	})
}

// FuzzPageHeader: a header without error has sane numbers, and every
// beginning of it is ErrShort.
func FuzzPageHeader(f *testing.F) {
	f.Add(v2Header())
	f.Add(new(thrift).int(1, 0).int(2, 9).int(3, 9).sub(5, new(thrift).int(1, 1).int(2, 0).int(3, 3).int(4, 3)).done())
	f.Add(new(thrift).int(1, 2).int(2, 9).int(3, 9).sub(7, new(thrift).int(1, 1).int(2, 2).bool(3, true)).done())
	f.Fuzz(func(t *testing.T, b []byte) {
		h, n, err := ParsePageHeader(b)
		if err != nil {
			if !errors.Is(err, ErrShort) && !errors.Is(err, format.ErrData) {
				t.Fatal(err)
			}
			return
		}
		if min(h.Compressed, h.Uncompressed, h.Values, h.Nulls, h.Rows, h.DefLen, h.RepLen) < 0 || n > len(b) {
			t.Fatalf("%+v, %d of %d", h, n, len(b))
		}
		for i := range n {
			if _, _, err := ParsePageHeader(b[:i]); !errors.Is(err, ErrShort) {
				t.Fatalf("%d of %d bytes: %v", i, n, err)
			}
		}
	})
}

// FuzzOffsetIndex: the pages of an index without error follow one another.
func FuzzOffsetIndex(f *testing.F) {
	at := func(off, size, row int64) *thrift { return new(thrift).int(1, off).int(2, size).int(3, row) }
	f.Add(new(thrift).structs(1, at(4, 10, 0), at(14, 10, 5)).list(2, wireI64, 0).done())
	f.Fuzz(func(t *testing.T, b []byte) {
		pages, err := ParseOffsetIndex(b, nil)
		if err != nil {
			if !errors.Is(err, format.ErrData) {
				t.Fatal(err)
			}
			return
		}
		end, row := int64(0), int64(0)
		for _, p := range pages {
			if p.Offset < end || p.FirstRow < row {
				t.Fatalf("%+v", pages)
			}
			end, row = p.Offset+int64(p.Size), p.FirstRow
		}
	})
}
