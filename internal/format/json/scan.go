package json

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/weir-data/weir/internal/format/number"
	"github.com/weir-data/weir/internal/format/records"
)

// depthMost is how deep values may be nested.
const depthMost = 512

// scanner reads values from b. Positions are places in b. A function that
// reads something at i returns the place behind it, or a number below 0 after
// fail, or when the batch is full. A place beyond n says that the text ended
// too early; it is told once a record, so that b, which is longer than n by
// records.Slack, is not asked for its end at every byte.
type scanner struct {
	b     []byte
	n     int
	white uint64 // the bits of whitespace; in lines a line end is none

	sampled bool // types come from a sample

	at    int      // where it failed
	err   error    // why; nil: the batch is full
	keys  []string // that lead there, innermost first
	typed bool     // because of the schema; the text may be sound
}

const (
	inLine     = 1<<' ' | 1<<'\t' | 1<<'\r'
	inDocument = inLine | 1<<'\n'
)

// gap passes over whitespace; a single space is what most writers put.
func (s *scanner) gap(i int) int {
	if s.b[i] == ' ' {
		i++
	}
	if s.b[i] > ' ' {
		return i
	}
	return s.wide(i)
}

// wide is gap for any whitespace.
func (s *scanner) wide(i int) int {
	for i < s.n && s.b[i] <= ' ' && s.white>>s.b[i]&1 != 0 {
		i++
	}
	return i
}

// fail notes an error at a place.
func (s *scanner) fail(at int, format string, args ...any) int {
	s.at, s.err = at, fmt.Errorf(format, args...)
	return -1
}

// unexpected fails at a byte that is none of what may stand there.
func (s *scanner) unexpected(i int, want string) int {
	switch {
	case i >= s.n:
		return s.fail(s.n, "the data ends inside a row: %w", io.ErrUnexpectedEOF)
	case s.b[i] == '\n':
		return s.fail(i, "the line ends where %s should be; if rows are not lines, --field names the array that has them", want)
	case s.b[i] >= 0x80:
		return s.fail(i, "byte %#x where %s should be", s.b[i], want)
	}
	return s.fail(i, "%q where %s should be", s.b[i], want)
}

// word passes over a literal.
func (s *scanner) word(i int, w string) int {
	if s.n-i < len(w) || string(s.b[i:i+len(w)]) != w {
		for k := range len(w) {
			if i+k >= s.n || s.b[i+k] != w[k] {
				return s.unexpected(i+k, w)
			}
		}
	}
	return i + len(w)
}

// pass passes over any value and holds that it is one.
func (s *scanner) pass(i, depth int) int {
	if i >= s.n {
		return s.unexpected(i, "a value")
	}
	switch c := s.b[i]; c {
	case '"':
		return s.passString(i + 1)
	case '{', '[':
		if depth == depthMost {
			return s.fail(i, "values nested more than %d deep", depthMost)
		}
		if c == '{' {
			return s.passObject(i+1, depth+1)
		}
		return s.passArray(i+1, depth+1)
	case 't':
		return s.word(i, "true")
	case 'f':
		return s.word(i, "false")
	case 'n':
		return s.word(i, "null")
	case 'N':
		return s.word(i, "NaN")
	case 'I':
		return s.word(i, "Infinity")
	}
	return s.passNumber(i)
}

// closed passes over the bracket at i. Many of them may lie behind n, so that
// the end is looked for here.
func (s *scanner) closed(i int) int {
	if i >= s.n {
		return s.unexpected(i, "the end of a value")
	}
	return i + 1
}

func (s *scanner) passObject(i, depth int) int {
	i = s.gap(i)
	if s.b[i] == '}' {
		return i + 1
	}
	for {
		if i >= s.n || s.b[i] != '"' {
			return s.unexpected(i, "a key")
		}
		if i = s.passString(i + 1); i < 0 {
			return i
		}
		if i = s.gap(i); s.b[i] != ':' {
			return s.unexpected(i, "':'")
		}
		if i = s.pass(s.gap(i+1), depth); i < 0 {
			return i
		}
		switch i = s.gap(i); s.b[i] {
		case ',':
			i = s.gap(i + 1)
		case '}':
			return s.closed(i)
		default:
			return s.unexpected(i, "',' or '}'")
		}
	}
}

func (s *scanner) passArray(i, depth int) int {
	i = s.gap(i)
	if s.b[i] == ']' {
		return i + 1
	}
	for {
		if i = s.pass(i, depth); i < 0 {
			return i
		}
		switch i = s.gap(i); s.b[i] {
		case ',':
			i = s.gap(i + 1)
		case ']':
			return s.closed(i)
		default:
			return s.unexpected(i, "',' or ']'")
		}
	}
}

// passNumber passes over a number as RFC 8259 has it, or -Infinity.
func (s *scanner) passNumber(i int) int {
	start := i
	if s.b[i] == '-' {
		i++
		if s.b[i] == 'I' {
			return s.word(i, "Infinity")
		}
	}
	first := i
	if i = s.digits(i); i == first {
		if first == start {
			return s.unexpected(i, "a value")
		}
		return s.unexpected(i, "a digit")
	}
	if s.b[first] == '0' && i > first+1 {
		return s.fail(start, "a number that begins with a needless 0")
	}
	if s.b[i] == '.' {
		first = i + 1
		if i = s.digits(first); i == first {
			return s.unexpected(i, "a digit")
		}
	}
	if s.b[i]|0x20 == 'e' {
		i++
		if s.b[i] == '+' || s.b[i] == '-' {
			i++
		}
		first = i
		if i = s.digits(first); i == first {
			return s.unexpected(i, "a digit")
		}
	}
	return i
}

func (s *scanner) digits(i int) int {
	for i < s.n && s.b[i]-'0' <= 9 {
		i++
	}
	return i
}

// float reads a number, NaN or an infinity. Not ok: there is none, or none
// that a float64 holds.
func (s *scanner) float(i int) (v float64, end int, ok bool) {
	c := s.b[i]
	if c-'0' > 9 && (c != '-' || s.b[i+1] == 'I') {
		return s.unbounded(i)
	}
	v, k, ok := number.Float64(s.number(i))
	if !ok || !number.JSON(s.b[i:i+k]) || v-v != 0 || s.b[i+k]|0x20 == 'e' {
		return 0, i, false
	}
	return v, i + k, true
}

// number is where the digits at i may go on to: not to the end of b, behind
// which nobody looks.
func (s *scanner) number(i int) []byte { return s.b[i : len(s.b)-records.Slack/4] }

// unbounded reads what Python writes for floats that JSON has no number for.
func (s *scanner) unbounded(i int) (v float64, end int, ok bool) {
	for _, w := range [...]struct {
		text string
		v    float64
	}{{"NaN", math.NaN()}, {"Infinity", math.Inf(1)}, {"-Infinity", math.Inf(-1)}} {
		if s.n-i >= len(w.text) && string(s.b[i:i+len(w.text)]) == w.text {
			return w.v, i + len(w.text), true
		}
	}
	return 0, i, false
}

func load(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }
