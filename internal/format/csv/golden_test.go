package csv

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

var update = flag.Bool("update-read", false, "rewrite what testdata/read-*.txt expect")

// Each case is options, files, ----, what is read. A file may begin with
// "-- its name". \r, \t, \b (a byte order mark) and \$ (no line end) are
// written out.
func TestRead(t *testing.T) {
	files, _ := filepath.Glob("testdata/read-*.txt")
	if len(files) == 0 {
		t.Fatal("no testdata")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range strings.Split(string(data), "\n====\n") {
			input, want, _ := strings.Cut(c, "\n----\n")
			want = strings.TrimSuffix(want, "\n")
			input = strings.TrimSuffix(strings.TrimSuffix(input, "\n"), "\n----")
			got := readCase(t, input)
			if got != want && !*update {
				t.Errorf("%s:\n%s\n---- got\n%s\n---- want\n%s", file, input, got, want)
			}
			out = append(out, input+"\n----\n"+got)
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(out, "\n====\n")+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

var escapes = strings.NewReplacer(`\r`, "\r", `\t`, "\t", `\b`, "\ufeff", "\\$\n", "")

func readCase(t *testing.T, c string) string {
	head, body, _ := strings.Cut(c, "\n")
	opt, skip := parseOptions(t, head)
	dir := t.TempDir()
	src := format.Source{Store: store.New(store.Options{})}
	parts := strings.Split("\n"+body+"\n", "\n-- ")
	if parts[0] == "" {
		parts = parts[1:]
	} else {
		parts[0] = "x.csv" + parts[0]
	}
	for _, part := range parts {
		name, text, _ := strings.Cut(part, "\n")
		if !strings.HasSuffix(text, "\n") && text != "" {
			text += "\n"
		}
		path := filepath.Join(dir, name)
		text = escapes.Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		src.Objects = append(src.Objects, store.Object{URL: path, Size: int64(len(text))})
	}
	var b strings.Builder
	if skip {
		opt.Bad = func(err error) { fmt.Fprintf(&b, "skipped: %v\n", err) }
	}
	if err := readAll(&b, src, opt); err != nil {
		kind := "other"
		switch {
		case errors.Is(err, format.ErrUsage):
			kind = "usage"
		case errors.Is(err, format.ErrData):
			kind = "data"
		}
		fmt.Fprintf(&b, "%s error: %v\n", kind, err)
	}
	return strings.TrimSuffix(strings.ReplaceAll(b.String(), dir+"/", ""), "\n")
}

func parseOptions(t *testing.T, head string) (opt format.Options, skip bool) {
	for _, word := range strings.Fields(head) {
		k, v, _ := strings.Cut(word, "=")
		switch k {
		case "read":
		case "delimiter":
			opt.Delimiter = escapes.Replace(v)[0]
		case "no-header":
			opt.NoHeader = true
		case "null":
			opt.Nulls = append(opt.Nulls, v)
		case "columns":
			opt.Columns = strings.Split(v, ",")
		case "skip":
			skip = true
		case "schema":
			var fields []arrow.Field
			for _, f := range strings.Split(v, ",") {
				name, typ, _ := strings.Cut(f, ":")
				fields = append(fields, arrow.Field{Name: name, Type: typeNamed(t, typ)})
			}
			opt.Schema = arrow.NewSchema(fields, nil)
		default:
			t.Fatalf("unknown option %q", word)
		}
	}
	return opt, skip
}

func typeNamed(t *testing.T, name string) arrow.DataType {
	for _, typ := range []arrow.DataType{
		arrow.Null, arrow.FixedWidthTypes.Boolean, arrow.BinaryTypes.String, arrow.BinaryTypes.Binary, &arrow.FixedSizeBinaryType{ByteWidth: 3},
		arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.FixedWidthTypes.Float16, arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64,
		arrow.PrimitiveTypes.Date32, arrow.PrimitiveTypes.Date64, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Duration_ms,
		&arrow.TimestampType{Unit: arrow.Second}, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "UTC"},
		arrow.ListOf(arrow.PrimitiveTypes.Int8),
	} {
		if strings.ReplaceAll(strings.ReplaceAll(typ.String(), " ", ""), ",", "/") == name {
			return typ
		}
	}
	switch name {
	case "decimal":
		return &arrow.Decimal128Type{Precision: 8, Scale: 2}
	case "decimal256":
		return &arrow.Decimal256Type{Precision: 60, Scale: 0}
	}
	t.Fatalf("no type %q", name)
	return nil
}

// readAll writes the schema and a line a row.
func readAll(w io.Writer, src format.Source, opt format.Options) error {
	ctx := context.Background()
	ds, err := Plan(ctx, src, opt)
	if err != nil {
		return err
	}
	for i, f := range ds.Schema().Fields() {
		if i > 0 {
			io.WriteString(w, ", ")
		}
		fmt.Fprintf(w, "%s: %s", f.Name, f.Type)
	}
	io.WriteString(w, "\n")
	budget := mem.New(64 << 20)
	s, err := ds.Open(ctx, budget, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer s.Close()
	for {
		b, err := s.Next(ctx)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		for row := range int(b.Rows()) {
			fmt.Fprintln(w, rowText(b.Record, row))
		}
		b.Release()
	}
}

func rowText(rec arrow.RecordBatch, row int) string {
	var cells []string
	for _, c := range rec.Columns() {
		switch s, isText := c.(*array.String); {
		case c.IsNull(row):
			cells = append(cells, "null")
		case isText:
			cells = append(cells, fmt.Sprintf("%q", s.Value(row)))
		default:
			cells = append(cells, c.ValueStr(row))
		}
	}
	return "[" + strings.Join(cells, " ") + "]"
}
