// Package text reads plain text: a row a line, or a row a file.
//
// A line ends with \n or \r\n, which are not part of it; a file without an end
// of its last line has that line all the same. A byte order mark at the
// beginning of a file is dropped. What is not UTF-8 is an error, unless the
// schema says that the column is binary.
package text

import (
	"bytes"
	"context"
	"errors"
	"path"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// Column is the name of the only column.
const Column = "text"

// Format reads text files, compressed or not.
func Format() format.Format {
	return format.Format{Name: "text", Inline: true, Sniff: sniff, Plan: Plan}
}

// sniff takes what is called a text, and else anything that is UTF-8: it is
// asked last.
func sniff(c format.Clue) bool {
	switch path.Ext(c.Name) {
	case ".txt", ".text", ".md", ".log", ".rst":
		return true
	}
	head := c.Head
	for len(head) > 0 && len(c.Head)-len(head) < utf8.UTFMax && !utf8.Valid(head) {
		head = head[:len(head)-1] // a character may be cut
	}
	return len(head) > 0 && utf8.Valid(head) && bytes.IndexByte(head, 0) < 0
}

// Plan looks at a sample for the length of lines.
func Plan(ctx context.Context, src format.Source, opt format.Options) (format.Dataset, error) {
	schema := arrow.NewSchema([]arrow.Field{{Name: Column, Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	if s := opt.Schema; s != nil {
		if s.NumFields() != 1 || s.Field(0).Type.ID() != arrow.STRING && s.Field(0).Type.ID() != arrow.BINARY {
			return nil, format.Error(format.ErrUsage, "text: a schema has one column, string or binary")
		}
		schema = s
	}
	if _, err := format.Match([]string{schema.Field(0).Name}, opt.Columns); err != nil {
		return nil, format.Error(format.ErrUsage, "text: %w", err)
	}
	l := records.Layout{
		Name: "text", Source: src, Options: opt, Schema: schema,
		Cutter: func(int) records.Cutter { return records.Lines{} },
		Parser: func(b *build.Batch) (records.Parser, error) { return &parser{adder: newAdder(b)}, nil },
	}
	if opt.WholeFiles {
		l.Whole = true
		l.Cutter = func(int) records.Cutter { return whole{} }
		l.Parser = func(b *build.Batch) (records.Parser, error) { return &wholeParser{newAdder(b)}, nil }
	}
	var built int64
	v, err := records.Sample(ctx, "text", src, opt, func(_ int, data []byte, final bool) (int, error) {
		used := bytes.LastIndexByte(data, '\n') + 1
		if final {
			used = len(data)
		}
		if used == 0 && len(data) >= longLine || opt.WholeFiles {
			l.Largest = max(l.Largest, int64(len(data)))
			return 0, records.ErrEnough
		}
		for rest := data[:used]; len(rest) > 0; {
			n := bytes.IndexByte(rest, '\n') + 1
			if n == 0 {
				n = len(rest)
			}
			l.Largest = max(l.Largest, int64(n))
			built += int64(n) + 4
			rest = rest[n:]
		}
		return used, nil
	})
	if err != nil {
		return nil, err
	}
	l.Remote, l.Window = v.Remote, v.Window
	if v.Bytes > 0 {
		l.Ratio = float64(built) / float64(v.Bytes)
	}
	l.About = format.Info{
		Objects: len(src.Objects), Rows: -1, Groups: int64(len(src.Objects)),
		Bytes: v.Total, InMemory: v.InMemory(built), LargestIn: v.InMemory(built),
	}
	if opt.WholeFiles {
		l.About.Rows, l.Ratio = int64(len(src.Objects)), 1.1
		for _, o := range src.Objects {
			l.Largest = max(l.Largest, o.Size)
		}
	}
	return records.New(l)
}

// adder adds texts to the column.
type adder struct {
	b   *build.Batch
	any bool // bytes that are not UTF-8 are welcome
}

func newAdder(b *build.Batch) adder {
	return adder{b, b.Column(0).Field.Type.ID() == arrow.BINARY}
}

var errText = errors.New("not UTF-8; --schema with a column of type binary reads it, iconv converts it")

// add adds a row; ok is false where there is no room.
func (a adder) add(text []byte, checked bool) (ok bool, err error) {
	if !checked && !a.any && !utf8.Valid(text) {
		return false, errText
	}
	a.b.Column(0).Bytes(text)
	return a.b.EndRow(), nil
}

// longLine is what is not read to its end for the sake of a look.
const longLine = 1 << 20

type parser struct {
	adder
	piece *records.Piece
	valid bool // all of it is UTF-8
}

var bom = []byte("\xef\xbb\xbf")

func (p *parser) Parse(piece *records.Piece) error {
	if piece != p.piece {
		p.piece, p.valid = piece, utf8.Valid(piece.Data)
	}
	for piece.At < len(piece.Data) && !p.b.Full() {
		line := piece.Data[piece.At:]
		n := bytes.IndexByte(line, '\n') + 1
		if n == 0 {
			n = len(line)
		}
		line = bytes.TrimSuffix(line[:n], []byte{'\n'})
		if len(line) < n {
			line = bytes.TrimSuffix(line, []byte{'\r'})
		}
		if piece.First && piece.At == 0 {
			line = bytes.TrimPrefix(line, bom)
		}
		ok, err := p.add(line, p.valid)
		if err != nil {
			return &records.Bad{At: piece.At, Line: piece.Lines, Next: piece.At + n, NextLines: piece.Lines + 1, Err: err}
		}
		if !ok {
			return nil
		}
		piece.At += n
		piece.Lines++
	}
	return nil
}

// whole makes one record of a file.
type whole struct{}

func (whole) Resume() {}

func (whole) Cut(data []byte, final bool) (from, to int, err error) {
	if final {
		return 0, len(data), nil
	}
	return 0, 0, nil
}

type wholeParser struct{ adder }

func (p *wholeParser) Parse(piece *records.Piece) error {
	data := piece.Data
	if piece.First {
		data = bytes.TrimPrefix(data, bom)
	}
	ok, err := p.add(data, false)
	if err != nil {
		return &records.Bad{Line: -1, Next: len(piece.Data), Err: err}
	}
	if ok {
		piece.At = len(piece.Data)
	}
	return nil
}
