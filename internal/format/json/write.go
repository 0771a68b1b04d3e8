// Package json reads and writes JSON lines: one object a row.
//
// Strings are UTF-8; bytes that are not become U+FFFD. Binary is base64. NaN
// and infinities, for which JSON has no number, become null. Decimals and all
// integers are exact numbers. Maps are objects, their keys written as strings;
// maps with nested keys are lists of {"key","value"}. Times are ISO 8601
// strings (see render.Scalar). Nulls are written, not left out.
package json

import (
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/stream"
)

// Writer writes rows as lines. It holds at most 64 KiB, whatever a value's
// size.
type Writer struct {
	out  *render.Out
	keys [][]byte // `{"a":`, `,"b":`
	vals []Value
}

// NewWriter begins a file. It fails for types that have no JSON form.
func NewWriter(w io.Writer, schema *arrow.Schema) (*Writer, error) {
	j := &Writer{out: render.NewOut(w), vals: make([]Value, schema.NumFields())}
	for i, f := range schema.Fields() {
		if err := Check(f.Type); err != nil {
			return nil, fmt.Errorf("json: column %q: %w", f.Name, err)
		}
		j.keys = append(j.keys, key(f.Name, i == 0))
	}
	return j, nil
}

// Write writes the rows of b.
func (j *Writer) Write(b *stream.Batch) error {
	for i := range j.vals {
		j.vals[i] = Bind(b.Record.Column(i))
	}
	o := j.out
	for row := range int(b.Rows()) {
		if len(j.vals) == 0 {
			o.Byte('{')
		}
		for i, v := range j.vals {
			o.Write(j.keys[i])
			v(o, row)
		}
		o.String("}\n")
	}
	clear(j.vals)
	return o.Flush()
}

// Close ends the file.
func (j *Writer) Close() error { return j.out.Flush() }

// key is a name as it stands before its value.
func key(name string, first bool) []byte {
	k := []byte{',', '"'}
	if first {
		k[0] = '{'
	}
	return append(appendEscaped(k, []byte(name)), '"', ':')
}
