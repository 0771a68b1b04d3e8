// Package csv reads and writes comma-separated values (RFC 4180): a header
// line, then one record a row, ended by a line feed.
//
// A null is an empty field, an empty string is "". A file of one column cannot
// tell them apart, because readers skip empty lines: there both are "". Nested
// values are JSON text, binary is base64, numbers and times are as
// render.Scalar writes them.
package csv

import (
	"bytes"
	"fmt"
	"io"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/stream"
)

// Writer writes rows as records. It holds at most 128 KiB, whatever a value's
// size.
type Writer struct {
	out    *render.Out
	nested *render.Out // JSON on its way into a quoted field of out
	cells  []json.Value
}

// NewWriter begins a file with its header. It fails for types that have no
// text form.
func NewWriter(w io.Writer, schema *arrow.Schema) (*Writer, error) {
	c := &Writer{out: render.NewOut(w), cells: make([]json.Value, schema.NumFields())}
	c.nested = render.NewOut(doubler{c.out})
	for i, f := range schema.Fields() {
		if err := json.Check(f.Type); err != nil {
			return nil, fmt.Errorf("csv: column %q: %w", f.Name, err)
		}
		if i > 0 {
			c.out.Byte(',')
		}
		field(c.out, []byte(f.Name))
	}
	c.out.Byte('\n')
	return c, nil
}

// Write writes the rows of b.
func (c *Writer) Write(b *stream.Batch) error {
	for i := range c.cells {
		c.cells[i] = c.bind(b.Record.Column(i))
	}
	for row := range int(b.Rows()) {
		for i, cell := range c.cells {
			if i > 0 {
				c.out.Byte(',')
			}
			cell(c.out, row)
		}
		c.out.Byte('\n')
	}
	clear(c.cells)
	return c.out.Flush()
}

// Close ends the file.
func (c *Writer) Close() error { return c.out.Flush() }

// bind prepares to write the values of one column.
func (c *Writer) bind(a arrow.Array) json.Value {
	null := func(*render.Out, int) {}
	if len(c.cells) == 1 {
		null = func(o *render.Out, _ int) { o.String(`""`) }
	}
	v := c.valid(a)
	switch {
	case v == nil:
		return null
	case a.NullN() == 0:
		return v
	}
	return func(o *render.Out, row int) {
		if a.IsNull(row) {
			null(o, row)
			return
		}
		v(o, row)
	}
}

// valid writes rows that are not null; it is nil where there are none.
func (c *Writer) valid(a arrow.Array) json.Value {
	if text, _, ok := render.Scalar(a); ok {
		return func(o *render.Out, row int) {
			o.Room(render.MaxText)
			o.Buf = text(o.Buf, row)
		}
	}
	switch a := a.(type) {
	case *array.Null:
		return nil
	case interface{ Value(int) string }: // strings of every layout
		return func(o *render.Out, row int) {
			s := a.Value(row)
			field(o, unsafe.Slice(unsafe.StringData(s), len(s)))
		}
	case interface{ Value(int) []byte }:
		return func(o *render.Out, row int) { o.Base64(a.Value(row)) }
	case *array.Dictionary:
		v := c.bind(a.Dictionary())
		return func(o *render.Out, row int) { v(o, a.GetValueIndex(row)) }
	case array.ExtensionArray:
		return c.valid(a.Storage())
	}
	v := json.Bind(a)
	return func(o *render.Out, row int) {
		o.Byte('"')
		v(c.nested, row)
		c.nested.Flush()
		o.Byte('"')
	}
}

// field writes s, in quotes where it needs them.
func field(o *render.Out, s []byte) {
	if len(s) > 0 && !bytes.ContainsAny(s, "\",\r\n") {
		o.Write(s)
		return
	}
	o.Byte('"')
	doubler{o}.Write(s)
	o.Byte('"')
}

// doubler writes what stands between quotes: each quote twice.
type doubler struct{ *render.Out }

func (d doubler) Write(p []byte) (int, error) {
	for rest := p; ; {
		i := bytes.IndexByte(rest, '"')
		if i < 0 {
			d.Out.Write(rest)
			return len(p), nil
		}
		d.Out.Write(rest[:i+1])
		d.Out.Byte('"')
		rest = rest[i+1:]
	}
}
