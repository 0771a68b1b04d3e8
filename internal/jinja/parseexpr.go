package jinja

// tupleStyle says how a tuple without parentheses is read.
type tupleStyle struct {
	cond  bool   // a conditional expression may stand in it
	end   string // a name that ends it
	paren bool   // it stands in parentheses, and may be empty
}

func (p *parser) tuple(style tupleStyle) expr {
	pos := p.cur().pos
	var items []expr
	comma := false
	for {
		if len(items) > 0 {
			p.expect(opToken, ",")
		}
		if p.tupleEnd(style.end) {
			break
		}
		if style.cond || style.paren {
			items = append(items, p.expression())
		} else {
			items = append(items, p.or())
		}
		if !p.isOp(",") {
			break
		}
		comma = true
	}
	if !comma {
		if len(items) == 1 {
			return items[0]
		}
		if !style.paren {
			p.fail(p.cur().pos, "expected an expression, found %s", quote(p.cur().describe()))
		}
	}
	return &sequence{place: place(pos), items: items, kind: tupleKind}
}

func (p *parser) tupleEnd(end string) bool {
	c := p.cur()
	return c.kind == varEnd || c.kind == blockEnd || c.is(opToken, ")") || end != "" && c.is(nameToken, end)
}

func (p *parser) expression() expr {
	defer p.deeper()()
	e := p.or()
	for p.isName("if") {
		pos := p.next().pos
		c := &cond{place: place(pos), test: p.or(), then: e}
		if p.skipName("else") {
			c.els = p.expression()
		}
		e = c
	}
	return e
}

func (p *parser) or() expr {
	e := p.and()
	for p.isName("or") {
		pos := p.next().pos
		e = &logic{place: place(pos), left: e, right: p.and(), or: true}
	}
	return e
}

func (p *parser) and() expr {
	e := p.not()
	for p.isName("and") {
		pos := p.next().pos
		e = &logic{place: place(pos), left: e, right: p.not()}
	}
	return e
}

func (p *parser) not() expr {
	if p.isName("not") {
		defer p.deeper()()
		pos := p.next().pos
		return &not{place: place(pos), of: p.not()}
	}
	return p.compare()
}

func (p *parser) compare() expr {
	first := p.sum()
	c := &compare{first: first}
	for {
		t := p.cur()
		op := t.text
		switch {
		case t.kind == opToken && (op == "==" || op == "!=" || op == "<" || op == "<=" || op == ">" || op == ">="):
			p.next()
		case t.is(nameToken, "in"):
			p.next()
		case t.is(nameToken, "not") && p.look().is(nameToken, "in"):
			p.next()
			p.next()
			op = "not in"
		default:
			if len(c.ops) == 0 {
				return first
			}
			return c
		}
		c.place = place(t.pos)
		c.ops = append(c.ops, op)
		c.rest = append(c.rest, p.sum())
	}
}

func (p *parser) sum() expr {
	e := p.concat()
	var open *sum // the sum that this level is adding to
	for p.isOp("+") || p.isOp("-") {
		t := p.next()
		right := p.concat()
		if t.text == "+" && open != nil {
			open.parts = append(open.parts, right)
			continue
		}
		if t.text == "+" {
			open = &sum{place: place(t.pos), parts: []expr{e, right}}
			e = open
			continue
		}
		open = nil
		e = &binary{place: place(t.pos), left: e, right: right, op: operatorOf(t.text)}
	}
	return e
}

func (p *parser) concat() expr {
	e := p.product()
	if !p.isOp("~") {
		return e
	}
	c := &concat{place: place(p.cur().pos), parts: []expr{e}}
	for p.skipOp("~") {
		c.parts = append(c.parts, p.product())
	}
	return c
}

func (p *parser) product() expr {
	e := p.power()
	for p.isOp("*") || p.isOp("/") || p.isOp("//") || p.isOp("%") {
		t := p.next()
		e = &binary{place: place(t.pos), left: e, right: p.power(), op: operatorOf(t.text)}
	}
	return e
}

func (p *parser) power() expr {
	e := p.unary(true)
	for p.isOp("**") {
		t := p.next()
		e = &binary{place: place(t.pos), left: e, right: p.unary(true), op: opPow}
	}
	return e
}

func (p *parser) unary(filters bool) expr {
	var e expr
	if t := p.cur(); p.isOp("-") || p.isOp("+") {
		defer p.deeper()()
		p.next()
		e = &unary{place: place(t.pos), of: p.unary(false), op: t.text[0]}
	} else {
		e = p.primary()
	}
	e = p.postfix(e)
	if filters {
		e = p.filtered(e)
	}
	return e
}

func (p *parser) primary() expr {
	t := p.next()
	at := place(t.pos)
	switch t.kind {
	case nameToken:
		switch t.text {
		case "true", "True":
			return &constant{at, Bool(true)}
		case "false", "False":
			return &constant{at, Bool(false)}
		case "none", "None":
			return &constant{at, None()}
		}
		return &name{place: at, name: t.text}
	case strToken:
		text := t.text
		for p.cur().kind == strToken {
			text += p.next().text
		}
		return &constant{at, Str(text)}
	case intToken:
		return &constant{at, Value{kind: intKind, num: t.num}}
	case floatToken:
		return &constant{at, Value{kind: floatKind, num: t.num}}
	case opToken:
		switch t.text {
		case "(":
			e := p.tuple(tupleStyle{cond: true, paren: true})
			p.expect(opToken, ")")
			return e
		case "[":
			return &sequence{place: at, items: p.items("]"), kind: listKind}
		case "{":
			return p.mapping(at)
		}
	}
	p.fail(t.pos, "unexpected %s", quote(t.describe()))
	return nil
}

func (p *parser) items(end string) []expr {
	var out []expr
	for !p.isOp(end) {
		if len(out) > 0 {
			p.expect(opToken, ",")
			if p.isOp(end) {
				break
			}
		}
		out = append(out, p.expression())
	}
	p.expect(opToken, end)
	return out
}

func (p *parser) mapping(at place) expr {
	m := &mapping{place: at}
	for !p.isOp("}") {
		if len(m.keys) > 0 {
			p.expect(opToken, ",")
			if p.isOp("}") {
				break
			}
		}
		m.keys = append(m.keys, p.expression())
		p.expect(opToken, ":")
		m.vals = append(m.vals, p.expression())
	}
	p.expect(opToken, "}")
	return m
}

func (p *parser) postfix(e expr) expr {
	for p.cur().kind == opToken {
		switch p.cur().text {
		case ".":
			e = p.dotted(e)
		case "[":
			e = p.subscript(e)
		case "(":
			e = p.call(e)
		default:
			return e
		}
	}
	return e
}

func (p *parser) filtered(e expr) expr {
	for {
		switch {
		case p.isOp("|"):
			e = p.filter(e, false)
		case p.isName("is"):
			e = p.test(e)
		case p.isOp("("):
			e = p.call(e)
		default:
			return e
		}
	}
}

func (p *parser) dotted(e expr) expr {
	p.next()
	t := p.next()
	switch t.kind {
	case nameToken:
		return &attribute{place: place(t.pos), of: e, name: t.text}
	case intToken:
		return &item{place(t.pos), e, &constant{place(t.pos), Value{kind: intKind, num: t.num}}}
	}
	p.fail(t.pos, "expected a name or a number behind the dot, found %s", quote(t.describe()))
	return nil
}

func (p *parser) subscript(e expr) expr {
	at := place(p.next().pos)
	if p.isOp("]") {
		p.fail(p.cur().pos, "expected an index, found ']'")
	}
	first := p.index(e, at)
	if !p.isOp(",") {
		p.expect(opToken, "]")
		return first
	}
	one, ok := first.(*item)
	if !ok {
		p.fail(int(at), "a tuple of slices is not supported")
	}
	t := &sequence{place: at, kind: tupleKind, items: []expr{one.key}}
	for p.skipOp(",") {
		t.items = append(t.items, p.expression())
	}
	p.expect(opToken, "]")
	return &item{at, e, t}
}

// index parses what stands in brackets: a key, or a slice.
func (p *parser) index(e expr, at place) expr {
	s := &slice{place: at, of: e}
	if !p.isOp(":") {
		s.from = p.expression()
		if !p.isOp(":") {
			return &item{at, e, s.from}
		}
	}
	p.next()
	if !p.isOp(":") && !p.isOp("]") && !p.isOp(",") {
		s.to = p.expression()
	}
	if p.skipOp(":") && !p.isOp("]") && !p.isOp(",") {
		s.step = p.expression()
	}
	return s
}
