package split

import (
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// Scanner finds one piece: that which begins at text[at] ends at end, and at < end <= len(text). It is asked for
// 0 <= at < len(text) where an earlier piece ended, and keeps no state.
type Scanner func(text []byte, at int) (end int)

// scan has the loops that the scanners share.
type scan struct{ *charset.Classes }

// while goes on from at as long as characters have a bit of mask.
func (s scan) while(text []byte, at int, mask uint8) int {
	for at < len(text) {
		b := text[at]
		if s.ASCII[b]&mask != 0 {
			at++
			continue
		}
		if b < utf8.RuneSelf {
			return at
		}
		class, size := s.Wide(text, at)
		if class&mask == 0 {
			return at
		}
		at += size
	}
	return at
}

// until goes on from at as long as characters have no bit of mask.
func (s scan) until(text []byte, at int, mask uint8) int {
	for at < len(text) {
		b := text[at]
		if s.ASCII[b]&mask != 0 {
			return at
		}
		if b < utf8.RuneSelf {
			at++
			continue
		}
		class, size := s.Wide(text, at)
		if class&mask != 0 {
			return at
		}
		at += size
	}
	return at
}

// newlines goes on from at over \r and \n, and over also.
func newlines(text []byte, at int, also byte) int {
	for at < len(text) && (text[at] == '\n' || text[at] == '\r' || text[at] == also) {
		at++
	}
	return at
}

// blanks is \s+(?!\S)|\s+ at a blank: all blanks but the last one, which goes with what follows, unless there is nothing
// else. A class with a bit of stop is the end of the text.
func (s scan) blanks(text []byte, at int, stop uint8) int {
	end := s.while(text, at, charset.Blank)
	class, size := s.At(text, end)
	if size == 0 || class&stop != 0 {
		return end
	}
	last := end - 1
	if text[last] >= utf8.RuneSelf {
		_, size := utf8.DecodeLastRune(text[:end])
		last = end - size
	}
	if last <= at {
		return end
	}
	return last
}

// lines is \s*[\r\n]+|\s+(?!\S)|\s+ at a blank: up to the last line's end among the blanks, if there is one.
func (s scan) lines(text []byte, at int, stop uint8) int {
	end := s.while(text, at, charset.Blank)
	for last := end; last > at; last-- {
		if b := text[last-1]; b == '\n' || b == '\r' {
			return last
		}
	}
	return s.blanks(text, at, stop)
}

// digits is \p{N}{1,most} behind the first digit, which ends at text[at].
func (s scan) digits(text []byte, at, most int) int {
	for range most - 1 {
		class, size := s.At(text, at)
		if class&charset.Numeric == 0 {
			break
		}
		at += size
	}
	return at
}

// contraction is 's|'t|'re|'ve|'m|'ll|'d at the apostrophe text[at]: where it ends, or at where there is none.
func contraction(text []byte, at int) int {
	rest := text[at+1:]
	if len(rest) == 0 {
		return at
	}
	switch rest[0] {
	case 's', 't', 'm', 'd':
		return at + 2
	}
	if len(rest) > 1 && (rest[1] == 'e' && (rest[0] == 'r' || rest[0] == 'v') || rest[0] == 'l' && rest[1] == 'l') {
		return at + 3
	}
	return at
}

// anyContraction is contraction in any case. The long s, U+017F, is an s in another case.
func anyContraction(text []byte, at int) int {
	rest := text[at+1:]
	if len(rest) == 0 {
		return at
	}
	a := rest[0] | 0x20
	switch a {
	case 's', 't', 'm', 'd':
		return at + 2
	}
	if len(rest) == 1 {
		return at
	}
	b := rest[1] | 0x20
	if b == 'e' && (a == 'r' || a == 'v') || a == 'l' && b == 'l' {
		return at + 3
	}
	if rest[0] == 0xC5 && rest[1] == 0xBF {
		return at + 3
	}
	return at
}
