package json_test

import (
	"bytes"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"flag"
	"math"
	"math/big"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/runtest"
	"github.com/weir-data/weir/internal/stream"
)

var update = flag.Bool("update", false, "rewrite testdata")

// pieces counts what is written to it and how large a piece was at most.
type pieces struct {
	bytes.Buffer
	most int
}

func (p *pieces) Write(b []byte) (int, error) {
	p.most = max(p.most, len(b))
	return p.Buffer.Write(b)
}

// begin begins a file with the memory that the writer asks for.
func begin(t testing.TB, out *pieces, s *arrow.Schema) (format.File, *mem.Budget) {
	t.Helper()
	least, _, err := json.Writer().Memory(s, format.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	share := mem.New(least)
	w, err := json.Writer().Begin(out, s, format.WriteOptions{}, share)
	if err != nil {
		t.Fatal(err)
	}
	return w, share
}

func (p *pieces) Patch([]byte, int64) error { panic("a line was patched") }

func write(t *testing.T, recs ...arrow.RecordBatch) *pieces {
	t.Helper()
	var out pieces
	w, share := begin(t, &out, recs[0].Schema())
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
	return &out
}

func TestLinesReadBackAsTheValues(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 500, 1)
	out := write(t, rec.NewSlice(3, 100), rec.NewSlice(100, 500))
	d := stdjson.NewDecoder(out)
	d.UseNumber()
	for row := 3; row < 500; row++ {
		var got map[string]any
		if err := d.Decode(&got); err != nil {
			t.Fatal(err)
		}
		for i, col := range rec.Columns() {
			same(t, got[rec.ColumnName(i)], col, row)
		}
	}
	if d.More() {
		t.Error("more lines than rows")
	}
}

// same compares what a JSON reader found with the value of one row.
func same(t *testing.T, got any, a arrow.Array, i int) {
	t.Helper()
	if a.IsNull(i) || a.DataType().ID() == arrow.NULL {
		if got != nil {
			t.Errorf("%s: %v for a null", a.DataType(), got)
		}
		return
	}
	switch a := a.(type) {
	case *array.List:
		from, to := a.ValueOffsets(i)
		items(t, got, a.ListValues(), int(from), int(to))
	case *array.LargeList:
		from, to := a.ValueOffsets(i)
		items(t, got, a.ListValues(), int(from), int(to))
	case *array.FixedSizeList:
		items(t, got, a.ListValues(), i*3, i*3+3)
	case *array.Struct:
		for f := range a.NumField() {
			name := a.DataType().(*arrow.StructType).Field(f).Name
			same(t, got.(map[string]any)[name], a.Field(f), i)
		}
	case *array.Map:
		from, to := a.ValueOffsets(i)
		for k := int(from); k < int(to); k++ {
			same(t, got.(map[string]any)[a.Keys().(*array.String).Value(k)], a.Items(), k)
		}
	case *array.Dictionary:
		same(t, got, a.Dictionary(), a.GetValueIndex(i))
	default:
		if want := plain(t, a, i); got != want {
			t.Errorf("%s: got %v (%T), want %v", a.DataType(), got, got, want)
		}
	}
}

func items(t *testing.T, got any, a arrow.Array, from, to int) {
	t.Helper()
	list := got.([]any)
	if len(list) != to-from {
		t.Fatalf("%d items, want %d", len(list), to-from)
	}
	for k, v := range list {
		same(t, v, a, from+k)
	}
}

// plain is what a JSON reader should find for a value that is not nested,
// made by other means than the writer's.
func plain(t *testing.T, a arrow.Array, i int) any {
	t.Helper()
	float := func(v float64, bits int) any {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		return stdjson.Number(strconv.FormatFloat(v, 'g', -1, bits))
	}
	switch a := a.(type) {
	case *array.String:
		return strings.ToValidUTF8(a.Value(i), "\ufffd")
	case *array.LargeString:
		return a.Value(i)
	case *array.Binary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *array.FixedSizeBinary:
		return base64.StdEncoding.EncodeToString(a.Value(i))
	case *array.Boolean:
		return a.Value(i)
	case *array.Float64:
		return float(a.Value(i), 64)
	case *array.Float32:
		return float(float64(a.Value(i)), 32)
	case *array.Timestamp:
		unit := a.DataType().(*arrow.TimestampType).Unit
		if unit == arrow.Nanosecond {
			return a.Value(i).ToTime(unit).UTC().Format("2006-01-02T15:04:05.000000000")
		}
		return a.Value(i).ToTime(unit).UTC().Format("2006-01-02T15:04:05.000000Z07:00")
	case *array.Decimal128:
		v := new(big.Rat).SetFrac(a.Value(i).BigInt(), big.NewInt(1000))
		return stdjson.Number(v.FloatString(3))
	case *array.Date32:
		return a.Value(i).ToTime().Format(time.DateOnly)
	case *array.Time64:
		return a.Value(i).ToTime(arrow.Microsecond).Format("15:04:05.000000")
	}
	return stdjson.Number(a.ValueStr(i))
}

func TestValuesAsGoldenText(t *testing.T) {
	rows := `[
{"b":"AAEC","d":"0001-01-01","t":"1969-12-31T23:59:59.999","z":"2024-02-29T00:00:00+0100","k":[{"key":1,"value":"x"}],"l":86399999,"f":1e-7},
{"b":"","d":"1900-02-28","t":"2262-04-11T23:47:16.854","z":null,"k":[],"l":null,"f":-0.0},
{"b":null,"d":null,"t":null,"z":null,"k":null,"l":0,"f":1e300}]`
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "b", Type: arrow.BinaryTypes.Binary, Nullable: true},
		{Name: "d", Type: arrow.FixedWidthTypes.Date32, Nullable: true},
		{Name: "t", Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: true},
		{Name: "z", Type: &arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Berlin"}, Nullable: true},
		{Name: "k", Type: arrow.MapOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String), Nullable: true},
		{Name: "l", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	}, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, schema, strings.NewReader(rows))
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/values.txt", write(t, rec).Bytes())
}

func golden(t *testing.T, file string, got []byte) {
	t.Helper()
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

func texts(values ...string) arrow.RecordBatch {
	b := array.NewStringBuilder(memory.DefaultAllocator)
	b.AppendValues(values, nil)
	schema := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String}}, nil)
	return array.NewRecordBatch(schema, []arrow.Array{b.NewArray()}, int64(len(values)))
}

func TestLargeValuesPassThroughASmallBuffer(t *testing.T) {
	for _, unit := range []string{"x", "\x01", "é", "漢\"", "🙂", "\xff"} {
		want := strings.Repeat(unit, 200_000/len(unit))
		out := write(t, texts(want, "next"))
		if out.most > 64<<10 {
			t.Errorf("%q: a piece of %d bytes", unit, out.most)
		}
		var got struct{ S string }
		if err := stdjson.NewDecoder(out).Decode(&got); err != nil {
			t.Fatal(err)
		}
		if got.S != strings.ToValidUTF8(want, "\ufffd") && unit != "\xff" {
			t.Errorf("%q does not read back", unit)
		}
	}
}

func FuzzQuote(f *testing.F) {
	for _, s := range []string{"", "a\"b\\", "\x00\x1f\x7f", "é漢🙂", "\xff\xc3", "\xe6\xbc"} {
		f.Add(s, 1)
		f.Add(strings.Repeat(s, 3000), 4094)
	}
	f.Fuzz(func(t *testing.T, s string, pad int) {
		if pad > 0 && pad < 10_000 {
			s = strings.Repeat("x", pad) + s
		}
		var out pieces
		o := render.NewOut(&out)
		json.Quote(o, []byte(s))
		o.Flush()
		var got string
		if err := stdjson.Unmarshal(out.Bytes(), &got); err != nil {
			t.Fatalf("%q: %v", out.Bytes(), err)
		}
		if want := string([]rune(s)); got != want || !utf8.ValidString(got) {
			t.Fatalf("got %q, want %q", got, want)
		}
	})
}

func TestTypesWithoutTextAreRefused(t *testing.T) {
	u := arrow.SparseUnionOf([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}}, []arrow.UnionTypeCode{0})
	schema := arrow.NewSchema([]arrow.Field{{Name: "u", Type: arrow.ListOf(u)}}, nil)
	_, _, err := json.Writer().Memory(schema, format.WriteOptions{})
	if !errors.Is(err, format.ErrUsage) || !strings.Contains(err.Error(), `jsonl: column "u"`) {
		t.Errorf("got %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	rec := runtest.Random(runtest.Schema(), 1000, 1)
	var out pieces
	w, _ := begin(b, &out, rec.Schema())
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		w.Write(&stream.Batch{Record: rec})
		b.SetBytes(int64(out.Len()))
	}
}
