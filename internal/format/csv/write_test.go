package csv_test

import (
	"bytes"
	stdcsv "encoding/csv"
	stdjson "encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/csv"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stream"
)

var update = flag.Bool("update", false, "rewrite testdata")

// buffer is an output in memory.
type buffer struct{ bytes.Buffer }

func (*buffer) Patch([]byte, int64) error { panic("a record was patched") }

func write(t *testing.T, recs ...arrow.RecordBatch) []byte {
	t.Helper()
	least, _, err := csv.Writer().Memory(recs[0].Schema(), format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out buffer
	share := mem.New(least)
	w, err := csv.Writer().Begin(&out, recs[0].Schema(), format.WriteOptions{}, share)
	if err != nil {
		t.Fatal(err)
	}
	var rows int64
	for _, r := range recs {
		if err := w.Write(&stream.Batch{Record: r}); err != nil {
			t.Fatal(err)
		}
		rows += r.NumRows()
	}
	part, err := w.Close()
	if err != nil || part.Rows != rows || w.Size() != int64(out.Len()) || share.Leased() != 0 {
		t.Fatalf("%v, %+v, size %d of %d, %d bytes leased", err, part, w.Size(), out.Len(), share.Leased())
	}
	return out.Bytes()
}

func TestRecordsReadBackAsTheValues(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 500, 1)
	rows, err := stdcsv.NewReader(bytes.NewReader(write(t, rec.NewSlice(5, 60), rec.NewSlice(60, 500)))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 496 {
		t.Fatalf("%d records, want a header and 495", len(rows))
	}
	for i, col := range rec.Columns() {
		if rows[0][i] != rec.ColumnName(i) {
			t.Errorf("header %q", rows[0][i])
		}
		for row := 5; row < 500; row++ {
			if got, want := rows[row-4][i], text(t, col, row); got != want {
				t.Errorf("%s: got %q, want %q", col.DataType(), got, want)
			}
		}
	}
}

// text is what a CSV reader should find, made from the JSON form, which has
// its own tests.
func text(t *testing.T, a arrow.Array, i int) string {
	t.Helper()
	if a.IsNull(i) {
		return ""
	}
	switch a := a.(type) {
	case *array.Null:
		return ""
	case *array.String:
		return strings.ReplaceAll(a.Value(i), "\r\n", "\n") // as encoding/csv reads it
	case *array.LargeString:
		return strings.ReplaceAll(a.Value(i), "\r\n", "\n")
	case *array.Dictionary:
		return text(t, a.Dictionary(), a.GetValueIndex(i))
	case *array.Float64, *array.Float32:
		f, _, _ := render.Scalar(a)
		return string(f(nil, i))
	}
	var out bytes.Buffer
	o := render.NewOut(&out)
	json.Bind(a)(o, i)
	o.Flush()
	var s string
	if stdjson.Unmarshal(out.Bytes(), &s) == nil {
		return s
	}
	return out.String()
}

func TestValuesAsGoldenText(t *testing.T) {
	pair := arrow.ListOf(arrow.BinaryTypes.String)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: `a "b", c`, Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "l", Type: pair, Nullable: true},
	}, nil)
	rows := `[{"s":"plain","a \"b\", c":1.5,"l":["x","say \"y\""]},
		{"s":"","a \"b\", c":null,"l":[]},
		{"s":null,"a \"b\", c":-2,"l":null},
		{"s":"two\nlines, \"quoted\"","a \"b\", c":0,"l":[null]}]`
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	one := arrow.NewSchema(schema.Fields()[:1], nil)
	got := append(write(t, rec), '\n')
	got = append(got, write(t, array.NewRecordBatch(one, rec.Columns()[:1], rec.NumRows()))...)
	const file = "testdata/values.txt"
	if *update {
		if err := os.WriteFile(file, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs; got:\n%s", file, got)
	}
}

func TestLargeFieldsAreWhole(t *testing.T) {
	long := strings.Repeat(`a "b",`, 50_000)
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "s", Type: arrow.BinaryTypes.String}, {Name: "l", Type: arrow.ListOf(arrow.BinaryTypes.String)}}, nil)
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	b.Field(0).(*array.StringBuilder).Append(long)
	l := b.Field(1).(*array.ListBuilder)
	l.Append(true)
	l.ValueBuilder().(*array.StringBuilder).Append(long)
	rows, err := stdcsv.NewReader(bytes.NewReader(write(t, b.NewRecordBatch()))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	if err := stdjson.Unmarshal([]byte(rows[1][1]), &list); err != nil {
		t.Fatal(err)
	}
	if rows[1][0] != long || list[0] != long {
		t.Error("a long field does not read back")
	}
}
