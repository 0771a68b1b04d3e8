package json

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// framing is how rows stand in an object.
type framing struct {
	array bool     // elements of an array instead of lines
	path  []string // of the array in its document
}

func (f framing) cutter() records.Cutter {
	if f.array {
		return &cutter{path: f.path}
	}
	return records.Lines{}
}

// sink takes rows.
type sink interface {
	// row reads the object at i of the scanner, as its functions do.
	row(s *scanner, i int) int
	// end ends the row; false: there was no room for it.
	end() bool
	// undo forgets the row begun.
	undo()
	// more says that there is room for a row.
	more() bool
}

// rows is a records.Parser that gives the rows of pieces to a sink.
type rows struct {
	scanner
	framing
	sink sink
}

// Parse makes rows a records.Parser.
func (r *rows) Parse(p *records.Piece) error {
	r.b, r.n = p.Data[:len(p.Data)+records.Slack], len(p.Data)
	r.err, r.keys, r.typed = nil, r.keys[:0], false
	if r.array {
		r.white = inDocument
		return r.elements(p)
	}
	r.white = inLine
	return r.lines(p)
}

// lines reads an object a line; lines of nothing but whitespace are no rows.
func (r *rows) lines(p *records.Piece) error {
	if p.First && p.At == 0 && bytes.HasPrefix(p.Data, bom) {
		p.At = len(bom)
	}
	for p.At < r.n && r.sink.more() {
		i := r.wide(p.At)
		if i < r.n && r.b[i] != '\n' {
			if i = r.row(i); i >= 0 {
				if i = r.wide(i); i > r.n || i < r.n && r.b[i] != '\n' {
					i = r.unexpected(i, "the end of the line")
				}
			}
			if i < 0 {
				return r.failed(p, r.lineEnd(p.At), 1)
			}
			if !r.sink.end() {
				return nil
			}
		}
		p.At = min(i+1, r.n)
		p.Lines++
	}
	return nil
}

// lineEnd is where the line behind that at i begins.
func (r *rows) lineEnd(i int) int {
	if k := bytes.IndexByte(r.b[i:r.n], '\n'); k >= 0 {
		return i + k + 1
	}
	return r.n
}

// row reads one row.
func (r *rows) row(i int) int {
	if i >= r.n || r.b[i] != '{' {
		end := r.pass(i, 0)
		if end < 0 || end > r.n {
			return end
		}
		return r.fail(i, "a row is an object, and %s is none", clip(r.b[i:end]))
	}
	end := r.sink.row(&r.scanner, i)
	if end < 0 && r.typed {
		// A row that is no JSON is told as that.
		at, err := r.at, r.err
		switch sound := r.pass(i, 0); {
		case sound > r.n:
			r.unexpected(sound, "the end of a value")
		case sound < 0:
			r.keys = r.keys[:0]
		default:
			r.at, r.err = at, err
		}
	}
	return end
}

// elements reads the objects of an array.
func (r *rows) elements(p *records.Piece) error {
	for p.At < r.n && r.sink.more() {
		i := r.wide(p.At)
		first := p.First && p.At == 0
		switch {
		case i == r.n && !p.Last:
			p.At = i
			return nil
		case i < r.n && r.b[i] == ']' && p.Last:
			return r.close(p, i)
		case !first && (i == r.n || r.b[i] != ','):
			r.unexpected(i, "',' or ']'")
			return r.failed(p, r.border(p.At), 0)
		case !first:
			i = r.wide(i + 1)
		}
		if i = r.row(i); i > r.n {
			i = r.unexpected(i, "the end of a value")
		}
		if i < 0 {
			return r.failed(p, r.border(p.At), 0)
		}
		if !r.sink.end() {
			return nil
		}
		if p.At = i; i == r.n && p.Last {
			r.unexpected(i, "',' or ']'")
			return r.failed(p, i, 0)
		}
	}
	return nil
}

// close holds that nothing is wrong behind the last element.
func (r *rows) close(p *records.Piece, i int) error {
	w := walk{depth: len(r.path) + 1}
	k := i + w.close(p.Data[i:])
	switch {
	case k < r.n:
		r.fail(k, "%w", errMore)
	case !w.closed():
		r.fail(k, "%w", errOpen)
	default:
		p.At = r.n
		return nil
	}
	return r.failed(p, r.n, 0)
}

// border is where the element at i ends, which may begin with its comma.
func (r *rows) border(i int) int {
	var w walk
	if i = r.wide(i); i < r.n && r.b[i] == ',' {
		i++
	}
	for i = w.step(r.b[:r.n], i); i < r.n && r.b[i] == '}'; {
		i = w.step(r.b[:r.n], i+1)
	}
	return i
}

// failed is what Parse returns when a row could not be read: nil when there
// was no room for it. Lines is how many lines next is further.
func (r *rows) failed(p *records.Piece, next int, lines int64) error {
	r.sink.undo()
	if r.err == nil {
		return nil
	}
	err := r.err
	if len(r.keys) > 0 && r.at < r.n {
		slices.Reverse(r.keys)
		err = fmt.Errorf("column %q: %w", strings.Join(r.keys, "."), err)
	}
	if lines == 0 {
		return &records.Bad{At: r.at, Line: -1, Next: next, Err: err}
	}
	return &records.Bad{At: r.at, Line: p.Lines, Next: next, NextLines: p.Lines + lines, Err: err}
}

// filling is the sink that fills batches.
type filling struct {
	batch *build.Batch
	top   *object
}

func (f *filling) row(s *scanner, i int) int { return s.members(f.top, i+1, f.batch.Rows()) }
func (f *filling) end() bool                 { return f.batch.EndRow() }
func (f *filling) undo()                     { f.batch.Undo() }
func (f *filling) more() bool                { return !f.batch.Full() }

// each gives all rows of a piece to the sink, passes over those that cannot
// be read, and returns the first of them.
func (r *rows) each(p *records.Piece) (first *records.Bad) {
	for p.At < len(p.Data) {
		var bad *records.Bad
		if err := r.Parse(p); !errors.As(err, &bad) {
			break
		}
		if first == nil {
			first = bad
		}
		if bad.Next <= p.At {
			break
		}
		p.At, p.Lines = bad.Next, bad.NextLines
	}
	return first
}
