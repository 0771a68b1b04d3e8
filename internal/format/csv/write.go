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
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/json"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// writeCost is what render.Outs hold, and what is kept of each column.
func writeCost(s *arrow.Schema) int64 { return 128<<10 + 256*int64(s.NumFields()) }

// Writer writes CSV with a header. It holds the same few bytes whatever a
// value's size.
func Writer() format.Writer {
	return format.Writer{
		Name: "csv", Ext: ".csv", Inline: true,
		Memory: func(s *arrow.Schema, _ format.WriteOptions) (least, most int64, err error) {
			n := writeCost(s)
			return n, n, json.CheckAll("csv", s)
		},
		Begin: beginFile,
	}
}

func beginFile(out format.Output, s *arrow.Schema, _ format.WriteOptions, share *mem.Budget) (format.File, error) {
	need := writeCost(s)
	lease, ok := share.TryAcquire(need)
	if !ok {
		return nil, &mem.TooSmallError{Share: "csv", Need: need, Limit: share.Free()}
	}
	c := &records{lease: lease, sent: format.Counter{Writer: out}, cells: make([]json.Value, s.NumFields())}
	c.out = render.NewOut(&c.sent)
	c.nested = render.NewOut(doubler{c.out})
	for i, f := range s.Fields() {
		if i > 0 {
			c.out.Byte(',')
		}
		field(c.out, []byte(f.Name))
	}
	c.out.Byte('\n')
	return c, nil
}

// records writes rows as records.
type records struct {
	lease  *mem.Lease
	sent   format.Counter
	out    *render.Out
	nested *render.Out // JSON on its way into a quoted field of out
	cells  []json.Value
	rows   int64
}

// Write writes the rows of b.
func (c *records) Write(b *stream.Batch) error {
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
	c.rows += b.Rows()
	return c.out.Flush()
}

func (c *records) Size() int64 { return c.sent.N }

func (c *records) Close() (format.Part, error) {
	err := c.out.Flush()
	c.Abort()
	return format.Part{Rows: c.rows}, err
}

func (c *records) Abort() {
	c.lease.Release()
	c.out, c.nested = nil, nil
}

// bind prepares to write the values of one column.
func (c *records) bind(a arrow.Array) json.Value {
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
func (c *records) valid(a arrow.Array) json.Value {
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
