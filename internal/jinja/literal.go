package jinja

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// number takes an integer or a float; a float needs digits on both sides of
// its dot.
func (l *lexer) number() {
	from, s := l.at, l.src
	if s[from] == '0' && from+1 < len(s) && strings.IndexByte("bBoOxX", s[from+1]) >= 0 {
		base := map[byte]int{'b': 2, 'o': 8, 'x': 16}[s[from+1]|0x20]
		if end := digits(s, from+2, base, true); end > from+2 {
			l.integer(from, end, base, s[from+2:end])
			return
		}
	}
	end := digits(s, from, 10, false)
	float := false
	if from == 0 || s[from-1] != '.' {
		if end < len(s) && s[end] == '.' {
			if e := digits(s, end+1, 10, false); e > end+1 {
				end, float = e, true
			}
		}
		if end < len(s) && s[end]|0x20 == 'e' {
			e := end + 1
			if e < len(s) && (s[e] == '+' || s[e] == '-') {
				e++
			}
			if x := digits(s, e, 10, false); x > e {
				end, float = x, true
			}
		}
	}
	if float {
		f, err := strconv.ParseFloat(strings.ReplaceAll(s[from:end], "_", ""), 64)
		if err != nil && !math.IsInf(f, 0) {
			l.fail(from, "%q is not a number", s[from:end])
		}
		l.toks = append(l.toks, token{kind: floatToken, pos: from, num: math.Float64bits(f)})
		l.at = end
		return
	}
	if s[from] == '0' {
		// 0 followed by other digits is two numbers, which no expression has.
		end = from + 1
		for end < len(s) && (s[end] == '0' || s[end] == '_' && end+1 < len(s) && s[end+1] == '0') {
			end++
		}
	}
	l.integer(from, end, 10, s[from:end])
}

// digits is the end of a run of digits with single underscores between.
func digits(s string, i, base int, lead bool) int {
	start := i
	for i < len(s) {
		c := s[i]
		if c == '_' && (i > start || lead) && i+1 < len(s) && digitOf(s[i+1]) < base {
			i += 2
			continue
		}
		if digitOf(c) >= base {
			break
		}
		i++
	}
	return i
}

func digitOf(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return 99
}

func (l *lexer) integer(from, end, base int, text string) {
	n, err := strconv.ParseInt(strings.ReplaceAll(text, "_", ""), base, 64)
	if err != nil {
		l.fail(from, "the integer %s has more than 64 bits, which is not supported", text)
	}
	l.toks = append(l.toks, token{kind: intToken, pos: from, num: uint64(n)})
	l.at = end
}

// quoted takes a string literal and undoes its escapes.
func (l *lexer) quoted(quote byte) {
	from := l.at
	i := from + 1
	for i < len(l.src) && l.src[i] != quote {
		if l.src[i] == '\\' {
			i++
		}
		i++
	}
	if i >= len(l.src) {
		l.fail(from, "the string has no end")
	}
	l.toks = append(l.toks, token{kind: strToken, pos: from, text: l.unescape(l.src[from+1:i], from+1)})
	l.at = i + 1
}

func (l *lexer) unescape(s string, pos int) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 >= len(s) {
			out = append(out, s[i])
			continue
		}
		i++
		if k := strings.IndexByte("abfnrtv\\'\"", s[i]); k >= 0 {
			out = append(out, "\a\b\f\n\r\t\v\\'\""[k])
			continue
		}
		switch c := s[i]; {
		case c == '\n':
		case c >= '0' && c <= '7':
			r := rune(0)
			n := 0
			for n < 3 && i+n < len(s) && s[i+n] >= '0' && s[i+n] <= '7' {
				r = r<<3 | rune(s[i+n]-'0')
				n++
			}
			out = utf8.AppendRune(out, r)
			i += n - 1
		case c == 'x' || c == 'u' || c == 'U':
			width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
			if i+1+width > len(s) {
				l.fail(pos+i-1, "the escape \\%c needs %d hexadecimal digits", c, width)
			}
			n, err := strconv.ParseUint(s[i+1:i+1+width], 16, 32)
			if err != nil {
				l.fail(pos+i-1, "the escape \\%c needs %d hexadecimal digits", c, width)
			}
			if n > utf8.MaxRune || n >= 0xD800 && n < 0xE000 {
				l.fail(pos+i-1, "the escape \\%s is not a character of UTF-8", s[i:i+1+width])
			}
			out = utf8.AppendRune(out, rune(n))
			i += width
		case c == 'N':
			l.fail(pos+i-1, "the escape \\N{...} is not supported; write the character itself")
		default:
			out = append(out, '\\', c)
		}
	}
	return string(out)
}
