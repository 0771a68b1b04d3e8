// Package json reads and writes JSON lines: one object a row.
//
// Strings are UTF-8; bytes that are not become U+FFFD. Binary is base64. NaN
// and infinities, for which JSON has no number, become null. Decimals and all
// integers are exact numbers. Maps are objects, their keys written as strings;
// maps with nested keys are lists of {"key","value"}. Times are ISO 8601
// strings (see render.Scalar). Nulls are written, not left out.
package json

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/render"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// writeCost is what render.Outs hold, and what is kept of each column.
func writeCost(s *arrow.Schema) int64 { return 64<<10 + 256*int64(s.NumFields()) }

// Writer writes JSON lines. It holds the same few bytes whatever a value's
// size.
func Writer() format.Writer {
	return format.Writer{
		Name: "jsonl", Ext: ".jsonl", Inline: true,
		Memory: func(s *arrow.Schema, _ format.WriteOptions) (least, most int64, err error) {
			n := writeCost(s)
			return n, n, CheckAll("jsonl", s)
		},
		Begin: beginFile,
	}
}

func beginFile(out format.Output, s *arrow.Schema, _ format.WriteOptions, share *mem.Budget) (format.File, error) {
	need := writeCost(s)
	lease, ok := share.TryAcquire(need)
	if !ok {
		return nil, &mem.TooSmallError{Share: "jsonl", Need: need, Limit: share.Free()}
	}
	j := &lines{lease: lease, sent: format.Counter{Writer: out}, vals: make([]Value, s.NumFields())}
	j.out = render.NewOut(&j.sent)
	for i, f := range s.Fields() {
		j.keys = append(j.keys, key(f.Name, i == 0))
	}
	return j, nil
}

// lines writes rows as lines.
type lines struct {
	lease *mem.Lease
	sent  format.Counter
	out   *render.Out
	keys  [][]byte // `{"a":`, `,"b":`
	vals  []Value
	rows  int64
}

// Write writes the rows of b.
func (j *lines) Write(b *stream.Batch) error {
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
	j.rows += b.Rows()
	return o.Flush()
}

func (j *lines) Size() int64 { return j.sent.N }

func (j *lines) Close() (format.Part, error) {
	err := j.out.Flush()
	j.Abort()
	return format.Part{Rows: j.rows}, err
}

func (j *lines) Abort() {
	j.lease.Release()
	j.out = nil
}

// key is a name as it stands before its value.
func key(name string, first bool) []byte {
	k := []byte{',', '"'}
	if first {
		k[0] = '{'
	}
	return append(appendEscaped(k, []byte(name)), '"', ':')
}
