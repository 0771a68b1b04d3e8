package mds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// The texts here are those of Python's json.dumps with sorted keys, byte for
// byte.

// appendConfig is what every shard says about itself.
func (d *design) appendConfig(b []byte) []byte {
	b = append(d.appendColumns(append(b, '{')), `, "size_limit": `...)
	return append(strconv.AppendInt(b, d.limit, 10), `, "version": 2}`...)
}

// appendColumns appends the keys up to the hashes' names.
func (d *design) appendColumns(b []byte) []byte {
	list := func(key string, item func(outColumn) string) {
		b = append(append(b, key...), `: [`...)
		for i, c := range d.columns {
			if i > 0 {
				b = append(b, `, `...)
			}
			b = append(b, item(c)...)
		}
		b = append(b, ']')
	}
	list(`"column_encodings"`, func(c outColumn) string { return quote(c.encoding) })
	list(`, "column_names"`, func(c outColumn) string { return quote(c.name) })
	list(`, "column_sizes"`, func(c outColumn) string {
		if c.size == 0 {
			return "null"
		}
		return strconv.Itoa(c.size)
	})
	compression := "null"
	if d.pack.name != "" {
		compression = quote(d.pack.name)
	}
	b = append(b, `, "compression": `+compression+`, "format": "mds", "hashes": [`...)
	for i, h := range d.hashes {
		if i > 0 {
			b = append(b, `, `...)
		}
		b = append(b, quote(h)...)
	}
	return append(b, ']')
}

// writeIndex makes index.json.
func writeIndex(s *arrow.Schema, opt format.WriteOptions, parts []format.Part) (string, []byte, error) {
	d, err := newDesign(s, opt)
	if err != nil {
		return indexName, nil, err
	}
	columns := d.appendColumns(nil)
	b := []byte(`{"shards": [`)
	for i, p := range parts {
		n, ok := p.Note.(note)
		if !ok && len(d.hashes) == 0 {
			n.raw.bytes, n.zip.bytes, ok = cmp.Or(p.Raw, p.Bytes), p.Bytes, true // all that would be noted
		}
		if !ok {
			return indexName, nil, fmt.Errorf("mds: bug: %s was not written by mds", p.Name)
		}
		if i > 0 {
			b = append(b, `, `...)
		}
		b = append(append(b, '{'), columns...)
		b = d.appendFile(append(b, `, "raw_data": `...), strings.TrimSuffix(p.Name, d.pack.ending()), n.raw)
		b = fmt.Appendf(b, `, "samples": %d, "size_limit": %d, "version": 2, "zip_data": `, p.Rows, d.limit)
		if d.pack.name == "" {
			b = append(b, `null}`...)
			continue
		}
		b = append(d.appendFile(b, p.Name, n.zip), '}')
	}
	return indexName, append(b, `], "version": 2}`...), nil
}

func (d *design) appendFile(b []byte, name string, s sums) []byte {
	b = fmt.Appendf(b, `{"basename": %s, "bytes": %d, "hashes": {`, quote(name), s.bytes)
	for i, h := range d.hashes {
		if i > 0 {
			b = append(b, `, `...)
		}
		b = fmt.Appendf(b, `%s: %s`, quote(h), quote(s.hashes[i]))
	}
	return append(b, `}}`...)
}

// quote is a JSON string of ASCII only, as Python writes it.
func quote(s string) string {
	out := []byte{'"'}
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			out = append(out, '\\', byte(r))
		case r == '\n':
			out = append(out, `\n`...)
		case r == '\r':
			out = append(out, `\r`...)
		case r == '\t':
			out = append(out, `\t`...)
		case r == '\b':
			out = append(out, `\b`...)
		case r == '\f':
			out = append(out, `\f`...)
		case r >= ' ' && r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r < 1<<16:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			hi, lo := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, hi, lo)
		}
	}
	return string(append(out, '"'))
}

// outColumn is a column as it is written.
type outColumn struct {
	column
	at   int // in the schema
	kind outKind
}

// outColumns are the columns of a schema in the order of their names.
func outColumns(s *arrow.Schema) ([]outColumn, error) {
	var out []outColumn
	for i, f := range s.Fields() {
		c, err := outColumnOf(f)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		c.name, c.at = f.Name, i
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b outColumn) int { return strings.Compare(a.name, b.name) })
	for i := range out {
		if i > 0 && out[i].name == out[i-1].name {
			return nil, fmt.Errorf("two columns are called %q", out[i].name)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("there are no columns")
	}
	return out, nil
}
