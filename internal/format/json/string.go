package json

import (
	"math/bits"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// special marks the bytes of x that end a run of plain text in a string:
// quotes, backslashes and control characters. The lowest mark is right; those
// above it may be wrong. A quote with its second bit turned is a space, just
// above the control characters, which stay below it.
func special(x uint64) uint64 {
	return ((x ^ 0x02*ones - 0x21*ones) | (x ^ '\\'*ones - ones)) & ^x & highs
}

// text appends the string that begins at i, behind its quote.
func (s *scanner) text(c *build.Column, i int) int {
	p, i := s.unescape(c, i)
	if i >= 0 {
		c.Commit(len(p))
	}
	return i
}

// unescape writes the string that begins at i where the column's next value
// goes, without appending it.
func (s *scanner) unescape(c *build.Column, i int) ([]byte, int) {
	dst := c.Room(0)
	if dst == nil {
		return nil, s.full()
	}
	dst = dst[:cap(dst)]
	start, j, high := i, 0, uint64(0)
	for {
		k, h := plainRun(dst[j:], s.b[i:])
		i, j, high = i+k, j+k, high|h
		switch {
		case i >= s.n:
			return nil, s.unexpected(i, "the end of a string")
		case j+build.Slack/2 > len(dst):
			// All of it again, where there is room for certain.
			end := s.passString(start)
			if end < 0 {
				return nil, end
			}
			if dst = c.Room(end - start); dst == nil {
				return nil, s.full()
			}
			i, j, high = start, 0, 0
		case s.b[i] == '"':
			if high&highs != 0 && !valid(dst[:j]) {
				return nil, s.notUTF8(start)
			}
			return dst[:j], i + 1
		case s.b[i] != '\\':
			return nil, s.control(i)
		case plainEscapes[s.b[i+1]] != 0:
			dst[j] = plainEscapes[s.b[i+1]]
			i, j = i+2, j+1
		default:
			if i, j = s.unicode(dst, i, j); i < 0 {
				return nil, i
			}
		}
	}
}

// plainEscapes has what stands behind a backslash, apart from u.
var plainEscapes = [256]byte{
	'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t',
}

// unicode reads the escape \u at i. Half a surrogate pair, for which there is
// no UTF-8, becomes U+FFFD.
func (s *scanner) unicode(dst []byte, i, j int) (int, int) {
	r := s.hex(i)
	if r < 0 {
		return s.badEscape(i), j
	}
	i += 6
	if r>>11 == 0xd800>>11 {
		low := s.hex(i)
		if r < 0xdc00 && low>>10 == 0xdc00>>10 {
			r = 0x10000 + (r-0xd800)<<10 + (low - 0xdc00)
			i += 6
		} else {
			r = utf8.RuneError
		}
	}
	return i, j + utf8.EncodeRune(dst[j:], r)
}

// hex is the number of the escape \uXXXX at i; less than 0: there is none.
func (s *scanner) hex(i int) rune {
	if i >= s.n || s.b[i] != '\\' || s.b[i+1] != 'u' {
		return -1
	}
	p := s.b[i+2 : i+6]
	return hexDigits[p[0]]<<12 | hexDigits[p[1]]<<8 | hexDigits[p[2]]<<4 | hexDigits[p[3]]
}

// hexDigits is -1 for what is none.
var hexDigits = func() (t [256]rune) {
	for c := range t {
		switch {
		case '0' <= c && c <= '9':
			t[c] = rune(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			t[c] = rune(c|0x20-'a') + 10
		default:
			t[c] = -1
		}
	}
	return t
}()

// passString passes over the string that begins at i, behind its quote.
func (s *scanner) passString(i int) int {
	b, start, high := s.b, i, uint64(0)
	for i < s.n {
		if x := load(b, i); high == 0 && x&highs == 0 {
			// Keys and short words end within one look.
			m := special(x)
			if k := i + bits.TrailingZeros64(m)>>3; m != 0 && b[k] == '"' && k < s.n {
				return k + 1
			}
		}
		k, h := plainLength(b[i:])
		if i, high = i+k, high|h; i >= s.n {
			break
		}
		switch {
		case b[i] == '"':
			if high&highs != 0 && !valid(b[start:i]) {
				return s.notUTF8(start)
			}
			return i + 1
		case b[i] != '\\':
			return s.control(i)
		case plainEscapes[b[i+1]] != 0:
			i += 2
		case s.hex(i) >= 0:
			i += 6
		default:
			return s.badEscape(i)
		}
	}
	return s.unexpected(i, "the end of a string")
}

func (s *scanner) control(i int) int {
	if i < s.n && s.b[i] != '\n' {
		return s.fail(i, "a control character, %q, in a string: it must be escaped", s.b[i])
	}
	return s.unexpected(i, "the end of a string")
}

func (s *scanner) badEscape(i int) int {
	size := 2
	if s.b[i+1] == 'u' {
		size = 6
	}
	for k := i; k < i+size; k++ {
		if k >= s.n || s.b[k] == '\n' {
			return s.unexpected(k, "the end of a string")
		}
	}
	return s.fail(i, "%q is not an escape", s.b[i:i+size])
}

// notUTF8 fails where the string that begins at i does.
func (s *scanner) notUTF8(i int) int {
	for i < s.n {
		r, size := utf8.DecodeRune(s.b[i:s.n])
		if r == utf8.RuneError && size == 1 {
			return s.fail(i, "byte %#x in a string is not UTF-8", s.b[i])
		}
		i += size
	}
	return s.unexpected(i, "the end of a string")
}
