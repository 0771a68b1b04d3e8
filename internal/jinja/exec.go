package jinja

import "fmt"

// frame holds the variables of one run of a function.
type frame struct {
	vars   []Value
	parent *frame
}

func (f *frame) at(r ref) *Value {
	for range r.up {
		f = f.parent
	}
	return &f.vars[r.slot]
}

// state is one render.
type state struct {
	t     *Template
	out   []byte
	base  int // where the text begins in out
	root  frame
	vars  []Var
	spans []Span
	args  []Value // stack of arguments of calls under way
	pos   int     // of what is being done, for errors
	marks int     // macros and blocks around whose text is kept aside
	depth int
	steps int64
	bytes int64
}

func (s *state) fail(format string, args ...any) {
	s.t.fail(s.pos, format, args...)
}

func (s *state) tick() {
	s.steps--
	if s.steps < 0 {
		s.fail("the template takes more than %d steps; it may not end", s.t.opt.Steps)
	}
}

// spend counts bytes of text that are about to be made.
func (s *state) spend(n int) {
	s.bytes -= int64(n)
	if s.bytes < 0 || n < 0 {
		s.fail("the template makes more than %d bytes of text", s.t.opt.Bytes)
	}
}

func (s *state) enter(f *frame, loads []load) {
	for i := range loads {
		l := &loads[i]
		switch {
		case l.from.up >= 0:
			f.vars[l.slot] = *f.at(l.from)
		case l.name != "":
			f.vars[l.slot] = s.lookup(l)
		default:
			f.vars[l.slot] = Value{}
		}
	}
}

// lookup finds a variable that the template did not set.
func (s *state) lookup(l *load) Value {
	for i := range s.vars {
		if s.vars[i].Name == l.name {
			return s.vars[i].Value
		}
	}
	return l.global
}

func (s *state) run(body []stmt, f *frame) signal {
	for _, st := range body {
		s.tick()
		if sig := st.exec(s, f); sig != goOn {
			return sig
		}
	}
	return goOn
}

// capture runs a body and takes what it wrote.
func (s *state) capture(body []stmt, f *frame) string {
	s.marks++
	from := len(s.out)
	s.run(body, f)
	text := string(s.out[from:])
	s.out = s.out[:from]
	s.marks--
	return text
}

func (o *output) exec(s *state, f *frame) signal {
	if o.value == nil {
		s.spend(len(o.text))
		s.out = append(s.out, o.text...)
		return goOn
	}
	s.emit(o.value, f)
	return goOn
}

func (s *state) emit(e expr, f *frame) {
	if x, ok := e.(*sum); ok {
		// The parts of a sum of strings need not be put together first.
		mark, size := x.terms(s, f)
		if size >= 0 {
			s.spend(size)
			for _, v := range s.args[mark:] {
				s.out = append(s.out, v.str...)
			}
			s.args = s.args[:mark]
			return
		}
		v := x.total(s, mark, size)
		s.args = s.args[:mark]
		s.print(v, e)
		return
	}
	s.print(e.eval(s, f), e)
}

func (s *state) print(v Value, e expr) {
	if v.kind == strKind {
		s.spend(len(v.str))
		s.out = append(s.out, v.str...)
		return
	}
	from := len(s.out)
	s.pos = e.pos()
	s.out = s.appendStr(s.out, v)
	s.spend(len(s.out) - from)
}

func (x *exprStmt) exec(s *state, f *frame) signal {
	for _, e := range x.values {
		s.emit(e, f)
	}
	return goOn
}

func (x *ifStmt) exec(s *state, f *frame) signal {
	for i, t := range x.tests {
		if truth(t.eval(s, f)) {
			return s.run(x.bodies[i], f)
		}
	}
	return s.run(x.els, f)
}

func (x *loopControl) exec(*state, *frame) signal { return x.signal }

func (x *assign) exec(s *state, f *frame) signal {
	v := x.value.eval(s, f)
	s.pos = x.pos()
	s.bind(&x.target, v, f)
	return goOn
}

func (x *assignBlock) exec(s *state, f *frame) signal {
	s.enter(f, x.enter)
	v := Str(s.capture(x.body, f))
	if x.filter != nil {
		v = s.applyChain(x.filter, v, f)
	}
	s.pos = x.pos()
	s.bind(&x.target, v, f)
	return goOn
}

func (x *filterBlock) exec(s *state, f *frame) signal {
	s.enter(f, x.enter)
	s.write(s.applyChain(x.filter, Str(s.capture(x.body, f)), f))
	return goOn
}

// write writes what a block made, which as in Jinja must be a string.
func (s *state) write(v Value) {
	if v.kind != strKind {
		s.fail("the block's text became a %s; only a string can be written", typeName(v))
	}
	s.spend(len(v.str))
	s.out = append(s.out, v.str...)
}

// applyChain applies filters whose innermost has no value of its own.
func (s *state) applyChain(x *filter, v Value, f *frame) Value {
	if x.of != nil {
		v = s.applyChain(x.of.(*filter), v, f)
	}
	s.tick()
	return s.invoke(x.fn, v, &x.args, f, x.pos())
}

func (x *withStmt) exec(s *state, f *frame) signal {
	vals := make([]Value, len(x.values))
	for i, e := range x.values {
		vals[i] = e.eval(s, f)
	}
	s.enter(f, x.enter)
	for i := range x.targets {
		s.bind(&x.targets[i], vals[i], f)
	}
	return s.run(x.body, f)
}

func (x *generation) exec(s *state, f *frame) signal {
	if s.marks > 0 {
		s.pos = x.pos()
		s.fail("{%% generation %%} inside a macro, a call block or a set block: where its text will stand is not known; move it outside")
	}
	from := len(s.out) - s.base
	s.enter(f, x.enter)
	s.run(x.body, f)
	s.spans = append(s.spans, Span{from, len(s.out) - s.base})
	return goOn
}

// bind sets a target.
func (s *state) bind(t *target, v Value, f *frame) {
	switch {
	case t.tuple:
		s.unpack(t, v, f)
	case t.attr != "":
		ns := *f.at(t.ref)
		if ns.kind != spaceKind {
			s.pos = t.pos()
			s.fail("cannot assign to the attribute '%s' of something that is not a namespace", t.attr)
		}
		if t.attr[0] == '_' {
			s.pos = t.pos()
			s.fail("a namespace cannot have the attribute '%s': it begins with an underscore", t.attr)
		}
		ns.obj.(*namespace).d.put(Str(t.attr), v)
	default:
		*f.at(t.ref) = v
	}
}

func (s *state) unpack(t *target, v Value, f *frame) {
	s.pos = t.pos()
	if v.isSeq() && len(v.list()) == len(t.parts) {
		for i := range t.parts {
			s.bind(&t.parts[i], v.list()[i], f)
		}
		return
	}
	c := s.iterate(v)
	var items []Value
	for len(items) <= len(t.parts) {
		x, ok := c.next(s)
		if !ok {
			break
		}
		items = append(items, x)
	}
	if len(items) > len(t.parts) {
		s.fail("too many values to unpack (expected %d)", len(t.parts))
	}
	if len(items) < len(t.parts) {
		s.fail("not enough values to unpack (expected %d, got %d)", len(t.parts), len(items))
	}
	for i := range t.parts {
		s.bind(&t.parts[i], items[i], f)
	}
}

// down counts nested calls, which a hostile template could nest without end.
func (s *state) down() {
	s.depth++
	if s.depth > maxDepth {
		s.fail("calls nest deeper than %d", maxDepth)
	}
}

func (s *state) up() { s.depth-- }

// undefinedText says why a value is not there.
func undefinedText(v Value) string {
	u, _ := v.obj.(*undefined)
	switch {
	case u == nil:
		return fmt.Sprintf("%s is undefined", reprStr(v.str))
	case u.hint != "":
		return u.hint
	}
	return fmt.Sprintf("'%s' has no attribute %s", u.owner, reprStr(v.str))
}
