package csv

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	engine "github.com/weir-data/weir/internal/format/records"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
)

// drive cuts data, of which at least block bytes more are seen at once, and
// parses the pieces; records come as lines of text, bad ones as errors. opt
// has a schema.
func drive(t testing.TB, data []byte, block int, opt format.Options, show func(arrow.RecordBatch, int) string) (out []string, err error) {
	p := &planning{
		opt: opt, none: newNulls(opt.Nulls), dialect: newDialect(opt.Delimiter), object: []int{unseen}, orders: map[string]int{},
		src: format.Source{Objects: []store.Object{{URL: "x"}}},
	}
	if _, err := p.begin(0, data); err != nil || p.object[0] == hollow {
		return nil, err
	}
	fields := make([]arrow.Field, len(p.picked))
	for i, c := range p.picked {
		fields[i] = c.field
	}
	b, err := build.New(arrow.NewSchema(fields, nil))
	if err != nil {
		t.Fatal(err)
	}
	parser, err := p.parser(b)
	if err != nil {
		t.Fatal(err)
	}
	budget := mem.New(64 << 20)
	cut := &cutter{dialect: p.dialect, header: !opt.NoHeader}
	first := true
	for at := 0; at < len(data); {
		to := 0
		for n := block; to == 0; n *= 2 {
			have := min(at+n, len(data))
			if _, to, err = cut.Cut(data[at:have], have == len(data)); err != nil {
				t.Fatal(err)
			}
		}
		piece := &engine.Piece{Offset: int64(at), Data: data[at : at+to], First: first, Last: at+to == len(data)}
		for piece.At < len(piece.Data) {
			ram, err := budget.Map(t.Context(), b.Least()+2*len(data)+4096)
			if err != nil {
				t.Fatal(err)
			}
			b.Reset(ram, 0)
			err = parser.Parse(piece)
			rec := b.Finish()
			for row := range int(rec.NumRows()) {
				out = append(out, show(rec, row))
			}
			rec.Release()
			var bad *engine.Bad
			if errors.As(err, &bad) {
				if want := int64(bytes.Count(piece.Data[:bad.Next], []byte{'\n'})); bad.NextLines != want {
					t.Fatalf("%q: %d lines before byte %d, want %d", data, bad.NextLines, bad.Next, want)
				}
				out = append(out, fmt.Sprintf("byte %d: %v", int(piece.Offset)+bad.At, bad))
				piece.At, piece.Lines = bad.Next, bad.NextLines
			} else if err != nil {
				t.Fatal(err)
			}
		}
		at, first = at+to, false
	}
	return out, nil
}

// texted is n columns of strings that have no nulls.
func texted(n int) format.Options {
	fields := make([]arrow.Field, n)
	for i, name := range numbered(n) {
		fields[i] = arrow.Field{Name: name, Type: arrow.BinaryTypes.String}
	}
	return format.Options{Delimiter: ',', NoHeader: true, Nulls: []string{}, Schema: arrow.NewSchema(fields, nil)}
}

func FuzzCutting(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\ny\"\n\"\"\"\",2\n"), uint8(1))
	f.Add([]byte("\xef\xbb\xbf\"a\n\",b\r\n1,2"), uint8(2))
	f.Add([]byte("a,b\n1\"2,3\n\"4\"5\",6\n\"7\n8,9\n"), uint8(3))
	f.Fuzz(func(t *testing.T, data []byte, block uint8) {
		if len(data) > 4096 {
			return
		}
		opt := format.Options{Delimiter: ','}
		names, _, err := newDialect(',').header(data)
		if err != nil || names == nil {
			return
		}
		var fields []arrow.Field
		for _, n := range names {
			fields = append(fields, arrow.Field{Name: n, Type: arrow.BinaryTypes.String})
		}
		opt.Schema = arrow.NewSchema(fields, nil)
		whole, err1 := drive(t, data, len(data), opt, rowText)
		pieces, err2 := drive(t, data, 1+int(block), opt, rowText)
		if fmt.Sprint(whole, err1) != fmt.Sprint(pieces, err2) {
			t.Fatalf("%q, %d bytes at once:\n%q %v, in one piece\n%q %v", data, block, pieces, err2, whole, err1)
		}
	})
}

func FuzzRecords(f *testing.F) {
	f.Add([]byte("1,\"x\ny\"\n\"\"\"\",2\n"))
	f.Add([]byte("a\n\n\"b\"\n"))
	f.Add([]byte("a,b,c\r\n1,,3"))
	f.Fuzz(func(t *testing.T, data []byte) {
		// encoding/csv changes \r\n in quotes, and takes a quote within a field
		// for an error: what it refuses need not be refused. It takes any bytes for
		// text.
		if len(data) > 4096 || bytes.IndexByte(data, '\r') >= 0 || bytes.HasPrefix(data, bom) || !utf8.Valid(data) {
			return
		}
		names, _, err := newDialect(',').header(data)
		if err != nil || names == nil {
			return
		}
		want, err := standard(data, len(names))
		if err != nil {
			return
		}
		lines := make([]string, len(want))
		for i, row := range want {
			lines[i] = fmt.Sprintf("%q", row)
		}
		got, err := drive(t, data, len(data), texted(len(names)), rowText)
		if len(names) == 1 {
			got = slicesWithout(got, `[""]`) // empty lines, which encoding/csv skips
			lines = slicesWithout(lines, `[""]`)
		}
		if err != nil || fmt.Sprint(got) != fmt.Sprint(lines) {
			t.Fatalf("%q: %v %v, want %v", data, got, err, lines)
		}
	})
}

func slicesWithout(in []string, s string) (out []string) {
	for _, x := range in {
		if x != s {
			out = append(out, x)
		}
	}
	return out
}
