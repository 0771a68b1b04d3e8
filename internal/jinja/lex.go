package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type tokenKind uint8

const (
	eofToken tokenKind = iota
	dataToken
	blockBegin
	blockEnd
	varBegin
	varEnd
	nameToken
	strToken
	intToken
	floatToken
	opToken
)

// token is a word of the template; pos is its byte in the source.
type token struct {
	kind tokenKind
	pos  int
	text string // name, operator, or the value of data and strings
	num  uint64
}

func (t token) is(kind tokenKind, text string) bool { return t.kind == kind && t.text == text }

// describe names a token in errors.
func (t token) describe() string {
	switch t.kind {
	case eofToken:
		return "end of template"
	case dataToken:
		return "template text"
	case blockBegin:
		return "begin of statement block"
	case blockEnd:
		return "end of statement block"
	case varBegin:
		return "begin of print statement"
	case varEnd:
		return "end of print statement"
	case strToken:
		return "string"
	case intToken:
		return "integer"
	case floatToken:
		return "float"
	}
	return t.text
}

// lexer cuts a template into tokens, with trim_blocks and lstrip_blocks on.
type lexer struct {
	src       string
	at        int
	toks      []token
	lineStart bool // the last tag ended with a newline, or nothing came yet
	fail      func(pos int, format string, args ...any)
}

// plainNewlines turns \r\n and \r into \n and drops one newline at the end.
func plainNewlines(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.ReplaceAll(s, "\r", "\n")
	return strings.TrimSuffix(s, "\n")
}

func (l *lexer) run() []token {
	l.lineStart = true
	for l.at < len(l.src) {
		l.text()
	}
	l.toks = append(l.toks, token{kind: eofToken, pos: len(l.src)})
	return l.toks
}

// text takes the text up to the next tag, and the tag.
func (l *lexer) text() {
	rest := l.src[l.at:]
	open := -1
	for i := 0; i+1 < len(rest); i++ {
		if rest[i] == '{' && (rest[i+1] == '{' || rest[i+1] == '%' || rest[i+1] == '#') {
			open = i
			break
		}
	}
	if open < 0 {
		l.data(rest, l.at)
		l.at = len(l.src)
		return
	}
	pos := l.at + open
	which, text := rest[open+1], rest[:open]
	after := pos + 2
	var sign byte
	if after < len(l.src) && (l.src[after] == '-' || l.src[after] == '+') {
		sign = l.src[after]
		after++
	}
	l.data(l.strip(text, sign, which == '{'), l.at)
	if which == '%' {
		if end, ok := rawOpen(l.src[after:]); ok {
			l.raw(pos, after+end)
			return
		}
	}
	l.at = after
	switch which {
	case '#':
		l.comment(pos)
	case '{':
		l.toks = append(l.toks, token{kind: varBegin, pos: pos})
		l.tag(pos, false)
	case '%':
		l.toks = append(l.toks, token{kind: blockBegin, pos: pos})
		l.tag(pos, true)
	}
}

// strip is the text before a tag as the tag's sign leaves it.
func (l *lexer) strip(text string, sign byte, isVar bool) string {
	if sign == '-' {
		return strings.TrimRightFunc(text, isSpace)
	}
	if sign == '+' || isVar {
		return text
	}
	line := strings.LastIndexByte(text, '\n') + 1
	if (line > 0 || l.lineStart) && strings.TrimLeftFunc(text[line:], isSpace) == "" {
		return text[:line]
	}
	return text
}

func (l *lexer) data(text string, pos int) {
	if text != "" {
		l.toks = append(l.toks, token{kind: dataToken, pos: pos, text: text})
	}
}

// rawOpen matches what stands after "{%" of a raw tag.
func rawOpen(s string) (int, bool) {
	rest, ok := strings.CutPrefix(strings.TrimLeftFunc(s, isSpace), "raw")
	if !ok {
		return 0, false
	}
	rest = strings.TrimLeftFunc(rest, isSpace)
	if r, ok := strings.CutPrefix(rest, "-%}"); ok {
		return len(s) - len(strings.TrimLeftFunc(r, isSpace)), true
	}
	if r, ok := strings.CutPrefix(rest, "%}"); ok {
		return len(s) - len(r), true
	}
	return 0, false
}

func (l *lexer) raw(pos, from int) {
	l.lineStart = l.src[from-1] == '\n'
	for i := from; i+1 < len(l.src); i++ {
		if l.src[i] != '{' || l.src[i+1] != '%' {
			continue
		}
		after := i + 2
		var sign byte
		if after < len(l.src) && (l.src[after] == '-' || l.src[after] == '+') {
			sign = l.src[after]
			after++
		}
		rest, ok := strings.CutPrefix(strings.TrimLeftFunc(l.src[after:], isSpace), "endraw")
		if !ok {
			continue
		}
		rest = strings.TrimLeftFunc(rest, isSpace)
		if n := closing(rest, "%}", true); n > 0 {
			l.data(l.strip(l.src[from:i], sign, false), from)
			l.at = len(l.src) - len(rest) + n
			l.lineStart = l.src[l.at-1] == '\n'
			return
		}
	}
	l.fail(pos, "the raw block has no end; close it with {%% endraw %%}")
}

func (l *lexer) comment(pos int) {
	for i := l.at; i < len(l.src); i++ {
		if n := closing(l.src[i:], "#}", true); n > 0 {
			l.at = i + n
			l.lineStart = l.src[l.at-1] == '\n'
			return
		}
	}
	l.fail(pos, "the comment has no end; close it with #}")
}

// closing is the length of an end tag at the start of s: with its sign, and
// what the sign or trim_blocks takes behind it. 0: there is none.
func closing(s, end string, block bool) int {
	if r, ok := strings.CutPrefix(s, "-"+end); ok {
		return len(s) - len(strings.TrimLeftFunc(r, isSpace))
	}
	if block && strings.HasPrefix(s, "+"+end) {
		return 1 + len(end)
	}
	if !strings.HasPrefix(s, end) {
		return 0
	}
	if block && strings.HasPrefix(s[len(end):], "\n") {
		return len(end) + 1
	}
	return len(end)
}

// tag takes the words of a {{ }} or {% %} up to and with its end.
func (l *lexer) tag(open int, block bool) {
	var braces []byte
	end, endKind := "}}", varEnd
	if block {
		end, endKind = "%}", blockEnd
	}
	for {
		if l.at >= len(l.src) {
			return
		}
		if len(braces) == 0 {
			if n := closing(l.src[l.at:], end, block); n > 0 {
				l.toks = append(l.toks, token{kind: endKind, pos: l.at})
				l.at += n
				l.lineStart = l.src[l.at-1] == '\n'
				return
			}
		}
		r, n := utf8.DecodeRuneInString(l.src[l.at:])
		switch {
		case isSpace(r):
			l.at += n
		case r >= '0' && r <= '9':
			l.number()
		case r == '\'' || r == '"':
			l.quoted(byte(r))
		case r == '_' || unicode.IsLetter(r):
			l.name()
		default:
			braces = l.operator(braces)
		}
	}
}

func (l *lexer) name() {
	from := l.at
	for l.at < len(l.src) {
		r, n := utf8.DecodeRuneInString(l.src[l.at:])
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) && !unicode.Is(unicode.Mc, r) {
			break
		}
		l.at += n
	}
	l.toks = append(l.toks, token{kind: nameToken, pos: from, text: l.src[from:l.at]})
}

func (l *lexer) operator(braces []byte) []byte {
	for _, op := range []string{"//", "**", "==", "!=", ">=", "<="} {
		if strings.HasPrefix(l.src[l.at:], op) {
			l.toks = append(l.toks, token{kind: opToken, pos: l.at, text: op})
			l.at += 2
			return braces
		}
	}
	c := l.src[l.at]
	if strings.IndexByte("+-/*%~[](){}><=.:|,;", c) < 0 {
		r, _ := utf8.DecodeRuneInString(l.src[l.at:])
		l.fail(l.at, "unexpected character %q", r)
	}
	switch c {
	case '{':
		braces = append(braces, '}')
	case '(':
		braces = append(braces, ')')
	case '[':
		braces = append(braces, ']')
	case '}', ')', ']':
		if len(braces) == 0 {
			l.fail(l.at, "unexpected '%c'", c)
		}
		if want := braces[len(braces)-1]; want != c {
			l.fail(l.at, "unexpected '%c', expected '%c'", c, want)
		}
		braces = braces[:len(braces)-1]
	}
	l.toks = append(l.toks, token{kind: opToken, pos: l.at, text: l.src[l.at : l.at+1]})
	l.at++
	return braces
}
