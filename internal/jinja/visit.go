package jinja

// visit calls fn for every name that an expression reads.
func visit(e expr, fn func(*name)) {
	walk(e, func(e expr) {
		if n, ok := e.(*name); ok {
			fn(n)
		}
	})
}

// walk calls fn for an expression and all inside it, in the order of the
// source.
func walk(e expr, fn func(expr)) {
	if e == nil {
		return
	}
	each := func(es ...expr) {
		for _, e := range es {
			walk(e, fn)
		}
	}
	args := func(a arguments) {
		each(a.pos...)
		each(a.named...)
		each(a.more, a.moreK)
	}
	switch e := e.(type) {
	case *filter:
		if e == nil {
			return
		}
		each(e.of)
		args(e.args)
	case *test:
		each(e.of)
		args(e.args)
	case *attribute:
		each(e.of)
	case *item:
		each(e.of, e.key)
	case *slice:
		each(e.of, e.from, e.to, e.step)
	case *sequence:
		each(e.items...)
	case *mapping:
		for i := range e.keys {
			each(e.keys[i], e.vals[i])
		}
	case *logic:
		each(e.left, e.right)
	case *not:
		each(e.of)
	case *unary:
		each(e.of)
	case *binary:
		each(e.left, e.right)
	case *sum:
		each(e.parts...)
	case *concat:
		each(e.parts...)
	case *compare:
		each(e.first)
		each(e.rest...)
	case *cond:
		each(e.test, e.then, e.els)
	case *call:
		each(e.fn)
		args(e.args)
	}
	fn(e)
}

// readsName says whether statements read one of Jinja's special names
// (loop, caller, varargs, kwargs) before they set it.
func readsName(body []stmt, want string) bool {
	s := search{want: want}
	s.body(body)
	return s.found
}

type search struct {
	want        string
	found, done bool
}

func (s *search) expr(es ...expr) {
	for _, e := range es {
		visit(e, func(n *name) { s.found = s.found || !s.done && n.name == s.want })
	}
}

func (s *search) target(t target) {
	for _, p := range t.parts {
		s.target(p)
	}
	if t.attr == "" && t.name == s.want {
		s.done = true
	}
	if t.attr != "" && t.name == s.want && !s.done {
		s.found = true
	}
}

func (s *search) body(body []stmt) {
	for _, st := range body {
		s.stmt(st)
	}
}

func (s *search) stmt(st stmt) {
	switch st := st.(type) {
	case *output:
		s.expr(st.value)
	case *exprStmt:
		s.expr(st.values...)
	case *ifStmt:
		for i := range st.tests {
			s.expr(st.tests[i])
			s.body(st.bodies[i])
		}
		s.body(st.els)
	case *forStmt:
		s.target(st.target)
		s.expr(st.iter)
		s.body(st.body)
		s.body(st.els)
		s.expr(st.test)
	case *assign:
		s.target(st.target)
		s.expr(st.value)
	case *assignBlock:
		s.target(st.target)
		s.expr(st.filter)
		s.body(st.body)
	case *withStmt:
		for _, t := range st.targets {
			s.target(t)
		}
		s.expr(st.values...)
		s.body(st.body)
	case *filterBlock:
		s.body(st.body)
		s.expr(st.filter)
	case *macroStmt:
		s.macro(st.def)
	case *callBlock:
		s.expr(st.call)
		s.macro(st.def)
	case *generation:
		s.body(st.body)
	}
}

func (s *search) macro(d *macroDef) {
	for _, p := range d.params {
		if p.name == s.want {
			s.done = true
		}
	}
	s.expr(d.defaults...)
	s.body(d.body)
}
