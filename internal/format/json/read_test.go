package json_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// read reads files with a share and gives every record to see.
func read(t *testing.T, opt format.Options, share int64, see func(arrow.RecordBatch), files ...string) error {
	t.Helper()
	st := store.New(store.Options{})
	var src format.Source
	for _, f := range files {
		objects, err := st.List(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		src.Objects = append(src.Objects, objects...)
	}
	src.Store = st
	ds, err := json.Format().Plan(t.Context(), src, opt)
	if err != nil {
		return err
	}
	budget := mem.New(share)
	s, err := ds.Open(t.Context(), budget, stream.Cursor{}, nil)
	if err != nil {
		return err
	}
	defer func() {
		s.Close()
		if n := budget.Leased(); n != 0 {
			t.Errorf("%d bytes still leased", n)
		}
	}()
	see(nil)
	for {
		b, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		see(b.Record)
		b.Release()
	}
}

// TestBehaviour runs the cases of testdata/read*.txt: options, the file, four
// hyphens, and what is read of it. With "quoted" the lines of the file are Go
// strings, one after another; "skip" passes over bad rows.
func TestBehaviour(t *testing.T) {
	files, err := filepath.Glob("testdata/read*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range strings.Split("\n\n"+strings.TrimRight(string(data), "\n"), "\n\nread")[1:] {
			in, want, _ := strings.Cut("read"+c+"\n", "\n----\n")
			want = strings.TrimRight(want, "\n")
			first, file, _ := strings.Cut(in, "\n")
			got := behave(t, first, file)
			if got != want && !*update {
				t.Errorf("%s: %s\ngot\n%s\nwant\n%s", f, in, got, want)
			}
			out = append(out, in+"\n----\n"+got)
		}
		if *update {
			if err := os.WriteFile(f, []byte(strings.Join(out, "\n\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func behave(t *testing.T, options, file string) string {
	t.Helper()
	var opt format.Options
	var out []string
	quoted := false
	for _, o := range strings.Fields(options)[1:] {
		key, v, _ := strings.Cut(o, "=")
		switch key {
		case "field":
			opt.Field = v
		case "columns":
			opt.Columns = strings.Split(v, ",")
		case "sample":
			opt.Sample, _ = strconv.ParseInt(v, 10, 64)
		case "schema":
			opt.Schema = schemaOf(t, v)
		case "skip":
			opt.Bad = func(err error) { out = append(out, "skipped: "+err.Error()) }
		case "quoted":
			quoted = true
		default:
			t.Fatalf("no option %q", o)
		}
	}
	if quoted {
		file = unquote(t, file)
	}
	name := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(name, []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	told := false
	err := read(t, opt, 64<<20, func(r arrow.RecordBatch) {
		if r == nil {
			return
		}
		if !told {
			told = true
			for _, f := range r.Schema().Fields() {
				out = append(out, f.Name+": "+schematext.Type(f.Type))
			}
		}
		for i := range int(r.NumRows()) {
			row := "row"
			for _, c := range r.Columns() {
				row += " | " + c.ValueStr(i)
			}
			out = append(out, row)
		}
	}, name)
	if err != nil {
		out = append(out, "error: "+err.Error())
	}
	return strings.ReplaceAll(strings.Join(out, "\n"), filepath.Dir(name)+"/", "")
}

func unquote(t *testing.T, file string) (text string) {
	t.Helper()
	for _, l := range strings.Split(file, "\n") {
		p, err := strconv.Unquote(l)
		if err != nil {
			t.Fatalf("%s: %v", l, err)
		}
		text += p
	}
	return text
}

// schemaOf reads name:type;name:type.
func schemaOf(t *testing.T, text string) *arrow.Schema {
	t.Helper()
	var fields []arrow.Field
	for _, f := range strings.Split(text, ";") {
		name, typ, _ := strings.Cut(f, ":")
		dt, err := schematext.ParseType(typ)
		if err != nil {
			t.Fatal(err)
		}
		fields = append(fields, arrow.Field{Name: name, Type: dt})
	}
	return arrow.NewSchema(fields, nil)
}
