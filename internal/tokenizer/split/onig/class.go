package onig

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// class reads a bracketed class behind its opening bracket.
func (p *parser) class(f flags) (charset.Set, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.refuse("classes nest deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	negated := p.take("^")
	var sets []charset.Set
	for first := true; ; first = false {
		if !p.more() {
			return nil, p.refuse("a class is not closed")
		}
		if p.peek() == ']' && !first {
			p.next()
			break
		}
		if p.peek() == ']' && !strings.Contains(p.pattern[p.at+1:], "]") {
			return nil, p.refuse("a class is empty")
		}
		set, err := p.member(f)
		if err != nil {
			return nil, err
		}
		sets = append(sets, set)
	}
	set := charset.Union(sets...)
	var err error
	if f.ignoreCase {
		if set, err = p.folded(set); err != nil {
			return nil, err
		}
	}
	if negated {
		set = set.Negate()
	}
	return set, nil
}

// member reads one part of a class: a character, a range, a named class or a class within.
func (p *parser) member(f flags) (charset.Set, error) {
	switch {
	case p.take("[:"):
		return p.posix()
	case p.take("["):
		return p.class(f)
	case strings.HasPrefix(p.pattern[p.at:], "&&"):
		return nil, p.refuse("&& in a class is not supported")
	}
	set, low, err := p.single()
	if err != nil {
		return nil, err
	}
	rest := p.pattern[p.at:]
	if len(rest) < 2 || rest[0] != '-' || rest[1] == ']' {
		if low >= 0 {
			set = charset.Of(charset.Range{Lo: low, Hi: low})
		}
		return set, nil
	}
	if low < 0 || strings.HasPrefix(rest[1:], "[") || strings.HasPrefix(rest[1:], "-") {
		return nil, p.refuse("the hyphen in a class stands for no range; write \\-")
	}
	p.next()
	_, high, err := p.single()
	if err != nil {
		return nil, err
	}
	if high < low {
		return nil, p.refuse("a range in a class ends before it begins, or in a class")
	}
	return charset.Of(charset.Range{Lo: low, Hi: high}), nil
}

// single reads a character (low >= 0) or an escaped class (low < 0).
func (p *parser) single() (set charset.Set, low rune, err error) {
	c := p.next()
	if c != '\\' {
		return nil, c, nil
	}
	if !p.more() {
		return nil, -1, p.refuse("ends in a backslash")
	}
	switch p.peek() {
	case 'w':
		p.next()
		return charset.Word(), -1, nil
	case 'W':
		p.next()
		return charset.Word().Negate(), -1, nil
	case 'b', 'A', 'z', 'Z', 'B':
		return nil, -1, p.refuse("\\%c in a class is not supported", p.peek())
	}
	return p.escaped()
}

func (p *parser) posix() (charset.Set, error) {
	end := strings.Index(p.pattern[p.at:], ":]")
	if end < 0 {
		return nil, p.refuse("a class like [:alpha:] is not closed")
	}
	name, negated := strings.CutPrefix(p.pattern[p.at:p.at+end], "^")
	set, known := charset.Posix(name)
	if !known {
		return nil, p.refuse("the class [:%s:] is not supported", name)
	}
	p.at += end + len(":]")
	if negated {
		set = set.Negate()
	}
	return set, nil
}

// escaped reads an escape that means the same within a class and outside: a set, or one character (>= 0).
func (p *parser) escaped() (charset.Set, rune, error) {
	c := p.next()
	if set, known := shorthand(c); known {
		return set, -1, nil
	}
	switch c {
	case 'p', 'P':
		set, err := p.property(c == 'P')
		return set, -1, err
	case 't', 'n', 'r', 'f', 'v', 'a', 'e':
		return nil, rune("\t\n\r\f\v\a\x1b"[strings.IndexRune("tnrfvae", c)]), nil
	case 'x':
		return p.hexadecimal()
	case 'u':
		return p.hexDigits(4, 4, "")
	}
	if c >= utf8.RuneSelf || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
		return nil, -1, p.refuse("\\%c is not supported", c)
	}
	return nil, c, nil
}

func shorthand(c rune) (charset.Set, bool) {
	var set charset.Set
	switch c {
	case 's', 'S':
		set = charset.Space()
	case 'd', 'D':
		set, _ = charset.Property("Nd")
	case 'h', 'H':
		set, _ = charset.Property("xdigit")
	default:
		return nil, false
	}
	if c <= 'Z' {
		set = set.Negate()
	}
	return set, true
}

func (p *parser) hexadecimal() (charset.Set, rune, error) {
	if p.take("{") {
		return p.hexDigits(1, 8, "}")
	}
	set, c, err := p.hexDigits(2, 2, "")
	if c >= utf8.RuneSelf {
		return nil, -1, p.refuse("\\x of a single byte is not supported; write \\x{%x}", c)
	}
	return set, c, err
}

func (p *parser) hexDigits(least, most int, end string) (charset.Set, rune, error) {
	digits := 0
	for digits < most && p.at+digits < len(p.pattern) && strings.IndexByte("0123456789abcdefABCDEF", p.pattern[p.at+digits]) >= 0 {
		digits++
	}
	code, err := strconv.ParseUint(p.pattern[p.at:p.at+digits], 16, 31)
	p.at += digits
	if digits < least || err != nil || !utf8.ValidRune(rune(code)) || !p.take(end) {
		return nil, -1, p.refuse("the number of a character is not right")
	}
	return nil, rune(code), nil
}

func (p *parser) property(negated bool) (charset.Set, error) {
	end := strings.IndexByte(p.pattern[p.at:], '}')
	if end < 0 || !p.take("{") {
		return nil, p.refuse("\\p without {name} is not supported")
	}
	name := p.pattern[p.at : p.at+end-1]
	name, inverse := strings.CutPrefix(name, "^")
	set, known := charset.Property(name)
	if !known {
		return nil, p.refuse("\\p{%s} is not supported", name)
	}
	p.at += strings.IndexByte(p.pattern[p.at:], '}') + 1
	if negated != inverse {
		set = set.Negate()
	}
	return set, nil
}
