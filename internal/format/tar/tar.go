// Package tar reads and writes WebDataset archives: tar files in which members
// of one sample stand together, named key.extension.
//
// A sample is a row: the column __key__, and a column for every extension that
// the sample of the archives shows, in the order of their first appearance. The
// key is the path up to the first dot of its last part; the extension is what
// follows, in lower case, and may have dots of its own. Columns hold the bytes
// of the members; those called txt, text, json, jsn, jsonl, cls, cls2, class,
// count, index, inx, id, csv, transcript or transcription, or ending in one of
// these behind a dot, are strings where all that was seen is UTF-8. A member
// that a sample lacks is null. Directories, links, names without an extension
// and names that begin with __ are passed over.
package tar

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// Key is the column of the samples' names.
const Key = "__key__"

// Format reads tar files, compressed or not.
func Format() format.Format {
	return format.Format{Name: "webdataset", Inline: true, Sniff: sniff, Plan: Plan}
}

// sniff wants a header whose sum is right.
func sniff(c format.Clue) bool {
	if len(c.Head) < block { // of a compressed file there may be none: a block of bzip2 is larger than what is looked at
		return len(c.Head) == 0 && path.Ext(c.Name) == ".tar"
	}
	return summed(c.Head[:block]) && c.Head[0] != 0 || zero(c.Head[:block]) && path.Ext(c.Name) == ".tar"
}

var textual = map[string]bool{
	"txt": true, "text": true, "json": true, "jsn": true, "jsonl": true, "cls": true, "cls2": true, "class": true, "count": true,
	"index": true, "inx": true, "id": true, "csv": true, "transcript": true, "transcription": true,
}

// found is what a look at the archives shows.
type found struct {
	order   []string        // extensions
	binary  map[string]bool // extensions that are not text
	largest int64           // bytes of a sample with its headers
	built   int64           // bytes in memory
}

// Plan looks at the first samples of some archives.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	f := &found{binary: make(map[string]bool)}
	v, err := records.Sample(ctx, "webdataset", src, opt, f.visit)
	if err != nil {
		return nil, err
	}
	schema := opt.Schema
	if schema == nil {
		schema = f.schema()
	}
	names := make([]string, schema.NumFields())
	for i, field := range schema.Fields() {
		names[i] = field.Name
		if field.Type.ID() != arrow.STRING && field.Type.ID() != arrow.BINARY {
			return nil, format.Error(format.ErrUsage, "webdataset: column %q: members are string or binary, not %s", field.Name, field.Type)
		}
	}
	places, err := format.Match(names, opt.Columns)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "webdataset: %w", err)
	}
	var fields []arrow.Field
	for _, i := range places {
		fields = append(fields, schema.Field(i))
	}
	known := make(map[string]bool)
	for _, n := range names {
		known[n] = true
	}
	if opt.Schema != nil {
		known = nil
	}
	l := records.Layout{
		Name: "webdataset", Source: src, Options: opt, Schema: arrow.NewSchema(fields, nil),
		Largest: f.largest, Window: v.Window, Remote: v.Remote,
		Cutter: func(int) records.Cutter { return &cutter{} },
		Parser: func(b *build.Batch) (records.Parser, error) { return newParser(b, known), nil },
		About: format.Info{
			Objects: len(src.Objects), Rows: -1, Groups: int64(len(src.Objects)),
			Bytes: v.Total, InMemory: v.InMemory(f.built), LargestIn: v.InMemory(f.built),
		},
	}
	if v.Bytes > 0 {
		l.Ratio = float64(f.built) / float64(v.Bytes)
	}
	return records.New(l)
}

func newParser(b *build.Batch, known map[string]bool) *parser {
	p := &parser{b: b, columns: make(map[string]int), known: known, names: -1}
	for i, c := range b.Columns() {
		p.text = append(p.text, c.Field.Type.ID() == arrow.STRING)
		if c.Field.Name == Key {
			p.names = i
			continue
		}
		p.columns[c.Field.Name] = i
	}
	return p
}

// longMember is what is not read for the sake of a look.
const longMember = 1 << 20

// visit notes the extensions of whole members.
func (f *found) visit(_ int, data []byte, final bool) (int, error) {
	at := 0
	for at < len(data) {
		m, err := parse(data[at:], false)
		var short *shortError
		if errors.As(err, &short) && !final {
			return at, nil
		}
		if err == errEnd {
			at += block
			continue
		}
		if err != nil {
			return 0, format.Error(format.ErrData, "byte %d: %w", at, err)
		}
		_, column, ok := split(m.name)
		if ok && m.regular() {
			f.largest = max(f.largest, m.whole())
		}
		if m.whole() > int64(len(data)-at) {
			if final {
				return 0, format.Error(format.ErrData, "member %q: the archive ends inside it", m.name)
			}
			if m.whole() > longMember && ok && m.regular() {
				f.note(string(column), nil)
				return 0, records.ErrEnough
			}
			return at, nil
		}
		if ok && m.regular() {
			f.note(string(column), data[at+m.body:at+m.body+int(m.size)])
		}
		at += int(m.whole())
	}
	return at, nil
}

// note takes one member into account.
func (f *found) note(column string, body []byte) {
	if !slices.Contains(f.order, column) {
		f.order = append(f.order, column)
	}
	f.built += int64(len(body)) + 8
	last := column[strings.LastIndexByte(column, '.')+1:]
	if !textual[last] || !utf8.Valid(body) {
		f.binary[column] = true
	}
}

// schema is what was seen.
func (f *found) schema() *arrow.Schema {
	fields := []arrow.Field{{Name: Key, Type: arrow.BinaryTypes.String}}
	for _, name := range f.order {
		field := arrow.Field{Name: name, Type: arrow.BinaryTypes.String, Nullable: true}
		if f.binary[name] {
			field.Type = arrow.BinaryTypes.Binary
		}
		fields = append(fields, field)
	}
	return arrow.NewSchema(fields, nil)
}
