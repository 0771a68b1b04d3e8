package json_test

import (
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
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/run/runtest"
)

// chats is some rows as JSON, and as they should be read.
func chats(t *testing.T) (rows []string, want arrow.RecordBatch) {
	t.Helper()
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "id", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "messages", Type: arrow.ListOf(arrow.StructOf(
			arrow.Field{Name: "role", Type: arrow.BinaryTypes.String, Nullable: true},
			arrow.Field{Name: "content", Type: arrow.BinaryTypes.String, Nullable: true},
		)), Nullable: true},
		{Name: "score", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
		{Name: "ok", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	for i := range 12 {
		var messages []string
		for k := range i % 4 {
			messages = append(messages, fmt.Sprintf(`{"role": "user", "content": "%s\n"}`, strings.Repeat("é, ]", 6*i*k*k)))
		}
		row := fmt.Sprintf(`{"id": %d, "messages": [%s], "score": %g, "ok": %v}`, i, strings.Join(messages, ","), float64(i)/8, i%3 == 0)
		if i == 7 {
			row = `{"ok":null, "id":7}`
		}
		rows = append(rows, row)
	}
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	for _, r := range rows {
		if err := b.UnmarshalJSON([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	return rows, b.NewRecordBatch()
}

// damaged are rows that are spoiled at every byte.
var damaged = []string{
	`{"id": 10, "l": [{"r":"é\n\u00e9 and more","c": null}], "x":-1.5e1}`,
	`{"l":[],"x":0.25,"ok":true,"id":11}`, `{"ok":false}`,
}

func TestLinesOfObjects(t *testing.T) {
	rows, want := chats(t)
	formattest.Run(t, formattest.Case{
		Format: json.Format(),
		Files: [][]byte{
			[]byte("\xef\xbb\xbf" + strings.Join(rows[:5], "\n") + "\n\n"),
			nil,
			[]byte("\r\n" + strings.Join(rows[5:], "\r\n")),
		},
		Want:     []arrow.RecordBatch{want},
		Stride:   2,
		Damage:   []byte(strings.Join(damaged, "\n")),
		Cuttable: true,
	})
}

func TestArraysOfObjects(t *testing.T) {
	rows, want := chats(t)
	formattest.Run(t, formattest.Case{
		Format: json.Format(),
		Files: [][]byte{
			[]byte("[" + strings.Join(rows[:5], ",") + "]"),
			[]byte(" [ ]\n"),
			[]byte("[\n" + strings.Join(rows[5:], "\n,\n") + "\n]\n"),
		},
		Want:     []arrow.RecordBatch{want},
		Stride:   2,
		Damage:   []byte("[" + strings.Join(damaged, ", ") + "]"),
		Cuttable: true, // an empty file has no rows; TestArraysAreCutAnywhere tries the others
	})
}

func TestArrayInADocument(t *testing.T) {
	rows, want := chats(t)
	formattest.Run(t, formattest.Case{
		Format:  json.Format(),
		Options: format.Options{Field: "out.data", Columns: []string{"*"}},
		Files: [][]byte{
			[]byte(`{"data":[{"no":1}],"out":{"n":[[],"\"data\":["],"data":[` + strings.Join(rows[:5], ",") + `]},"more":{}}`),
			[]byte(`{"out":{"data":[` + strings.Join(rows[5:], ",") + `],"data":[{}]}}`),
		},
		Want:     []arrow.RecordBatch{want},
		Stride:   2,
		Damage:   []byte(`{"v":1,"out":{"data":[` + strings.Join(damaged, ",") + `],"x":"y"}}`),
		Cuttable: true,
	})
}

func TestWhatWasWrittenIsReadBack(t *testing.T) {
	rec := runtest.Random(runtest.Schema(), 300, 7)
	var fields []arrow.Field
	var cols []arrow.Array
	for i, f := range rec.Schema().Fields() {
		switch f.Type.ID() {
		case arrow.DICTIONARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.LARGE_LIST, arrow.STRING_VIEW, arrow.BINARY_VIEW,
			arrow.INTERVAL_MONTHS, arrow.INTERVAL_DAY_TIME, arrow.INTERVAL_MONTH_DAY_NANO:
			continue // it cannot be built, or not be read from JSON
		}
		fields, cols = append(fields, f), append(cols, rec.Column(i))
	}
	schema := arrow.NewSchema(fields, nil)
	want := array.NewRecordBatch(schema, cols, rec.NumRows())
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, write(t, want).Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	at := 0
	err := read(t, format.Options{Schema: schema, BatchRows: 77}, 64<<20, func(r arrow.RecordBatch) {
		if r == nil {
			return
		}
		for i, c := range r.Columns() {
			for k := range c.Len() {
				if got, want := c.ValueStr(k), cols[i].ValueStr(at+k); got != want && !strings.Contains(want, "NaN") && !strings.Contains(want, "Inf") {
					t.Fatalf("row %d, %s: %s instead of %s", at+k, fields[i], got, want)
				}
			}
		}
		at += int(r.NumRows())
	}, name)
	if err != nil || at != 300 {
		t.Errorf("%d rows: %v", at, err)
	}
}

// A record of 4.6 MiB is larger than any piece that is planned for 20 MiB.
func TestGiantRecord(t *testing.T) {
	long := strings.Repeat("a line of text\\n", 150_000)
	name := filepath.Join(t.TempDir(), "f")
	text := `{"a":"small","b":"x"}` + "\n" + `{"a":"` + long + `","b":"` + long + `"}` + "\n" + `{"a":"small","b":"x"}` + "\n"
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	rows, size := 0, 0
	err := read(t, format.Options{}, 20<<20, func(r arrow.RecordBatch) {
		if r != nil {
			rows += int(r.NumRows())
			for i := range r.NumRows() {
				size += len(r.Column(0).(*array.String).Value(int(i)))
			}
		}
	}, name)
	if err != nil || rows != 3 || size != 10+150_000*15 {
		t.Errorf("%d rows, %d bytes: %v", rows, size, err)
	}
}

func TestTooManyKeysAreRefused(t *testing.T) {
	var wide, deep strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&wide, "{\"k%d\":1}\n", i)
		fmt.Fprintf(&deep, "{\"m\":{\"k%d\":1}}\n", i)
	}
	name := filepath.Join(t.TempDir(), "f")
	for _, c := range []struct{ text, want string }{
		{wide.String(), "jsonl: rows have more than 20000 different keys; --schema names those to read"},
		{deep.String(), ""},
	} {
		if err := os.WriteFile(name, []byte(c.text), 0o666); err != nil {
			t.Fatal(err)
		}
		err := read(t, format.Options{}, 64<<20, func(r arrow.RecordBatch) {
			if r != nil && !strings.HasPrefix(r.Column(0).(*array.String).Value(0), `{"k`) {
				t.Error("a table of its own is not text")
			}
		}, name)
		if c.want == "" && err != nil || c.want != "" && (err == nil || err.Error() != c.want) {
			t.Errorf("%v; want %s", err, c.want)
		}
	}
}

func TestSniff(t *testing.T) {
	for _, c := range []struct {
		name, head string
		want       bool
	}{
		{"x", `{"a":1}`, true},
		{"x", "\xef\xbb\xbf\n {\"a\":1}\n{\"b\":[", true},
		{"x", `[{"a":1},{"a":`, true},
		{"x", `[]`, true},
		{"x", `{`, true},
		{"x", "{\n  \"data\": [\n    {\"a\": tr", true},
		{"x", `{"a":"cut in a stri`, true},
		{"x", `{"a":"cut in an escape\u12`, true},
		{"x", ``, false},
		{"x", ` `, false},
		{"x", `[section]`, false},
		{"x", `[1] a reference`, false},
		{"x", `{a:1}`, false},
		{"x", `{"a":1} text`, false},
		{"x", `"a","b"`, false},
		{"x", `1,2,3`, false},
		{"d/x.jsonl", ``, true},
		{"x.ndjson", `{a`, true},
		{"x.json", ` `, true},
	} {
		if got := json.Format().Sniff(format.Clue{Name: c.name, Head: []byte(c.head)}); got != c.want {
			t.Errorf("%s %q: %v", c.name, c.head, got)
		}
	}
}

func TestCorpus(t *testing.T) {
	dir := os.Getenv("WEIR_CORPUS")
	if dir == "" {
		t.Skip("WEIR_CORPUS is not set")
	}
	rows, text := 0, 0
	err := read(t, format.Options{Threads: 2}, 16<<20, func(r arrow.RecordBatch) {
		if r == nil {
			return
		}
		rows += int(r.NumRows())
		for _, c := range r.Columns() {
			text += len(c.(*array.String).ValueBytes())
		}
	}, filepath.Join(dir, "gsm8k", "train.jsonl"))
	if err != nil || rows != 7473 {
		t.Errorf("%d rows, %d bytes of text: %v", rows, text, err)
	}
}
