// Package json reads rows that are JSON objects, and writes them.
//
// # Reading
//
// Rows are objects: one a line (blank lines are none), or the elements of an
// array, which is the whole document or, with Options.Field, lies in it at a
// path of keys, the first of its name. All files of a dataset are of one form.
// Of what stands around an array only strings and brackets are looked at.
//
// Without Options.Schema, columns are the keys of all rows in a sample, in the
// order they were first seen, and their types the narrowest that hold every
// value of the sample:
//
//   - null fits any type; where there is nothing else the type is null
//   - true and false: bool
//   - whole numbers: int64, uint64 if some only fit that, and float64 if no
//     integer type holds all; numbers with a point or an exponent, NaN,
//     Infinity and -Infinity, which Python writes: float64
//   - strings: string, whatever they look like; dates stay strings
//   - arrays: list of the narrowest type of all elements
//   - objects: struct of all their keys, in the order of their first sight
//   - anything else: string. That is for places with values of two of these
//     kinds, for numbers that no float64 holds, for objects that are always
//     empty, and for those with more than 1000 different keys. Strings stand
//     for themselves there, other values are their JSON text as it stands.
//
// A string column takes any value in this way, also of a kind that was not in
// the sample. Any other value that does not fit, and a key that was not in the
// sample, is an error.
//
// With Options.Schema, keys that it does not name are passed over, and values
// are read as its types want them: integers within their range, base64 for
// binary, ISO 8601 strings for dates and times, numbers or strings for
// decimals, objects for maps (or lists of {"key","value"}). All columns may be
// null, whatever it says.
//
// Keys may stand in any order; one that is missing is null; of two of the same
// name the last counts. Text is held to RFC 8259, also in values that are not
// picked: no comments, no trailing commas, no control characters, no needless
// zeros, only UTF-8, and at most 512 levels. Half a surrogate pair becomes
// U+FFFD, since UTF-8 has nothing for it. A byte order mark at the beginning
// of a file is passed over.
package json

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

const name = "jsonl"

// Format reads JSON: an object a line, or the objects of an array.
func Format() format.Format {
	return format.Format{Name: name, Inline: true, Sniff: sniff, Plan: Plan}
}

// sniff takes what is called JSON, and what begins with objects, or an array
// of them.
func sniff(c format.Clue) bool {
	switch path.Ext(c.Name) {
	case ".json", ".jsonl", ".ndjson":
		return true
	}
	head := bytes.TrimPrefix(c.Head, bom)
	s := scanner{b: append(bytes.Clone(head), make([]byte, records.Slack)...), n: len(head), white: inDocument}
	i := s.wide(0)
	if i == s.n {
		return false
	}
	if s.b[i] == '[' {
		if k := s.wide(i + 1); k < s.n && s.b[k] != '{' && s.b[k] != ']' {
			return false
		}
		i = s.pass(i, 0)
		return s.cutShort(i) || i >= 0 && s.wide(i) == s.n
	}
	for i < s.n {
		if s.b[i] != '{' {
			return false
		}
		if i = s.pass(i, 0); s.cutShort(i) {
			return true
		}
		if i < 0 {
			return false
		}
		i = s.wide(i)
	}
	return true
}

// cutShort says of the result of pass that nothing was wrong before the end.
func (s *scanner) cutShort(i int) bool { return i > s.n || i < 0 && s.at >= s.n }

// Plan finds out, from a sample, how rows stand in the files and what is in
// them.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	f := framing{}
	if opt.Field != "" {
		f = framing{array: true, path: strings.Split(opt.Field, ".")}
	}
	v := survey{}
	seen, err := v.sample(ctx, src, opt, &f)
	if err != nil {
		return nil, err
	}
	schema, err := v.schema(opt)
	if err != nil {
		return nil, err
	}
	names := make([]string, schema.NumFields())
	for i, f := range schema.Fields() {
		names[i] = f.Name
	}
	picked, err := format.Match(names, opt.Columns)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "%s: %w", name, err)
	}
	l := records.Layout{
		Name: name, Source: src, Options: opt, Schema: pick(schema, picked),
		Largest: v.largest, Remote: seen.Remote, Window: seen.Window,
		Cutter: func(int) records.Cutter { return f.cutter() },
		Parser: func(b *build.Batch) (records.Parser, error) {
			return newRows(b, names, picked, f, opt.Schema == nil)
		},
	}
	built := v.bytes(l.Schema)
	if seen.Bytes > 0 {
		l.Ratio = float64(built) / float64(seen.Bytes)
	}
	l.About = format.Info{
		Objects: len(src.Objects), Rows: -1, Groups: int64(len(src.Objects)),
		Bytes: seen.Total, InMemory: seen.InMemory(built), LargestIn: seen.InMemory(built),
	}
	return records.New(l)
}

// schema is the one given, or that of the sample.
func (v *survey) schema(opt format.Options) (*arrow.Schema, error) {
	switch {
	case opt.Schema != nil:
		return nullable(opt.Schema), nil
	case v.bad != nil && v.top.kinds == 0:
		return nil, v.bad // there is nothing to read on with
	case v.members > membersMost:
		return nil, format.Error(format.ErrData, "%s: rows have more than %d different keys; --schema names those to read", name, membersMost)
	}
	return arrow.NewSchema(v.top.schema(), nil), nil
}

// sample looks at the beginnings of files. Rows that cannot be read are left
// to the reading, unless there are no others.
func (v *survey) sample(ctx context.Context, src format.Source, opt format.Options, f *framing) (records.Survey, error) {
	known := f.array
	var cut records.Cutter
	var r rows
	var p records.Piece
	at, offset, lines := -1, int64(0), int64(0)
	return records.Sample(ctx, name, src, opt, func(object int, data []byte, final bool) (int, error) {
		if !known {
			head := bytes.TrimLeft(bytes.TrimPrefix(data, bom), " \t\r\n")
			known = len(head) > 0
			f.array = known && head[0] == '['
		}
		if object != at {
			at, offset, lines = object, 0, 0
			cut, r = f.cutter(), rows{framing: *f, sink: v}
			p = records.Piece{Object: object, First: true}
		}
		if cut == nil {
			return len(data), nil
		}
		from, to, err := cut.Cut(data, final)
		var bad *records.Bad
		if errors.As(err, &bad) {
			cut, to = nil, len(data)
		} else if from < to {
			p = records.Piece{Object: object, Data: withSlack(data[from:to]), First: p.First, Last: final}
			bad = r.each(&p)
			p.First = false
		}
		if bad != nil && v.bad == nil && opt.Bad == nil {
			v.bad = format.Error(format.ErrData, "%s: %s: %s: %w", name, src.Objects[object].URL, place(bad, offset+int64(from), lines), bad.Err)
		}
		offset += int64(to)
		lines, p.Lines = lines+p.Lines, 0
		return to, nil
	})
}

// withSlack is p, copied where it has none.
func withSlack(p []byte) []byte {
	if cap(p)-len(p) >= records.Slack {
		return p
	}
	return append(make([]byte, 0, len(p)+records.Slack), p...)
}

// place says where a bad row of a piece is.
func place(b *records.Bad, offset, lines int64) string {
	at := fmt.Sprintf("byte %d", offset+int64(b.At))
	if b.Line >= 0 {
		at = fmt.Sprintf("line %d, %s", lines+b.Line+1, at)
	}
	return at
}

// bytes estimates the columns of a schema as Arrow.
func (v *survey) bytes(s *arrow.Schema) (n int64) {
	for _, f := range s.Fields() {
		if i, ok := v.top.byName[f.Name]; ok {
			n += v.top.fields[i].built
		}
	}
	return n
}

func pick(s *arrow.Schema, places []int) *arrow.Schema {
	out := make([]arrow.Field, len(places))
	for i, k := range places {
		out[i] = s.Field(k)
	}
	return arrow.NewSchema(out, nil)
}

// newRows makes the parser that fills b with the picked of the columns called
// names.
func newRows(b *build.Batch, names []string, picked []int, f framing, sampled bool) (*rows, error) {
	top := newObject(!sampled)
	nodes := make([]node, len(names))
	for i, k := range picked {
		n, err := newNode(b.Column(i), !sampled)
		if err != nil {
			return nil, format.Error(format.ErrUsage, "column %q: %w", names[k], err)
		}
		nodes[k] = n
	}
	for i, n := range nodes {
		top.add(names[i], n)
	}
	r := &rows{framing: f, sink: &filling{batch: b, top: top}}
	r.sampled = sampled
	return r, nil
}

// nullable is s with columns that may be null, as any key may be missing.
func nullable(s *arrow.Schema) *arrow.Schema {
	meta := s.Metadata()
	return arrow.NewSchema(nullableFields(s.Fields()), &meta)
}

func nullableFields(in []arrow.Field) []arrow.Field {
	out := make([]arrow.Field, len(in))
	for i, f := range in {
		f.Nullable = true
		switch t := f.Type.(type) {
		case *arrow.StructType:
			f.Type = arrow.StructOf(nullableFields(t.Fields())...)
		case *arrow.ListType:
			f.Type = arrow.ListOfField(nullableFields([]arrow.Field{t.ElemField()})[0])
		case *arrow.FixedSizeListType:
			f.Type = arrow.FixedSizeListOfField(t.Len(), nullableFields([]arrow.Field{t.ElemField()})[0])
		case *arrow.MapType:
			m := arrow.MapOfFields(t.KeyField(), nullableFields([]arrow.Field{t.ItemField()})[0])
			m.KeysSorted = t.KeysSorted
			f.Type = m
		}
		out[i] = f
	}
	return out
}
