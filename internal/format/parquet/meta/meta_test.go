package meta

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/weir-data/weir/internal/codec"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
)

func TestSmallFileIsReadInOneRequest(t *testing.T) {
	r := &memReader{data: smallFile()}
	share := mem.New(1 << 20)
	f, err := Read(t.Context(), r, "x.parquet", share)
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := f.Chunks(t.Context(), 1, []int{1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := Chunk{Leaf: 1, Type: Int32, Codec: codec.Zstd, Values: 1, Compressed: 10, Uncompressed: 20,
		Start: 4, DictOffset: 4, DataOffset: 6, OffsetIndex: 4, OffsetIndexLen: 10, Nulls: 1, HasDict: true}
	if len(chunks) != 1 || chunks[0] != want {
		t.Errorf("got %+v\nwant %+v", chunks, want)
	}
	first, rows := f.Group(1)
	if f.Groups() != 2 || first != 3 || rows != 4 || f.Rows != 7 || f.CreatedBy != "test" {
		t.Errorf("%d groups, the second from row %d with %d rows of %d, by %q", f.Groups(), first, rows, f.Rows, f.CreatedBy)
	}
	if n := r.reads.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
	if f.Leased() > 16<<10 || share.Used() != f.Leased() {
		t.Errorf("leases %d bytes, the budget says %d", f.Leased(), share.Used())
	}
	f.Close()
	f.Close()
	if _, err := f.Chunks(t.Context(), 1, []int{1}, nil); err == nil {
		t.Error("chunks of a closed file")
	}
	if n := share.Leased(); n != 0 {
		t.Errorf("%d bytes are leased after Close", n)
	}
}

// TestEveryCutIsAnError cuts a file everywhere, and cuts its footer
// everywhere while the file's end stays whole.
func TestEveryCutIsAnError(t *testing.T) {
	whole := smallFile()
	footer := whole[36 : len(whole)-8]
	for i := range whole {
		if _, err := open(t, whole[:i]); !errors.Is(err, format.ErrData) {
			t.Fatalf("cut to %d bytes: %v", i, err)
		}
	}
	for i := range footer {
		if _, err := open(t, file(footer[:i])); !errors.Is(err, format.ErrData) {
			t.Fatalf("footer cut to %d bytes: %v", i, err)
		}
	}
}

func TestReadErrors(t *testing.T) {
	schema := func(elems ...*thrift) string { return string(file(new(thrift).structs(2, elems...).done())) }
	deep := []*thrift{group("root", 1)}
	for range 300 {
		deep = append(deep, group("g", 1))
	}
	for _, c := range []struct{ want, data string }{
		{"parquet: x.parquet: 5 bytes are too short for a Parquet file", "hello"},
		{`parquet: x.parquet: not a Parquet file: it begins with "hell", not with "PAR1"`, "hello, world!"},
		{`parquet: x.parquet: not a whole Parquet file: it ends with "rld!", not with "PAR1"`, "PAR1o, world!"},
		{"parquet: x.parquet: encrypted: weir cannot read files with an encrypted footer", "PARE\x00\x00\x00\x00PARE"},
		{"parquet: x.parquet: a footer of 16777215 bytes in a file of 12: damaged or cut off", "PAR1\xff\xff\xff\x00PAR1"},
		{"parquet: x.parquet: footer: ends too early", "PAR1\x00\x00\x00\x00PAR1"},
		{"parquet: x.parquet: footer: schema: empty", string(file([]byte{0}))},
		{"parquet: x.parquet: footer: schema: the tree needs more than its 2 elements", schema(group("root", 2), leaf("a", Int32))},
		{"parquet: x.parquet: footer: schema: 3 elements, the tree has 2", schema(group("root", 1), leaf("a", Int32), leaf("b", Int32))},
		{"parquet: x.parquet: footer: schema element 1: unknown type 9", schema(group("root", 1), leaf("a", 9))},
		{"parquet: x.parquet: footer: schema element 1: unknown repetition 3", schema(group("root", 1), new(thrift).int(1, 1).int(3, 3))},
		{`parquet: x.parquet: footer: schema element 201, "g": more than 200 groups in one another`, schema(deep...)},
		{"parquet: x.parquet: footer: 10 row groups where 13 bytes are left",
			string(file(append(new(thrift).list(4, wireStruct, 10).b, make([]byte, 13)...)))},
		{"parquet: x.parquet: footer: row group 1: no number of rows",
			string(file(new(thrift).structs(4, rowGroup(1), new(thrift).int(2, 1).int(5, 4444).int(6, 4444)).done()))},
		{"parquet: x.parquet: footer: row group 1: more rows than can be counted",
			string(file(new(thrift).structs(4, rowGroup(1<<62), rowGroup(1<<62)).done()))},
	} {
		_, err := open(t, []byte(c.data))
		if err == nil || err.Error() != c.want || !errors.Is(err, format.ErrData) {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}

func TestChunkErrors(t *testing.T) {
	column := func(m *thrift) *thrift { return new(thrift).sub(3, m) }
	good := func() *thrift { return new(thrift).int(1, int64(Int32)).int(4, 0).int(5, 1).int(7, 10) }
	for _, c := range []struct {
		want   string
		chunks []*thrift
	}{
		{`row group 0: it has 2 columns, the schema has 1`, []*thrift{chunkOf("a"), chunkOf("a")}},
		{`row group 0, column "a": encrypted or damaged: the footer does not describe it`, []*thrift{new(thrift).int(2, 1)}},
		{`row group 0, column "a": encrypted: weir cannot read encrypted columns`,
			[]*thrift{column(good().int(9, 4)).sub(8, new(thrift).sub(1, new(thrift)))}},
		{`row group 0, column "a": its data is in another file`, []*thrift{new(thrift).text(1, "b.parquet").sub(3, good().int(9, 4))}},
		{`row group 0, column "a": stored as DOUBLE, the schema says INT32`, []*thrift{column(new(thrift).int(1, int64(Double)))}},
		{`row group 0, column "a": compressed with LZO, which weir cannot read`, []*thrift{column(new(thrift).int(1, 1).int(4, 3))}},
		{`row group 0, column "a": compressed with codec 8, which weir does not know`, []*thrift{column(new(thrift).int(1, 1).int(4, 8))}},
		{`row group 0, column "a": -1 values in 0 bytes, 0 in the file`, []*thrift{column(new(thrift).int(1, 1).int(5, -1))}},
		{`row group 0, column "a": its pages, 10 bytes at 30, are not in the file, whose data ends at 36`, []*thrift{column(good().int(9, 30))}},
		{`row group 0, column "a": its pages, 10 bytes at 0, are not in the file, whose data ends at 36`, []*thrift{column(good())}},
	} {
		f, err := open(t, file(new(thrift).structs(2, group("root", 1), leaf("a", Int32)).structs(4, rowGroup(1, c.chunks...)).done()))
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.Chunks(t.Context(), 0, []int{0}, nil)
		if want := "parquet: x.parquet: " + c.want; err == nil || err.Error() != want || !errors.Is(err, format.ErrData) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
}

// TestDictionaryPlaces holds what writers state when there is no dictionary
// page, or one.
func TestDictionaryPlaces(t *testing.T) {
	f := &File{win: window{start: 1000}}
	for _, c := range []struct{ dict, data, start, wantDict int64 }{
		{0, 4, 4, 0}, {4, 20, 4, 4}, {4, 4, 4, 0}, {30, 20, 20, 0}, {-1, 20, 20, 0},
	} {
		chunk := Chunk{Values: 1, Compressed: 5, DictOffset: c.dict, DataOffset: c.data}
		if err := f.place(&chunk); err != nil || chunk.Start != c.start || chunk.DictOffset != c.wantDict {
			t.Errorf("dictionary %d, data %d: starts at %d, dictionary at %d, %v", c.dict, c.data, chunk.Start, chunk.DictOffset, err)
		}
	}
	f.pad = padding("parquet-mr version 1.2.8 (build x)")
	chunk := Chunk{Values: 1, Compressed: 5, DataOffset: 4}
	if err := f.place(&chunk); err != nil || chunk.Compressed != 105 || padding("parquet-mr version 1.12.0") != 0 {
		t.Errorf("an old writer's chunk has %d bytes, %v", chunk.Compressed, err)
	}
}

func TestReadWaitsForMemoryAndRefusesTheImpossible(t *testing.T) {
	data := wideFile(1000, "")
	share := mem.New(2 << 20)
	other, err := share.Acquire(t.Context(), share.Limit()-100<<10)
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, other.Release)
	f, err := Read(t.Context(), &memReader{data: data}, "x.parquet", share)
	if err != nil {
		t.Fatal(err)
	}
	f.Close()

	_, err = Read(t.Context(), &memReader{data: data}, "x.parquet", mem.New(500<<10))
	if !errors.Is(err, mem.ErrTooSmall) || errors.Is(err, format.ErrData) {
		t.Errorf("in 500 KiB: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err = Read(ctx, &memReader{data: data}, "x.parquet", share); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if n := share.Leased(); n != 0 {
		t.Errorf("%d bytes are leased at the end", n)
	}
}

func TestFileThatShrinksIsAnError(t *testing.T) {
	r := &shrunk{memReader{data: bytes.Repeat([]byte("PAR1"), 50000)}}
	if _, err := Read(t.Context(), r, "x.parquet", mem.New(1<<20)); !errors.Is(err, format.ErrData) {
		t.Error(err)
	}
}

// shrunk is longer by its size than by its bytes.
type shrunk struct{ memReader }

func (r *shrunk) Size() int64 { return int64(len(r.data)) + 1 }
