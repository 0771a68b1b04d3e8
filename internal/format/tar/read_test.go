package tar

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// parseAll counts the samples of data.
func parseAll(t testing.TB, schema *arrow.Schema, data []byte) (int, error) {
	t.Helper()
	b, err := build.New(schema)
	if err != nil {
		t.Fatal(err)
	}
	budget := mem.New(1 << 20)
	defer budget.Trim()
	block, err := budget.Map(t.Context(), 64<<10)
	if err != nil {
		t.Fatal(err)
	}
	defer block.Free()
	b.Reset(block, 0)
	p := newParser(b, nil)
	err = p.Parse(&records.Piece{Data: data})
	return b.Rows(), err
}

// read gives all batches of a file to visit.
func read(t testing.TB, name string, visit func(arrow.RecordBatch)) {
	t.Helper()
	s := store.New(store.Options{})
	list, err := s.List(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	ds, err := Plan(t.Context(), format.Source{Store: s, Objects: list}, format.Options{Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	in, err := ds.Open(t.Context(), mem.New(ds.Floor()+16<<20), stream.Cursor{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	for {
		b, err := in.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(b.Record)
		b.Release()
	}
}

func countRows(t testing.TB, name string) int {
	n := 0
	read(t, name, func(r arrow.RecordBatch) { n += int(r.NumRows()) })
	return n
}

// buffer is an Output in memory.
type buffer struct{ bytes.Buffer }

func (b *buffer) Patch(p []byte, off int64) error { copy(b.Bytes()[off:], p); return nil }

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	in := table(t, fields(Key, str, "txt", str, "bin", bin, "json", arrow.ListOf(arrow.PrimitiveTypes.Int64), "n", arrow.PrimitiveTypes.Float64), `[
		{"__key__":"a/b","txt":"é","bin":"AAE=","json":[1,null],"n":1.5},
		{"__key__":"`+strings.Repeat("long", 60)+`","txt":"","n":2},
		{"__key__":"c","json":[]}]`)
	share := mem.New(1 << 20)
	var out buffer
	w := Writer()
	if _, _, err := w.Memory(in.Schema(), format.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	f, err := w.Begin(&out, in.Schema(), format.WriteOptions{}, share)
	if err != nil {
		t.Fatal(err)
	}
	half := in.NewSlice(1, 3)
	for _, r := range []arrow.RecordBatch{in.NewSlice(0, 1), half} {
		if err := f.Write(&stream.Batch{Record: r}); err != nil {
			t.Fatal(err)
		}
	}
	if part, err := f.Close(); err != nil || part.Rows != 3 || f.Size() != int64(out.Len()) || share.Leased() != 0 {
		t.Fatal(part, err, f.Size(), out.Len(), share.Leased())
	}
	var got []string
	name := t.TempDir() + "/x.tar"
	writeFile(t, name, out.Bytes())
	read(t, name, func(r arrow.RecordBatch) {
		for i := range int(r.NumRows()) {
			line := ""
			for j, c := range r.Columns() {
				if c.IsNull(i) {
					continue
				}
				v := c.ValueStr(i)
				if b, ok := c.(*array.Binary); ok {
					v = string(b.Value(i))
				}
				line += r.ColumnName(j) + "=" + v + " "
			}
			got = append(got, line)
		}
	})
	want := []string{"__key__=a/b txt=é bin=\x00\x01 json=[1,null] n=1.5 ", "__key__=" + strings.Repeat("long", 60) + " txt= n=2 ", "__key__=c json=[] "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

func TestColumnsThatCannotBeMembersAreRefused(t *testing.T) {
	for _, name := range []string{"A", "a/b", ".a", ""} {
		if _, _, err := Writer().Memory(fields(name, str), format.WriteOptions{}); !errors.Is(err, format.ErrUsage) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func writeFile(t testing.TB, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
