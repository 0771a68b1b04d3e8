package jinja

import "strings"

// percent is Python's format % args.
func (s *state) percent(format string, args Value) string {
	p := percenter{s: s, f: format, arg: args, single: args.kind != tupleKind && args.kind != groupKind}
	var out []byte
	for p.at < len(p.f) {
		i := strings.IndexByte(p.f[p.at:], '%')
		if i < 0 {
			i = len(p.f) - p.at
		}
		out = append(out, p.f[p.at:p.at+i]...)
		p.at += i
		if p.at < len(p.f) {
			p.at++
			out = append(out, p.one()...)
		}
		s.bounded(out)
	}
	left := p.single && !p.used || !p.single && p.n < len(args.list())
	switch args.kind {
	case dictKind, listKind, undefinedKind, rangeKind:
		left = false
	}
	if left {
		s.fail("not all arguments converted during string formatting")
	}
	s.spend(len(out))
	return string(out)
}

type percenter struct {
	s      *state
	f      string
	at     int
	arg    Value
	single bool
	used   bool
	n      int
}

func (p *percenter) peek() byte {
	if p.at >= len(p.f) {
		p.s.fail("incomplete format")
	}
	return p.f[p.at]
}

func (p *percenter) take() Value {
	if p.single {
		if p.used {
			p.s.fail("not enough arguments for format string")
		}
		p.used = true
		return p.arg
	}
	if p.n >= len(p.arg.list()) {
		p.s.fail("not enough arguments for format string")
	}
	p.n++
	return p.arg.list()[p.n-1]
}

func (p *percenter) one() string {
	s := p.s
	var keyed Value
	if p.peek() == '(' {
		keyed = p.key()
	}
	sp := spec{prec: -1, align: '>'}
	zero := false
	for ; strings.IndexByte("-+ 0#", p.peek()) >= 0; p.at++ {
		switch c := p.peek(); c {
		case '-':
			sp.align = '<'
		case '+':
			sp.sign = c
		case ' ':
			if sp.sign == 0 {
				sp.sign = c
			}
		case '0':
			zero = true
		case '#':
			sp.alt = true
		}
	}
	sp.width = p.count()
	if sp.width < 0 {
		sp.align, sp.width = '<', -sp.width
	}
	if p.peek() == '.' {
		p.at++
		sp.prec = max(p.count(), 0)
	}
	for strings.IndexByte("hlL", p.peek()) >= 0 {
		p.at++
	}
	sp.verb = p.peek()
	p.at++
	if sp.verb == '%' {
		return "%"
	}
	v := keyed
	if !v.given() {
		v = p.take()
	}
	if zero && sp.align != '<' && strings.IndexByte("srac", sp.verb) < 0 {
		sp.align, sp.fill = '=', "0"
	}
	return s.percentValue(v, sp)
}

func (p *percenter) key() Value {
	s := p.s
	from, depth := p.at+1, 0
	for {
		switch p.peek() {
		case '(':
			depth++
		case ')':
			depth--
		}
		p.at++
		if depth == 0 {
			break
		}
	}
	if p.arg.kind != dictKind {
		s.fail("format requires a mapping")
	}
	name := p.f[from : p.at-1]
	v, ok := p.arg.dict().named(name)
	if !ok {
		s.fail("the key %s is not there", reprStr(name))
	}
	p.used = true
	return v
}

func (p *percenter) count() int64 {
	if p.peek() == '*' {
		p.at++
		v := p.take()
		if !v.isInt() {
			p.s.fail("* wants int")
		}
		return v.int()
	}
	n := int64(0)
	for c := p.peek(); c >= '0' && c <= '9'; c = p.peek() {
		if n = n*10 + int64(c-'0'); n > 1<<31 {
			p.s.fail("width too big")
		}
		p.at++
	}
	return n
}

func (s *state) percentValue(v Value, sp spec) string {
	switch sp.verb {
	case 's', 'r':
		t := ""
		if sp.verb == 's' {
			t = s.str(v)
		} else {
			t = string(s.appendRepr(nil, v))
		}
		if sp.prec >= 0 {
			t = firstChars(t, int(sp.prec))
		}
		return s.padded(t, "", sp, '>')
	case 'd', 'i', 'u':
		if v.kind == floatKind {
			v = s.truncFloat(v.float(), Value{})
			if !v.given() {
				s.fail("cannot convert float NaN or infinity to integer")
			}
		}
		s.numeric(v, "%d format: a real number is required, not %s")
		return s.percentInt(v, sp, 'd')
	case 'x', 'X', 'o':
		if !v.isInt() {
			s.fail("%%%c format: an integer is required, not %s", sp.verb, typeName(v))
		}
		return s.percentInt(v, sp, sp.verb)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		s.numeric(v, "must be real number, not %s")
		return s.number(v, sp)
	case 'c':
		if v.kind == strKind && runes(v.str) == 1 {
			return s.padded(v.str, "", sp, '>')
		}
		if !v.isInt() {
			s.fail("%%c requires int or char")
		}
		return s.number(v, sp)
	}
	s.fail("unsupported format character '%c'", sp.verb)
	return ""
}

func (s *state) numeric(v Value, text string) {
	if v.isUndef() {
		s.fail("%s", undefinedText(v))
	}
	if !v.isNumber() {
		s.fail(text, typeName(v))
	}
}

// percentInt writes an integer with at least as many digits as the precision.
func (s *state) percentInt(v Value, sp spec, verb byte) string {
	sp.verb = verb
	prec := sp.prec
	if prec <= 0 {
		return s.number(v, sp)
	}
	if sp.alt {
		s.fail("the flag '#' with a precision is not supported")
	}
	bare := spec{prec: -1, verb: verb}
	t := strings.TrimPrefix(s.number(v, bare), "-")
	if n := prec - int64(len(t)); n > 0 {
		s.spendTimes(1, n)
		t = strings.Repeat("0", int(n)) + t
	}
	return s.padded(t, signOf(v.int() < 0, sp.sign), sp, '>')
}
