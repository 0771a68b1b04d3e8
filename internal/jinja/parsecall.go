package jinja

func (p *parser) call(e expr) expr {
	at := place(p.cur().pos)
	return &call{place: at, fn: e, args: p.arguments()}
}

func (p *parser) arguments() arguments {
	open := p.expect(opToken, "(")
	var a arguments
	ok := func(good bool) {
		if !good {
			p.fail(open.pos, "these arguments are out of order; write f(a, b=c, *d, **e)")
		}
	}
	for first := true; !p.isOp(")"); first = false {
		if !first {
			p.expect(opToken, ",")
			if p.isOp(")") {
				break
			}
		}
		switch {
		case p.isOp("*"):
			ok(a.more == nil && a.moreK == nil)
			p.next()
			a.more = p.expression()
		case p.isOp("**"):
			ok(a.moreK == nil)
			p.next()
			a.moreK = p.expression()
		case p.cur().kind == nameToken && p.look().is(opToken, "="):
			ok(a.moreK == nil)
			a.names = append(a.names, p.next().text)
			p.next()
			a.named = append(a.named, p.expression())
		default:
			ok(a.more == nil && a.moreK == nil && len(a.names) == 0)
			a.pos = append(a.pos, p.expression())
		}
	}
	p.next()
	return a
}

// filter parses a chain of filters; bare: the first without its bar.
func (p *parser) filter(e expr, bare bool) expr {
	for bare || p.isOp("|") {
		if !bare {
			p.next()
		}
		bare = false
		t := p.expect(nameToken, "")
		f := &filter{place: place(t.pos), of: e, name: t.text + p.dots()}
		if p.isOp("(") {
			f.args = p.arguments()
		}
		e = f
	}
	return e
}

func (p *parser) dots() string {
	s := ""
	for p.skipOp(".") {
		s += "." + p.expect(nameToken, "").text
	}
	return s
}

func (p *parser) test(e expr) expr {
	at := place(p.next().pos)
	negated := p.skipName("not")
	t := &test{place: place(p.cur().pos), of: e, name: p.expect(nameToken, "").text + p.dots()}
	switch c := p.cur(); {
	case p.isOp("("):
		t.args = p.arguments()
	case c.kind == nameToken && (c.text == "else" || c.text == "or" || c.text == "and"):
	case c.is(nameToken, "is"):
		p.fail(c.pos, "tests cannot be chained with 'is'")
	case c.kind == nameToken, c.kind == strToken, c.kind == intToken, c.kind == floatToken, p.isOp("["), p.isOp("{"):
		t.args.pos = []expr{p.postfix(p.primary())}
	}
	if negated {
		return &not{at, t}
	}
	return t
}
