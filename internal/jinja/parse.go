package jinja

import (
	"strings"
)

// maxDepth bounds how deep a template's expressions, blocks and calls nest.
const maxDepth = 400

type parser struct {
	toks  []token
	at    int
	depth int
	loops int // for blocks around, in this function
	fail  func(pos int, format string, args ...any)
}

func (p *parser) cur() token  { return p.toks[p.at] }
func (p *parser) look() token { return p.toks[min(p.at+1, len(p.toks)-1)] }

func (p *parser) next() token {
	t := p.toks[p.at]
	if p.at < len(p.toks)-1 {
		p.at++
	}
	return t
}

func (p *parser) isOp(op string) bool     { return p.cur().is(opToken, op) }
func (p *parser) isName(name string) bool { return p.cur().is(nameToken, name) }

func (p *parser) skipOp(op string) bool {
	if p.isOp(op) {
		p.next()
		return true
	}
	return false
}

func (p *parser) skipName(name string) bool {
	if p.isName(name) {
		p.next()
		return true
	}
	return false
}

func (p *parser) expect(kind tokenKind, text string) token {
	t := p.cur()
	if t.kind != kind || text != "" && t.text != text {
		want := token{kind: kind, text: text}.describe()
		if kind == nameToken && text == "" {
			want = "name"
		}
		p.fail(t.pos, "expected %s, found %s", quote(want), quote(t.describe()))
	}
	return p.next()
}

// deeper guards against templates that nest without end.
func (p *parser) deeper() func() {
	p.depth++
	if p.depth > maxDepth {
		p.fail(p.cur().pos, "nested deeper than %d", maxDepth)
	}
	return func() { p.depth-- }
}

func quote(s string) string { return "'" + s + "'" }

// body parses up to one of the end tags, whose name is the current token
// afterwards; without end tags, the whole template.
func (p *parser) body(open int, ends ...string) []stmt {
	defer p.deeper()()
	var out []stmt
	for {
		t := p.cur()
		switch t.kind {
		case eofToken:
			if len(ends) > 0 {
				p.fail(open, "this block has no end; close it with {%% %s %%}", ends[len(ends)-1])
			}
			return out
		case dataToken:
			p.next()
			out = append(out, &output{text: t.text})
		case varBegin:
			p.next()
			out = append(out, &output{value: p.tuple(tupleStyle{cond: true})})
			p.expect(varEnd, "")
		case blockBegin:
			p.next()
			if p.cur().kind == nameToken {
				for _, e := range ends {
					if p.cur().text == e {
						return out
					}
				}
			}
			out = append(out, p.statement(ends))
			p.expect(blockEnd, "")
		default:
			p.fail(t.pos, "unexpected %s", quote(t.describe()))
		}
	}
}

// block parses the rest of a tag and the body behind it, with its end tag's
// name dropped.
func (p *parser) block(open int, end string) []stmt {
	p.blockEnd()
	b := p.body(open, end)
	p.next()
	return b
}

func (p *parser) blockEnd() {
	p.skipOp(":")
	p.expect(blockEnd, "")
}

func (p *parser) statement(ends []string) stmt {
	t := p.cur()
	if t.kind != nameToken {
		p.fail(t.pos, "expected the name of a statement, found %s", quote(t.describe()))
	}
	p.next()
	switch t.text {
	case "for":
		return p.forBlock(t.pos)
	case "if":
		return p.ifBlock(t.pos)
	case "set":
		return p.set(t.pos)
	case "macro":
		d := &macroDef{place: place(t.pos), name: p.expect(nameToken, "").text}
		p.macro(d, "endmacro")
		return &macroStmt{place: place(t.pos), name: d.name, def: d}
	case "call":
		return p.callBlock(t.pos)
	case "filter":
		f := p.filter(nil, true).(*filter)
		return &filterBlock{filter: f, body: p.block(t.pos, "endfilter")}
	case "with":
		return p.with(t.pos)
	case "print":
		s := &exprStmt{}
		for p.cur().kind != blockEnd {
			if len(s.values) > 0 {
				p.expect(opToken, ",")
			}
			s.values = append(s.values, p.expression())
		}
		return s
	case "generation":
		loops := p.loops
		p.loops = 0
		g := &generation{place: place(t.pos), body: p.block(t.pos, "endgeneration")}
		p.loops = loops
		return g
	case "break", "continue":
		if p.loops == 0 {
			p.fail(t.pos, "'%s' outside of a loop", t.text)
		}
		if t.text == "break" {
			return &loopControl{place(t.pos), breakLoop}
		}
		return &loopControl{place(t.pos), nextTurn}
	case "block", "extends", "include", "import", "from", "autoescape":
		p.fail(t.pos, "the statement '%s' is not supported in chat templates", t.text)
	}
	if len(ends) > 0 {
		p.fail(t.pos, "unknown statement '%s'; expected %s", t.text, "'"+strings.Join(ends, "' or '")+"'")
	}
	p.fail(t.pos, "unknown statement '%s'", t.text)
	return nil
}

func (p *parser) forBlock(pos int) stmt {
	s := &forStmt{place: place(pos)}
	s.target = p.target(false, "in")
	p.expect(nameToken, "in")
	s.iter = p.tuple(tupleStyle{end: "recursive"})
	if p.skipName("if") {
		s.test = p.expression()
	}
	s.recursive = p.skipName("recursive")
	p.blockEnd()
	p.loops++
	s.body = p.body(pos, "else", "endfor")
	p.loops--
	if p.next().text == "else" {
		s.els = p.block(pos, "endfor")
	}
	return s
}

func (p *parser) ifBlock(pos int) stmt {
	s := &ifStmt{}
	for {
		s.tests = append(s.tests, p.tuple(tupleStyle{}))
		p.blockEnd()
		s.bodies = append(s.bodies, p.body(pos, "elif", "else", "endif"))
		switch p.next().text {
		case "elif":
			continue
		case "else":
			s.els = p.block(pos, "endif")
		}
		return s
	}
}

func (p *parser) set(pos int) stmt {
	t := p.target(true, "")
	if p.skipOp("=") {
		return &assign{place: place(pos), target: t, value: p.tuple(tupleStyle{cond: true})}
	}
	s := &assignBlock{place: place(pos), target: t}
	if f := p.filter(nil, false); f != nil {
		s.filter = f.(*filter)
	}
	s.body = p.block(pos, "endset")
	return s
}

func (p *parser) with(pos int) stmt {
	s := &withStmt{}
	for p.cur().kind != blockEnd {
		if len(s.targets) > 0 {
			p.expect(opToken, ",")
		}
		s.targets = append(s.targets, p.target(false, ""))
		p.expect(opToken, "=")
		s.values = append(s.values, p.expression())
	}
	s.body = p.block(pos, "endwith")
	return s
}

func (p *parser) macro(d *macroDef, end string) {
	p.signature(d)
	loops := p.loops
	p.loops = 0
	d.body = p.block(d.pos(), end)
	p.loops = loops
}

func (p *parser) signature(d *macroDef) {
	p.expect(opToken, "(")
	for !p.isOp(")") {
		if len(d.params) > 0 {
			p.expect(opToken, ",")
		}
		t := p.expect(nameToken, "")
		if p.skipOp("=") {
			d.defaults = append(d.defaults, p.expression())
		} else if len(d.defaults) > 0 {
			p.fail(t.pos, "the parameter '%s' without a default follows one with a default", t.text)
		}
		d.params = append(d.params, &name{place: place(t.pos), name: t.text})
	}
	p.expect(opToken, ")")
}

func (p *parser) callBlock(pos int) stmt {
	s := &callBlock{place: place(pos), def: &macroDef{place: place(pos), name: "caller"}}
	if p.isOp("(") {
		p.signature(s.def)
	}
	c, ok := p.expression().(*call)
	if !ok {
		p.fail(pos, "a call block needs a call, as in {%% call f(x) %%}")
	}
	s.call = c
	loops := p.loops
	p.loops = 0
	s.def.body = p.block(pos, "endcall")
	p.loops = loops
	return s
}

// target parses what an assignment sets. end is a name that ends a tuple.
func (p *parser) target(space bool, end string) target {
	first := p.cur().pos
	one := p.oneTarget(space)
	if !p.isOp(",") {
		return one
	}
	t := target{place: place(first), tuple: true, parts: []target{one}}
	for p.skipOp(",") {
		c := p.cur()
		if c.kind == varEnd || c.kind == blockEnd || c.is(opToken, ")") || end != "" && c.is(nameToken, end) {
			break
		}
		t.parts = append(t.parts, p.oneTarget(space))
	}
	return t
}

func (p *parser) oneTarget(space bool) target {
	t := p.cur()
	if p.skipOp("(") {
		in := target{place: place(t.pos), tuple: true}
		defer p.deeper()()
		for !p.isOp(")") {
			if len(in.parts) > 0 {
				p.expect(opToken, ",")
				if p.isOp(")") {
					p.next()
					return in
				}
			}
			in.parts = append(in.parts, p.oneTarget(false))
		}
		p.next()
		if len(in.parts) == 1 {
			return in.parts[0]
		}
		return in
	}
	if t.kind != nameToken {
		p.fail(t.pos, "cannot assign to %s", quote(t.describe()))
	}
	p.next()
	switch t.text {
	case "true", "false", "none", "True", "False", "None":
		p.fail(t.pos, "cannot assign to '%s'", t.text)
	}
	if space && p.skipOp(".") {
		a := p.expect(nameToken, "")
		return target{place: place(t.pos), name: t.text, attr: a.text}
	}
	if t.text == "loop" {
		p.fail(t.pos, "cannot assign to the special variable 'loop'")
	}
	return target{place: place(t.pos), name: t.text}
}
