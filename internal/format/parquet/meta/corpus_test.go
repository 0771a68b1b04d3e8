package meta

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

var update = flag.Bool("update", false, "rewrite the expected text in testdata")

// TestCorpusIsReadAsPyarrowReadsIt holds every file of parquet-testing against
// testdata/corpus.txt, which was compared with what pyarrow 26 says. They
// differ, on purpose, where pyarrow restores types from its own schema that
// weir does without (decimal256 of few digits, lists of fixed size), takes no
// map with optional keys, hides null counts of columns without an order, and
// tells places of chunks that are not in the file.
func TestCorpusIsReadAsPyarrowReadsIt(t *testing.T) {
	dir := corpus(t)
	var got bytes.Buffer
	for _, sub := range []string{"data", "bad_data"} {
		files, err := filepath.Glob(filepath.Join(dir, sub, "*.parquet*"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files in %s/%s: %v", dir, sub, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, ".json") {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&got, "==", filepath.Base(file))
			describe(t, &got, data)
		}
	}
	golden := filepath.Join("testdata", "corpus.txt")
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		if i >= len(wantLines) || i >= len(gotLines) || wantLines[i] != gotLines[i] {
			t.Fatalf("line %d differs; -update rewrites %s\ngot  %q\nwant %q", i+1, golden, gotLines[i:min(i+1, len(gotLines))], wantLines[i:min(i+1, len(wantLines))])
		}
	}
}

// describe writes what a file says about itself, of its row groups the
// first.
func describe(t *testing.T, w io.Writer, data []byte) {
	f, err := open(t, data)
	if err != nil {
		if !errors.Is(err, format.ErrData) {
			t.Errorf("not a data error: %v", err)
		}
		fmt.Fprintln(w, "error", err)
		return
	}
	fmt.Fprintln(w, "rows", f.Rows, "groups", f.Groups(), "leaves", len(f.Schema.Leaves))
	for i, n := range f.Schema.Columns {
		if !n.Field.Equal(f.Schema.Arrow.Field(i)) {
			t.Errorf("column %d: %v, the Arrow schema has %v", i, n.Field, f.Schema.Arrow.Field(i))
		}
		show(w, n, 0)
	}
	for i, l := range f.Schema.Leaves {
		fmt.Fprintln(w, "leaf", i, l.Path, l.Type, "def", l.MaxDef, "rep", l.MaxRep)
	}
	codecs := []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}
	for g := range min(1, f.Groups()) {
		for _, leaf := range allLeaves(f) {
			chunks, err := f.Chunks(t.Context(), g, []int{leaf}, nil)
			if err != nil {
				fmt.Fprintln(w, "error", err)
				continue
			}
			c := chunks[0]
			fmt.Fprintln(w, "chunk", g, c.Leaf, codecs[c.Codec], "values", c.Values,
				"bytes", c.Compressed, c.Uncompressed, "at", c.Start, "nulls", c.Nulls)
		}
	}
}

// show writes a node a line, maps without their entries.
func show(w io.Writer, n *Node, depth int) {
	kind := [...]string{"", "struct", "list", "map"}[n.Kind]
	switch t := n.Field.Type.(type) {
	case *arrow.Decimal256Type:
		kind = fmt.Sprintf("decimal256(%d, %d)", t.Precision, t.Scale)
	default:
		if n.Kind == LeafKind {
			kind = n.Field.Type.String()
		}
	}
	if n.Field.Nullable {
		kind += "?"
	}
	fmt.Fprintf(w, "%s%s: %s\n", strings.Repeat("  ", depth), n.Field.Name, kind)
	children := n.Children
	if n.Kind == MapKind {
		children = children[0].Children
	}
	for _, c := range children {
		show(w, c, depth+1)
	}
}

// TestNarrowWindowReadsTheSame holds the window's edges against whole footers.
func TestNarrowWindowReadsTheSame(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(corpus(t), "data", "*.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := open(t, data)
		if err != nil {
			t.Fatal(err)
		}
		narrow, err := readNarrow(t, data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !narrow.Schema.Arrow.Equal(whole.Schema.Arrow) || narrow.Rows != whole.Rows {
			t.Errorf("%s: %v with %d rows, not %v with %d", name, narrow.Schema.Arrow, narrow.Rows, whole.Schema.Arrow, whole.Rows)
		}
		for g := range whole.Groups() {
			a, errA := whole.Chunks(t.Context(), g, allLeaves(whole), nil)
			b, errB := narrow.Chunks(t.Context(), g, allLeaves(whole), nil)
			if errA != nil || errB != nil || !slices.Equal(a, b) {
				t.Errorf("%s: row group %d: %v, %v; %v, %v", name, g, a, errA, b, errB)
			}
		}
	}
}
