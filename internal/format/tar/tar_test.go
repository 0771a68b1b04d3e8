package tar

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/formattest"
	"github.com/weir-data/weir/internal/format/records"
)

// archive makes a tar of names and their bytes, in turn.
func archive(t testing.TB, pairs ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for i := 0; i < len(pairs); i += 2 {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: pairs[i], Size: int64(len(pairs[i+1])), Mode: 0o644}
		if strings.HasSuffix(pairs[i], "/") {
			h.Typeflag, h.Size = tar.TypeDir, 0
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if h.Size > 0 {
			w.Write([]byte(pairs[i+1]))
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	z.Write(data)
	z.Close()
	return out.Bytes()
}

// table makes a record of JSON rows.
func table(t testing.TB, schema *arrow.Schema, rows string) arrow.RecordBatch {
	t.Helper()
	r, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fields(types ...any) *arrow.Schema {
	var out []arrow.Field
	for i := 0; i < len(types); i += 2 {
		out = append(out, arrow.Field{Name: types[i].(string), Type: types[i+1].(arrow.DataType), Nullable: true})
	}
	return arrow.NewSchema(out, nil)
}

var str, bin = arrow.BinaryTypes.String, arrow.BinaryTypes.Binary

func TestSamplesAreRows(t *testing.T) {
	long := strings.Repeat("a long folder/", 20) + "k"
	first := archive(t, "dir/", "", "dir/a.txt", "hello", "dir/a.seg.PNG", "\x89PNG", "__meta__", "x", "dir/b.seg.png", "", "no extension", "-",
		"dir/b.txt", strings.Repeat("é", 700), long+".txt", "long")
	second := archive(t, "./x.seg.png", "1", "./x.json", `{"y":1}`)
	want := table(t, fields(Key, str, "txt", str, "seg.png", bin, "json", str), `[
		{"__key__":"dir/a","txt":"hello","seg.png":"iVBORw=="},
		{"__key__":"dir/b","txt":"`+strings.Repeat("é", 700)+`","seg.png":""},
		{"__key__":"`+long+`","txt":"long"},
		{"__key__":"x","seg.png":"MQ==","json":"{\"y\":1}"}]`)
	small := archive(t, "a.txt", "hello", "a.bin", "\x00", "b.txt", "there")
	formattest.Run(t, formattest.Case{
		Format: Format(),
		Files:  [][]byte{first, zipped(t, second), archive(t)},
		Want:   []arrow.RecordBatch{want},
		Damage: small[:len(small)-block], // of two marks of the end one is enough
		Stride: 7,
	})
}

func TestColumnsAreChosen(t *testing.T) {
	var pairs []string
	for i := range 50 {
		pairs = append(pairs, fmt.Sprint(i, ".jpg"), strings.Repeat("j", 100*i), fmt.Sprint(i, ".cls"), fmt.Sprint(i%10))
	}
	var rows []string
	for i := range 50 {
		rows = append(rows, fmt.Sprintf(`{"cls":"%d","__key__":"%d"}`, i%10, i))
	}
	formattest.Run(t, formattest.Case{
		Format:  Format(),
		Options: format.Options{Columns: []string{"cls", Key}},
		Files:   [][]byte{archive(t, pairs...)},
		Want:    []arrow.RecordBatch{table(t, fields("cls", str, Key, str), "["+strings.Join(rows, ",")+"]")},
	})
}

func TestErrorsNameTheMember(t *testing.T) {
	whole := archive(t, "a.txt", "hello")
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"twice", archive(t, "a.txt", "1", "a.txt", "2"), `member "a.txt": the sample has a .txt already`},
		{"no end", whole[:1024], "the archive has no mark of its end"},
		{"cut", whole[:600], "the archive ends inside"},
		{"sum", append([]byte("b"), whole[1:]...), "the checksum of a tar header does not match"},
	} {
		_, _, err := (&cutter{}).Cut(c.data, true)
		if err == nil {
			schema := fields(Key, str, "txt", str)
			_, err = parseAll(t, schema, c.data)
		}
		var bad *records.Bad
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzCut(f *testing.F) {
	f.Add(archive(f, "a.txt", "hello", "a.bin", "\x00", "b.txt", "there"), uint16(700))
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		n := min(int(at), len(data))
		c := &cutter{}
		_, to, err := c.Cut(data[:n], false)
		if err != nil {
			return
		}
		if to > n || to == 0 && n > 0 && c.Need() <= int64(n) {
			t.Fatalf("cut at %d of %d, %d needed", to, n, c.Need())
		}
		// Samples are the same, cut or not.
		schema := fields(Key, str, "txt", bin)
		all, err1 := parseAll(t, schema, data)
		front, err2 := parseAll(t, schema, data[:to])
		back, err3 := parseAll(t, schema, data[to:])
		if err1 == nil && (err2 != nil || err3 != nil || all != front+back) {
			t.Fatalf("%d rows; cut at %d: %d %v and %d %v", all, to, front, err2, back, err3)
		}
	})
}

// TestCorpus reads archives that others made.
func TestCorpus(t *testing.T) {
	dir := os.Getenv("WEIR_CORPUS")
	if dir == "" {
		t.Skip("WEIR_CORPUS is not set")
	}
	for name, want := range map[string]int{"mpdata.tar": 100, "tendata.tar": 100, "sample.tgz": 90} {
		t.Run(name, func(t *testing.T) {
			if got := countRows(t, filepath.Join(dir, "webdataset", name)); got != want {
				t.Errorf("%d rows, want %d", got, want)
			}
		})
	}
}
