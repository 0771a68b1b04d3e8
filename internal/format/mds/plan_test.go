package mds

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// disk is a store of a few files.
type disk struct {
	names []string
	files [][]byte
}

func (m disk) objects() []store.Object {
	var out []store.Object
	for i, n := range m.names {
		out = append(out, store.Object{URL: n, Size: int64(len(m.files[i]))})
	}
	return out
}

func (m disk) List(context.Context, string) ([]store.Object, error) { return m.objects(), nil }

func (m disk) Open(_ context.Context, o store.Object) (store.Reader, error) {
	for i, n := range m.names {
		if n == o.URL {
			return reader{m.files[i]}, nil
		}
	}
	return nil, store.ErrNotFound
}

type reader struct{ data []byte }

func (r reader) ReadAt(_ context.Context, p []byte, off int64) error {
	if off > int64(len(r.data)) || copy(p, r.data[off:]) < len(p) {
		return io.ErrUnexpectedEOF
	}
	return nil
}
func (r reader) Size() int64     { return int64(len(r.data)) }
func (r reader) Remote() bool    { return false }
func (r reader) Drop(_, _ int64) {}
func (r reader) Want(_, _ int64) {}
func (r reader) Close() error    { return nil }

// outcome is what reading gave.
type outcome struct {
	records []arrow.RecordBatch
	rows    int64
	info    format.Info
	err     error
}

func readAll(t testing.TB, names []string, files [][]byte, edit func(*format.Options)) (o outcome) {
	t.Helper()
	var opt format.Options
	if edit != nil {
		edit(&opt)
	}
	m := disk{names, files}
	ds, err := Plan(context.Background(), format.Source{Store: m, Objects: m.objects()}, opt)
	if err != nil {
		return outcome{err: err}
	}
	o.info = ds.Info()
	share := mem.New(1 << 40) // all batches are kept
	s, err := ds.Open(context.Background(), share, stream.Cursor{}, nil)
	if err != nil {
		return outcome{err: err}
	}
	defer s.Close()
	for {
		b, err := s.Next(context.Background())
		if err != nil {
			if !errors.Is(err, io.EOF) {
				o.err = err
			}
			return o
		}
		o.rows += b.Rows()
		o.records = append(o.records, b.Record)
	}
}

func TestInfoIsExact(t *testing.T) {
	a, _ := simpleRows(0, 30)
	b, _ := simpleRows(30, 12)
	names, files := directory(t, "d/", made{columns: simple, samples: a}, made{columns: simple, samples: b, compression: "gz"})
	got := readAll(t, names, files, nil)
	bytes := int64(len(files[1]) + len(files[2]))
	if i := got.info; got.err != nil || i.Rows != 42 || i.Groups != 2 || i.Bytes != bytes || got.rows != 42 {
		t.Errorf("%+v, %d rows, %v", i, got.rows, got.err)
	}
}

// entryOf is that of one shard of simple rows in a directory.
func entryOf(t *testing.T, m made) (string, []byte, map[string]any) {
	t.Helper()
	if m.columns == nil {
		m.columns = simple
	}
	m.samples, _ = simpleRows(0, 4)
	return m.files(t)
}

func TestMergedIndexStandsForThoseBelow(t *testing.T) {
	_, a, ea := entryOf(t, made{name: "shard.00000.mds"})
	_, b, eb := entryOf(t, made{name: "shard.00000.mds"})
	low := [][]byte{index(t, ea), a, index(t, eb), b}
	names := []string{"d/1/index.json", "d/1/shard.00000.mds", "d/2/index.json", "d/2/shard.00000.mds", "d/index.json"}
	if got := readAll(t, names[:4], low, nil); got.err != nil || got.rows != 8 {
		t.Errorf("%d rows, %v", got.rows, got.err)
	}
	_, _, ta := entryOf(t, made{name: "1/shard.00000.mds"})
	_, _, tb := entryOf(t, made{name: "2/shard.00000.mds"})
	if got := readAll(t, names, append(low[:4:4], index(t, tb, ta)), nil); got.err != nil || got.rows != 8 {
		t.Errorf("merged: %d rows, %v", got.rows, got.err)
	}
}

func TestRawIsPreferredAndEitherSuffices(t *testing.T) {
	m := made{name: "s.mds", compression: "zstd"}
	name, zip, e := entryOf(t, m)
	m.columns = simple
	m.samples, _ = simpleRows(0, 4)
	raw := m.raw()
	files := map[string][]byte{name: zip, "s.mds": raw}
	for _, have := range [][]string{{name}, {"s.mds"}, {name, "s.mds"}} {
		names, data := []string{"index.json"}, [][]byte{index(t, e)}
		for _, n := range have {
			names, data = append(names, n), append(data, files[n])
		}
		got := readAll(t, names, data, nil)
		bytes := int64(len(data[len(data)-1]))
		if got.err != nil || got.rows != 4 || got.info.Bytes != bytes {
			t.Errorf("%v: %d rows, %d bytes, %v", have, got.rows, got.info.Bytes, got.err)
		}
	}
}

func TestWhatIsWrongIsNamed(t *testing.T) {
	shard, raw, e := entryOf(t, made{name: "s.mds", hashes: []string{"sha256"}})
	edit := func(f func(map[string]any)) [][]byte {
		_, _, e := entryOf(t, made{name: "s.mds", hashes: []string{"sha256"}})
		f(e)
		return [][]byte{index(t, e), raw}
	}
	info := func(e map[string]any) map[string]any { return e["raw_data"].(map[string]any) }
	spoiled := append([]byte{}, raw...)
	spoiled[len(raw)-1] ^= 1
	offset := append([]byte{}, raw...)
	offset[9]++
	_, pickle, pickled := made{columns: []column{{"p", "pkl", 0}}, name: "s.mds"}.files(t)
	for _, c := range []struct {
		files [][]byte
		kind  error
		text  string
	}{
		{[][]byte{index(t, e), spoiled}, format.ErrData, "mds: s.mds: its sha256 is "},
		{edit(func(e map[string]any) { info(e)["basename"] = "t.mds" }), format.ErrData, "mds: index.json: shard t.mds is missing"},
		{edit(func(e map[string]any) { info(e)["bytes"] = 1 }), format.ErrData, "the index says 1"},
		{edit(func(e map[string]any) { e["samples"] = 3 }), format.ErrData, "it has 4 samples, the index says 3"},
		{edit(func(e map[string]any) { info(e)["hashes"] = map[string]string{"crc7": "00"} }), format.ErrData, `hash "crc7" is not one of`},
		{edit(func(e map[string]any) { e["column_encodings"] = []string{"int", "new"} }), format.ErrData, `column "text": encoding "new" is not known`},
		{edit(func(e map[string]any) { e["column_sizes"] = []any{4, nil} }), format.ErrData, `column "id": int has values of 8 bytes`},
		{edit(func(e map[string]any) { e["format"] = "xsv" }), format.ErrData, `a shard of format "xsv"`},
		{edit(func(e map[string]any) { e["version"] = 3 }), format.ErrData, "version 3"},
		{[][]byte{[]byte(`{"shards": [`), raw}, io.ErrUnexpectedEOF, "index.json: shard 0: byte 12"},
		{[][]byte{[]byte(`{"version": 2}`), raw}, format.ErrData, `no "shards"`},
		{[][]byte{index(t, e, e), raw}, format.ErrData, "s.mds: it is listed twice"},
		{[][]byte{index(t, pickled), pickle}, format.ErrUsage, `column "p": pkl is not read`},
		{[][]byte{index(t, func() map[string]any { info(e)["hashes"] = nil; return e }()), offset}, format.ErrData, "s.mds: byte"},
	} {
		got := readAll(t, []string{"index.json", shard}, c.files, nil)
		if !errors.Is(got.err, c.kind) || !strings.Contains(fmt.Sprint(got.err), c.text) {
			t.Errorf("%v; want %q", got.err, c.text)
		}
	}
	if got := readAll(t, []string{"x/index.json"}, [][]byte{index(t, e)}, nil); !errors.Is(got.err, format.ErrUsage) || !strings.Contains(got.err.Error(), "give the directory") {
		t.Error(got.err)
	}
	other := []column{{"id", "int32", 4}, {"text", "str", 0}}
	names, files := directory(t, "", made{columns: simple}, made{columns: other})
	if got := readAll(t, names, files, nil); !errors.Is(got.err, format.ErrData) || !strings.Contains(got.err.Error(), "columns [id:int32 text:str]; the first shard has [id:int text:str]") {
		t.Error(got.err)
	}
}

func TestBadSamplesAreLeftOutWhereThatIsWanted(t *testing.T) {
	columns := []column{{"a", "ndarray:int16", 0}}
	samples := [][][]byte{{{4, 1, 5, 0}}, {{4, 2, 5, 0}}, {{4, 1, 6, 0}}}
	names, files := directory(t, "", made{columns: columns, samples: samples})
	var bad []error
	got := readAll(t, names, files, func(o *format.Options) { o.Bad = func(err error) { bad = append(bad, err) } })
	if got.err != nil || got.rows != 2 || len(bad) != 1 || !strings.Contains(bad[0].Error(), `column "a": an array of 4 bytes has 2`) {
		t.Errorf("%d rows, %v, %v", got.rows, got.err, bad)
	}
}

func TestGatherGoesByNames(t *testing.T) {
	list := func(names ...string) []store.Object {
		return disk{names: names, files: make([][]byte, len(names))}.objects()
	}
	for _, c := range []struct{ in, want string }{
		{"d/index.json d/shard.00000.mds d/readme.md", "d/index.json d/shard.00000.mds"},
		{"d/index.json d/a.mds.zstd e/index.json e/x.json", "d/index.json d/a.mds.zstd"},
		{"d/index.json d/sub/a.mds", "d/index.json d/sub/a.mds"},
		{"index.json a.mds", "index.json a.mds"},
		{"s3://b/k/index.json s3://b/k/a.mds s3://b/other/a.mds", "s3://b/k/index.json s3://b/k/a.mds"},
		{"d/index.json d/x.parquet", ""},
		{"d/shard.00000.mds", ""},
	} {
		var got []string
		for _, o := range gather(list(strings.Fields(c.in)...)) {
			got = append(got, o.URL)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v", c.in, got)
		}
	}
}

func TestSniffKnowsAnIndex(t *testing.T) {
	for text, want := range map[string]bool{
		`{"shards": [], "version": 2}`:             true,
		"\n { \"version\": 2,\n \"shards\": [{}]}": true,
		`{"shards": [{"column_encodings": ["`:      true,
		`{"text": "shards", "version": 1}`:         false,
		`[{"shards": 1, "version": 2}]`:            false,
		``:                                         false,
	} {
		if sniff(format.Clue{Name: "index.json", Head: []byte(text)}) != want {
			t.Error(text)
		}
	}
}

// TestIndexPassesThroughAWindow: however many shards it lists, little of the
// text is held at once, and little of each shard kept.
func TestIndexPassesThroughAWindow(t *testing.T) {
	_, _, e := entryOf(t, made{name: "s.mds", hashes: []string{"sha1"}})
	one := index(t, e)
	const shards = 3000
	text := append([]byte{}, one[:len(one)-len(`],"version":2}`)]...)
	item := text[len(`{"shards":[`):]
	for range shards - 1 {
		text = append(append(text, ','), item...)
	}
	text = append(text, `],"version":2}`...)
	m := disk{[]string{indexName}, [][]byte{text}}
	in, err := input.Open(t.Context(), input.Config{Store: m, Object: m.objects()[0], Ahead: input.Least})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	w := &window{ctx: t.Context(), in: in}
	n := 0
	if err := w.index(func(*entry) error { n++; return nil }); err != nil || n != shards {
		t.Fatalf("%d shards, %v", n, err)
	}
	if len(w.buf) > windowLeast {
		t.Errorf("%d bytes of %d held", len(w.buf), len(text))
	}
	if size := unsafe.Sizeof(shard{}); size > 40 {
		t.Errorf("%d bytes a shard", size)
	}
	huge := []byte(`{"shards": [{"format": "` + strings.Repeat("x", windowMost) + `"}]}`)
	if got := readAll(t, []string{indexName}, [][]byte{huge}, nil); !errors.Is(got.err, format.ErrData) || !strings.Contains(got.err.Error(), "a value of more than") {
		t.Error(got.err)
	}
}
