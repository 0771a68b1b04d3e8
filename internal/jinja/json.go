package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ParseJSON reads a JSON text as Python's json.loads does: keys keep their
// order, of keys given twice the last value counts, 1 is an integer and 1.0 a
// float, NaN and Infinity are numbers. Half a surrogate pair becomes U+FFFD.
func ParseJSON(text string) (Value, error) {
	p := jsonParser{s: text}
	v := p.value(0)
	p.space()
	if p.err == nil && p.at < len(text) {
		p.fail("unexpected text behind the value")
	}
	return v, p.err
}

type jsonParser struct {
	s   string
	at  int
	err error
}

func (p *jsonParser) fail(text string) Value {
	if p.err == nil {
		p.err = fmt.Errorf("JSON, byte %d: %s", p.at, text)
	}
	p.at = len(p.s)
	return Value{}
}

func (p *jsonParser) space() {
	for p.at < len(p.s) && strings.IndexByte(" \t\r\n", p.s[p.at]) >= 0 {
		p.at++
	}
}

func (p *jsonParser) skip(c byte) bool {
	p.space()
	if p.at < len(p.s) && p.s[p.at] == c {
		p.at++
		return true
	}
	return false
}

func (p *jsonParser) value(depth int) Value {
	p.space()
	if depth > maxDepth {
		return p.fail("nested too deep")
	}
	if p.at >= len(p.s) {
		return p.fail("the text ends early")
	}
	switch p.s[p.at] {
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	case '"':
		return Str(p.text())
	}
	for _, w := range []struct {
		text string
		v    Value
	}{{"null", None()}, {"true", Bool(true)}, {"false", Bool(false)}, {"NaN", Float(math.NaN())},
		{"Infinity", Float(math.Inf(1))}, {"-Infinity", Float(math.Inf(-1))}} {
		if strings.HasPrefix(p.s[p.at:], w.text) {
			p.at += len(w.text)
			return w.v
		}
	}
	return p.number()
}

func (p *jsonParser) object(depth int) Value {
	p.at++
	d := &dict{}
	if p.skip('}') {
		return dictOf(d)
	}
	for p.err == nil {
		p.space()
		if p.at >= len(p.s) || p.s[p.at] != '"' {
			return p.fail("expected a key in double quotes")
		}
		k := Str(p.text())
		if !p.skip(':') {
			return p.fail("expected ':'")
		}
		d.put(k, p.value(depth+1))
		if p.skip('}') {
			break
		}
		if !p.skip(',') {
			return p.fail("expected ',' or '}'")
		}
	}
	return dictOf(d)
}

func (p *jsonParser) array(depth int) Value {
	p.at++
	var items []Value
	if p.skip(']') {
		return List(items)
	}
	for p.err == nil {
		items = append(items, p.value(depth+1))
		if p.skip(']') {
			break
		}
		if !p.skip(',') {
			return p.fail("expected ',' or ']'")
		}
	}
	return List(items)
}

func (p *jsonParser) text() string {
	p.at++
	from := p.at
	for p.at < len(p.s) {
		switch c := p.s[p.at]; {
		case c == '"':
			p.at++
			return p.s[from : p.at-1]
		case c == '\\':
			return p.escaped(from)
		case c < ' ':
			p.fail("a control character in a string")
		}
		p.at++
	}
	p.fail("the string has no end")
	return ""
}

func (p *jsonParser) escaped(from int) string {
	out := []byte(p.s[from:p.at])
	for p.at < len(p.s) {
		c := p.s[p.at]
		p.at++
		switch {
		case c == '"':
			return string(out)
		case c < ' ':
			p.fail("a control character in a string")
		case c != '\\':
			out = append(out, c)
		case p.at < len(p.s):
			c = p.s[p.at]
			p.at++
			if k := strings.IndexByte(`"\/bfnrt`, c); k >= 0 {
				out = append(out, "\"\\/\b\f\n\r\t"[k])
			} else if c == 'u' {
				out = utf8.AppendRune(out, p.unicode())
			} else {
				p.fail("an unknown escape in a string")
			}
		}
	}
	p.fail("the string has no end")
	return ""
}

func (p *jsonParser) unicode() rune {
	r := p.hex()
	if utf16.IsSurrogate(r) && strings.HasPrefix(p.s[min(p.at, len(p.s)):], `\u`) {
		back := p.at
		p.at += 2
		if both := utf16.DecodeRune(r, p.hex()); both != utf8.RuneError {
			return both
		}
		if p.err == nil {
			p.at = back
		}
	}
	return r
}

func (p *jsonParser) hex() rune {
	if p.at+4 > len(p.s) {
		p.fail("the string has no end")
		return 0
	}
	n, err := strconv.ParseUint(p.s[p.at:p.at+4], 16, 16)
	if err != nil {
		p.fail("\\u needs four hexadecimal digits")
		return 0
	}
	p.at += 4
	return rune(n)
}

func (p *jsonParser) number() Value {
	from := p.at
	for p.at < len(p.s) && strings.IndexByte("+-0123456789.eE", p.s[p.at]) >= 0 {
		p.at++
	}
	t := p.s[from:p.at]
	body := strings.TrimPrefix(t, "-")
	if body == "" || body[0] < '0' || body[0] > '9' || len(body) > 1 && body[0] == '0' && body[1] >= '0' && body[1] <= '9' || strings.HasSuffix(body, ".") || strings.Contains(body, ".e") || strings.Contains(body, ".E") {
		p.at = from
		return p.fail("this is not a value")
	}
	if !strings.ContainsAny(t, ".eE") {
		n, err := strconv.ParseInt(t, 10, 64)
		if err != nil {
			p.at = from
			return p.fail("an integer of more than 64 bits is not supported")
		}
		return Int(n)
	}
	f, err := strconv.ParseFloat(t, 64)
	if err != nil && !math.IsInf(f, 0) {
		p.at = from
		return p.fail("this is not a number")
	}
	return Float(f)
}
