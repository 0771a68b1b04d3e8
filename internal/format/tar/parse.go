package tar

import (
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// parser makes a row of every sample.
type parser struct {
	b       *build.Batch
	columns map[string]int // by extension
	known   map[string]bool
	names   int // the column of keys; less than 0: not asked for
	text    []bool
}

// Parse adds samples.
func (p *parser) Parse(piece *records.Piece) error {
	for piece.At < len(piece.Data) && !p.b.Full() {
		n, err := p.sample(piece.Data[piece.At:])
		if err != nil {
			p.b.Undo()
			bad := &records.Bad{At: piece.At, Line: -1, Err: err}
			if n > 0 {
				bad.Next = piece.At + n
			}
			return bad
		}
		if n == 0 {
			return nil // no room
		}
		piece.At += n
	}
	return nil
}

// sample adds the first sample of data and returns its length, 0 if there was
// no room for it. Behind an error the length is that of the sample, too.
func (p *parser) sample(data []byte) (int, error) {
	var key []byte
	at := 0
	var failed error
	for at < len(data) {
		m, err := parse(data[at:], true) // by the cutter
		if err == errEnd {
			at += block
			continue
		}
		if err != nil {
			return 0, err
		}
		k, column, ok := split(m.name)
		if ok && m.regular() {
			if key != nil && !bytes.Equal(k, key) {
				break
			}
			key = k
			if failed == nil {
				failed = p.add(&m, column, data[at+m.body:])
			}
		}
		at += int(min(m.whole(), int64(len(data)-at)))
	}
	if failed != nil || key == nil {
		return at, failed
	}
	if p.names >= 0 {
		p.b.Column(p.names).Bytes(key)
	}
	if !p.b.EndRow() {
		return 0, nil
	}
	return at, nil
}

// add adds one member of a sample.
func (p *parser) add(m *member, column, body []byte) error {
	if m.size > int64(len(body)) {
		return place(m.name, errors.New("the archive ends inside it"))
	}
	i, ok := p.columns[string(column)]
	if !ok {
		if p.known == nil || p.known[string(column)] {
			return nil // not asked for
		}
		return place(m.name, fmt.Errorf("no sample looked at had a .%s; --sample all looks at all, --schema names the columns", column))
	}
	c := p.b.Column(i)
	if c.Len() > p.b.Rows() {
		return place(m.name, fmt.Errorf("the sample has a .%s already", column))
	}
	body = body[:m.size]
	if p.text[i] && !utf8.Valid(body) {
		return place(m.name, fmt.Errorf("not UTF-8; --schema reads .%s as binary", column))
	}
	c.Bytes(body)
	return nil
}
