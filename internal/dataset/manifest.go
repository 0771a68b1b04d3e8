package dataset

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/schematext"
	"github.com/weir-data/weir/internal/store"
)

// manifestVersion is raised when a reader of the version before would be
// misled.
const manifestVersion = 1

// Manifest describes a finished dataset. Its parts and its source may be very
// many: they are not in it, Load hands them over one by one.
type Manifest struct {
	CreatedBy string
	Seed      uint64
	Recipe    string
	Schema    *arrow.Schema // of every part; without metadata
	Splits    []Split
	Arrays    []Array
	Params    json.RawMessage // null: none

	SourceDigest string // see SourceDigest
	Sources      int64  // objects of the source
}

// Visit takes what a Manifest leaves out. Each field may be nil; what they
// return ends the reading.
type Visit struct {
	Part   func(split Split, p Part) error // in order; Split's sums are those of the whole split
	Source func(o store.Object) error      // in the order in which it was read

	brief bool // the schema and the parameters, which may be large, are passed over
}

// partsOf hands all of a split's parts to take, in order.
type partsOf func(split int, take func(Part) error) error

// write prints the manifest: the same bytes for the same content. Memory does
// not depend on the number of parts or objects.
func (m *Manifest) write(w io.Writer, parts partsOf, source []store.Object) error {
	p := &printer{w: w}
	p.text("{\n\"version\": %d,\n\"created_by\": ", manifestVersion)
	p.value(m.CreatedBy)
	p.text(",\n\"seed\": %d,\n\"recipe\": ", m.Seed)
	p.value(m.Recipe)
	p.text(",\n\"schema\": ")
	p.value(schematext.Of(m.Schema))
	p.text(",\n\"splits\": [")
	for i, s := range m.Splits {
		p.between(i > 0)
		p.text("{\"name\": ")
		p.value(s.Name)
		p.text(", \"prefix\": ")
		p.value(s.Prefix)
		p.text(", \"rows\": %d, \"bytes\": %d, \"parts\": [", s.Rows, s.Bytes)
		more := false
		err := parts(i, func(part Part) error {
			p.between(more)
			more = true
			p.value(part)
			return p.err
		})
		if err != nil {
			return err
		}
		p.text("\n]}")
	}
	p.text("\n],\n\"arrays\": [")
	for i, a := range m.Arrays {
		p.between(i > 0)
		p.value(a)
	}
	p.text("\n],\n\"params\": ")
	params := m.Params
	if params == nil {
		params = json.RawMessage("null")
	}
	p.bytes(params)
	p.text(",\n\"source\": {\"digest\": ")
	p.value(m.SourceDigest)
	p.text(", \"objects\": [")
	for i, o := range source {
		p.between(i > 0)
		p.value(asListed(o))
	}
	p.text("\n]}\n}\n")
	return p.err
}

// printer keeps the first error, and does nothing after it.
type printer struct {
	w   io.Writer
	err error
}

func (p *printer) bytes(b []byte) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
}

func (p *printer) text(format string, args ...any) { p.bytes(fmt.Appendf(nil, format, args...)) }

// value prints v as JSON without a newline.
func (p *printer) value(v any) {
	if p.err != nil {
		return
	}
	var b strings.Builder
	if p.err = writeJSON(&b, v); p.err == nil {
		p.bytes([]byte(strings.TrimSuffix(b.String(), "\n")))
	}
}

// between puts each element of a list on a line of its own.
func (p *printer) between(more bool) {
	if more {
		p.text(",")
	}
	p.text("\n")
}

// check finds what the caller of Finish may not say.
func (m *Manifest) check(url string) error {
	if m.Schema == nil || m.Schema.NumFields() == 0 {
		return bug(url, "a dataset without a schema")
	}
	if m.Params != nil && !json.Valid(m.Params) {
		return bug(url, "parameters that are not JSON")
	}
	for _, a := range m.Arrays {
		if err := a.check(); err != nil {
			return format.Error(format.ErrUsage, "%s: %w", url, err)
		}
	}
	return nil
}
