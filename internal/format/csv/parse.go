package csv

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/number"
	engine "github.com/weir-data/weir/internal/format/records"
)

// What can be wrong with a record; bad says the last three in full.
var (
	errOpen   = errors.New("a quote is opened and not closed")
	errBehind = errors.New("text stands behind a closing quote; quotes within a field are doubled")
	errFew    = errors.New("too few fields")
	errMany   = errors.New("too many fields")
	errValue  = errors.New("not a value of the column's type")
	errText   = errors.New("not UTF-8; convert the file, as iconv does, or leave such records out with --on-error skip")
)

// how a field is read.
type how uint8

const (
	skipped how = iota
	float64s
	int64s
	texts
	others
)

// step is what is done with one field of a record.
type step struct {
	how    how
	given  bool // the type is not inferred
	last   bool
	stop   byte // what ends the field: the delimiter, or a line feed for the last
	put    put
	column *build.Column // nil where it is skipped
}

// parser adds records to a batch.
type parser struct {
	dialect
	none   *nulls
	header bool
	b      *build.Batch
	orders [][]step // for each order of columns
	object []int    // which order an object has; less than 0: it is empty

	piece   *engine.Piece
	foreign bool // some of its bytes are not UTF-8

	steps []step
	lines int64 // line feeds within the fields of the record so far
	at    int   // where the field begins that cannot be read
	fault int   // its step
}

func (p *parser) Parse(piece *engine.Piece) error {
	data := piece.Data
	which := p.object[piece.Object]
	if which < 0 {
		piece.At = len(data)
		return nil
	}
	p.steps = p.orders[which]
	if piece != p.piece {
		p.piece, p.foreign = piece, !utf8.Valid(data)
	}
	if piece.First && piece.At == 0 {
		p.begin(piece)
	}
	for piece.At < len(data) && !p.b.Full() {
		if c := data[piece.At]; (c == '\n' || c == '\r') && len(p.steps) > 1 {
			if n := blank(data[piece.At:]); n > 0 {
				piece.At += n
				piece.Lines++
				continue
			}
		}
		p.lines = 0
		end, err := p.record(data, piece.At)
		if err != nil {
			p.b.Undo()
			return p.bad(piece, err)
		}
		if !p.b.EndRow() {
			return nil
		}
		piece.At = end
		piece.Lines += p.lines + 1
	}
	return nil
}

// begin passes what stands before an object's first row.
func (p *parser) begin(piece *engine.Piece) {
	end := front(piece.Data, p.header)
	if p.header {
		end = p.recordEnd(piece.Data, end)
	}
	piece.Lines = int64(bytes.Count(piece.Data[:end], []byte{'\n'}))
	piece.At = end
}

// record appends the fields of the record at i and says where the next begins.
// Numbers are read as they come, without finding their ends first; whatever
// is unusual about a field is left to field.
func (p *parser) record(data []byte, i int) (end int, err error) {
	for j := range p.steps {
		s := &p.steps[j]
		switch s.how {
		case float64s:
			v, n, ok := number.Float64(data[i:])
			if k := s.behind(data, i+n); ok && k > 0 {
				s.column.Float64(v)
				i = k
				continue
			}
		case int64s:
			v, n, ok := number.Int64(data[i:])
			if k := s.behind(data, i+n); ok && k > 0 && (s.given || natural(data[i:k])) {
				s.column.Uint64(uint64(v))
				i = k
				continue
			}
		case texts, others:
			k := p.end(data, i)
			if n := s.width(data, i, k); n > 0 && data[i] != quote && !p.foreign && p.put(s, data[i:], n) {
				i = k + 1
				continue
			}
		case skipped:
			if k := p.end(data, i); k < len(data) && data[k] == s.stop && data[i] != quote {
				i = k + 1
				continue
			}
		}
		after, last, err := p.field(s, data, i)
		switch {
		case err == nil && last && !s.last:
			err = errFew
		case err == nil && !last && s.last:
			err = errMany
		}
		if err != nil {
			p.at, p.fault = i, j
			return 0, err
		}
		i = after
	}
	return i, nil
}

// behind passes what ends the field at i; 0: something else stands there.
func (s *step) behind(data []byte, i int) int {
	if i < len(data) && data[i] == s.stop {
		return i + 1
	}
	if s.last && i+1 < len(data) && data[i] == '\r' && data[i+1] == '\n' {
		return i + 2
	}
	return 0
}

// width is the bytes of the field data[i:k] without what ends it; 0: it has
// none, or something else than it should stands at k.
func (s *step) width(data []byte, i, k int) int {
	if k == len(data) || data[k] != s.stop {
		return 0
	}
	if s.last && k > i && data[k-1] == '\r' {
		k--
	}
	return k - i
}

// put appends the first n bytes of data, a field without quotes.
func (p *parser) put(s *step, data []byte, n int) bool {
	switch {
	case p.none.longest > 0 && p.none.has(data[:n]):
		s.column.Null()
	case s.how == texts:
		putText(s.column, data, n)
	default:
		return s.put(s.column, data[:n])
	}
	return true
}

// field appends the field at i in the general way.
func (p *parser) field(s *step, data []byte, i int) (after int, last bool, err error) {
	t, after, last, err := p.next(data, i)
	switch {
	case err != nil:
		return 0, false, err
	case s.how == skipped:
	case p.foreign && s.how == texts && !utf8.Valid(t.b):
		return 0, false, errText
	case !t.quoted && p.none.has(t.b) || len(t.b) == 0 && s.how != texts:
		s.column.Null()
	case t.doubled && s.how == texts:
		undouble(s.column, t.b)
	case !s.put(s.column, t.b):
		return 0, false, errValue
	}
	if t.quoted {
		p.lines += int64(bytes.Count(t.b, []byte{'\n'}))
	}
	return after, last, nil
}

// putText appends the first n bytes of data. Most fields are short, and moved
// at once with what follows them.
func putText(c *build.Column, data []byte, n int) {
	dst := c.Room(n)
	if dst == nil {
		return // the batch is full; the row comes again
	}
	if n <= build.Slack && len(data) >= build.Slack {
		*(*[build.Slack]byte)(dst) = [build.Slack]byte(data)
	} else {
		copy(dst, data[:n])
	}
	c.Commit(n)
}

// undouble appends b with one quote for every two.
func undouble(c *build.Column, b []byte) {
	dst := c.Room(len(b))
	if dst == nil {
		return // the batch is full; the row comes again
	}
	c.Commit(single(dst, b))
}

// single copies b with one quote for every two, and says how many bytes that
// are. dst is eight bytes longer than b at least; they are spoiled.
func single(dst, b []byte) (n int) {
	i := 0
	for len(b)-i >= 8 {
		x := binary.LittleEndian.Uint64(b[i:])
		binary.LittleEndian.PutUint64(dst[n:], x)
		m := zeroBytes(x ^ ones*quote)
		if m == 0 {
			i, n = i+8, n+8
			continue
		}
		k := bits.TrailingZeros64(m)>>3 + 1
		i, n = i+k+1, n+k
	}
	for ; i < len(b); i++ {
		dst[n] = b[i]
		n++
		if b[i] == quote {
			i++
		}
	}
	return n
}

// bad says what is wrong with the record at piece.At.
func (p *parser) bad(piece *engine.Piece, cause error) *engine.Bad {
	data := piece.Data
	next := p.recordEnd(data, piece.At)
	out := &engine.Bad{
		At: piece.At, Line: piece.Lines, Next: next,
		NextLines: piece.Lines + int64(bytes.Count(data[piece.At:next], []byte{'\n'})),
	}
	switch {
	case errors.Is(cause, errFew), errors.Is(cause, errMany):
		n, _, err := p.fields(data, piece.At)
		if err != nil {
			out.Err = err
			break
		}
		out.Err = fmt.Errorf("%s, not %d", plural(n, "field"), len(p.steps))
		return out
	case errors.Is(cause, errValue):
		t, _, _, _ := p.next(data, p.at)
		s := &p.steps[p.fault]
		f := s.column.Field
		out.Err = fmt.Errorf("column %q: %s is not %s %s; %s", f.Name, excerpt(t.b), article(f.Type.String()), f.Type, s.wayOut(t.b))
	case errors.Is(cause, errText):
		out.Err = fmt.Errorf("column %q: %w", p.steps[p.fault].column.Field.Name, cause)
	default:
		out.Err = cause
	}
	out.At = p.at
	out.Line += int64(bytes.Count(data[piece.At:p.at], []byte{'\n'}))
	return out
}

// wayOut is what can be done about a field that is no value of its column.
func (s *step) wayOut(b []byte) string {
	switch {
	case s.given:
		return "give the column another type, or name the word as a null"
	case kindOf(b) == strings_:
		return "name the word as a null, or give the column the type string in a schema"
	}
	return "a larger sample would show it, a schema can give the column its type"
}

func plural(n int, word string) string {
	if n != 1 {
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}

func article(word string) string {
	if strings.ContainsRune("aeio", rune(word[0])) {
		return "an"
	}
	return "a"
}

// excerpt quotes the beginning of b.
func excerpt(b []byte) string {
	const most = 60
	if len(b) <= most {
		return strconv.Quote(string(b))
	}
	n := most
	for n > most-utf8.UTFMax && !utf8.RuneStart(b[n]) {
		n--
	}
	return strconv.Quote(string(b[:n])) + "…"
}
