package jinja

import (
	"strconv"
	"strings"
)

// format is Python's str.format.
func (s *state) format(f string, args []Value, kw []named) string {
	p := formatter{s: s, args: args, kw: kw, auto: -1}
	out := p.run(f, 2)
	s.spend(len(out))
	return out
}

type formatter struct {
	s    *state
	args []Value
	kw   []named
	auto int // next field without a name; -1: none so far, -2: fields have numbers
}

func (p *formatter) run(f string, depth int) string {
	s := p.s
	if depth == 0 {
		s.fail("Max string recursion exceeded")
	}
	var out []byte
	for i := 0; i < len(f); i++ {
		c := f[i]
		switch {
		case c != '{' && c != '}':
			out = append(out, c)
		case i+1 < len(f) && f[i+1] == c:
			out = append(out, c)
			i++
		case c == '}':
			s.fail("Single '}' encountered in format string")
		default:
			end := closingBrace(f, i)
			if end < 0 {
				s.fail("expected '}' before end of string")
			}
			out = append(out, p.field(f[i+1:end], depth)...)
			i = end
		}
		s.bounded(out)
	}
	return string(out)
}

func closingBrace(f string, open int) int {
	depth := 0
	for i := open; i < len(f); i++ {
		switch f[i] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

func (p *formatter) field(f string, depth int) string {
	s := p.s
	name, spec, _ := strings.Cut(f, ":")
	name, conv, has := strings.Cut(name, "!")
	v := p.value(name)
	if has {
		switch conv {
		case "s":
			v = Str(s.str(v))
		case "r":
			v = Str(string(s.appendRepr(nil, v)))
		default:
			s.fail("Unknown conversion specifier %s", conv)
		}
	}
	if strings.ContainsAny(spec, "{}") {
		spec = p.run(spec, depth-1)
	}
	return s.formatted(v, spec)
}

// value finds what a field names: 0, name, 0.attr, name[key].
func (p *formatter) value(name string) Value {
	s := p.s
	end := strings.IndexAny(name, ".[")
	if end < 0 {
		end = len(name)
	}
	v := p.first(name[:end])
	rest := name[end:]
	for rest != "" {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[") + 1
			if end == 0 {
				end = len(rest)
			}
			if end == 1 {
				s.fail("Empty attribute in format string")
			}
			v, rest = s.attr(v, rest[1:end]), rest[end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			s.fail("this field of the format string is broken: %s", reprStr(name))
		}
		k := Str(rest[1:end])
		if n, err := strconv.ParseUint(k.str, 10, 31); err == nil {
			k = Int(int64(n))
		}
		v, rest = s.item(v, k), rest[end+1:]
	}
	return v
}

func (p *formatter) first(name string) Value {
	s := p.s
	n, err := strconv.ParseUint(name, 10, 31)
	switch {
	case name == "":
		if p.auto == -2 {
			s.fail("cannot switch from manual field specification to automatic field numbering")
		}
		p.auto = max(p.auto, 0)
		n = uint64(p.auto)
		p.auto++
	case err == nil:
		if p.auto >= 0 {
			s.fail("cannot switch from manual field specification to automatic field numbering")
		}
		p.auto = -2
	default:
		for _, k := range p.kw {
			if k.name == name {
				return k.v
			}
		}
		s.fail("the format string's field %s is not given", reprStr(name))
	}
	if n >= uint64(len(p.args)) {
		s.fail("Replacement index %d out of range for positional args tuple", n)
	}
	return p.args[n]
}

// formatted is Python's format(v, text).
func (s *state) formatted(v Value, text string) string {
	if text == "" {
		return s.str(v)
	}
	sp := s.parseSpec(text)
	switch {
	case v.isNumber():
		if sp.prec >= 0 && v.isInt() && (sp.verb == 0 || strings.IndexByte("dxXobcn", sp.verb) >= 0) {
			s.fail("Precision not allowed in integer format specifier")
		}
		return s.number(v, sp)
	case v.kind == strKind:
		if sp.verb != 0 && sp.verb != 's' {
			s.fail("Unknown format code '%c' for object of type 'str'", sp.verb)
		}
		if sp.sign != 0 || sp.alt || sp.comma != 0 || sp.align == '=' && sp.fill != "0" {
			s.fail("this format is not allowed for strings: %s", reprStr(text))
		}
		if sp.align == '=' {
			sp.align = '<'
		}
		t := v.str
		if sp.prec >= 0 {
			t = firstChars(t, int(sp.prec))
		}
		return s.padded(t, "", sp, '<')
	}
	s.fail("unsupported format string passed to %s.__format__", typeName(v))
	return ""
}

func (s *state) parseSpec(t string) spec {
	sp := spec{prec: -1}
	isAlign := func(c byte) bool { return c == '<' || c == '>' || c == '^' || c == '=' }
	if _, n := decode(t); len(t) > n && isAlign(t[n]) {
		sp.fill, sp.align, t = t[:n], t[n], t[n+1:]
	} else if isAlign(t[0]) {
		sp.align, t = t[0], t[1:]
	}
	eat := func(chars string) byte {
		if t == "" || strings.IndexByte(chars, t[0]) < 0 {
			return 0
		}
		c := t[0]
		t = t[1:]
		return c
	}
	num := func() int64 {
		n := int64(0)
		for c := eat("0123456789"); c != 0; c = eat("0123456789") {
			if n = n*10 + int64(c-'0'); n > 1<<31 {
				s.fail("Too many decimal digits in format string")
			}
		}
		return n
	}
	sp.sign = eat("+- ")
	sp.alt = eat("#") != 0
	if eat("0") != 0 && sp.align == 0 {
		sp.align, sp.fill = '=', "0"
	}
	sp.width = num()
	sp.comma = eat(",_")
	if eat(".") != 0 {
		if t == "" || t[0] < '0' || t[0] > '9' {
			s.fail("Format specifier missing precision")
		}
		sp.prec = num()
	}
	if len(t) > 1 {
		s.fail("Invalid format specifier")
	}
	if t != "" {
		sp.verb = t[0]
	}
	return sp
}
