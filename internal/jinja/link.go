package jinja

// linker gives every name of a template its slot, every filter and test its
// function.
type linker struct {
	t    *Template
	soft bool // inside an if of this scope: unknown filters fail only when they run
}

func (k *linker) body(c *scope, body []stmt) {
	for _, s := range body {
		k.stmt(c, s)
	}
}

func (k *linker) stmt(c *scope, s stmt) {
	switch s := s.(type) {
	case *output:
		k.expr(c, s.value)
		fold(s.value)
	case *exprStmt:
		k.expr(c, s.values...)
	case *ifStmt:
		soft := k.soft
		k.soft = true
		for i := range s.tests {
			k.expr(c, s.tests[i])
			k.body(c, s.bodies[i])
		}
		k.body(c, s.els)
		k.soft = soft
	case *forStmt:
		k.hard(func() { k.loop(c, s) })
	case *assign:
		k.expr(c, s.value)
		k.target(c, &s.target)
	case *assignBlock:
		in := c.inner(c.fn)
		in.reads(s.filter)
		in.gather(s.body)
		k.hard(func() {
			k.expr(in, s.filter)
			k.body(in, s.body)
		})
		s.enter = in.entry()
		k.target(c, &s.target)
	case *withStmt:
		k.with(c, s)
	case *filterBlock:
		in := c.inner(c.fn)
		in.reads(s.filter)
		in.gather(s.body)
		k.hard(func() {
			k.expr(in, s.filter)
			k.body(in, s.body)
		})
		s.enter = in.entry()
	case *macroStmt:
		k.hard(func() { k.macro(c, s.def) })
		s.ref, _ = c.find(s.name)
	case *callBlock:
		k.expr(c, s.call)
		k.hard(func() { k.macro(c, s.def) })
	case *generation:
		k.t.generation = true
		in := c.inner(c.fn)
		in.gather(s.body)
		k.hard(func() { k.body(in, s.body) })
		s.enter = in.entry()
	}
}

func (k *linker) hard(do func()) {
	soft := k.soft
	k.soft = false
	do()
	k.soft = soft
}

func (k *linker) with(c *scope, s *withStmt) {
	in := c.inner(c.fn)
	for i := range s.targets {
		in.params(s.targets[i])
	}
	in.gather(s.body)
	k.expr(c, s.values...)
	for i := range s.targets {
		k.target(in, &s.targets[i])
	}
	k.hard(func() { k.body(in, s.body) })
	s.enter = in.entry()
}

func (k *linker) loop(c *scope, s *forStmt) {
	fn := c.fn
	k.expr(c, s.iter)
	if s.recursive {
		fn = &function{parent: c.fn}
		s.fn = fn
	}
	in := c.inner(fn)
	s.loop = noRef
	if s.recursive || readsName(s.body, "loop") {
		s.loop = in.param("loop")
	}
	in.params(s.target)
	in.gather(s.body)
	if s.test != nil {
		tc := c.inner(fn)
		s.testBind = s.target.copy()
		tc.params(s.target)
		tc.reads(s.test)
		k.target(tc, &s.testBind)
		k.expr(tc, s.test)
		s.enterTest = tc.entry()
	}
	k.target(in, &s.target)
	k.body(in, s.body)
	s.enter = in.entry()
	if s.els != nil {
		ec := c.inner(fn)
		ec.gather(s.els)
		k.body(ec, s.els)
		s.enterElse = ec.entry()
	}
}

func (t target) copy() target {
	t.parts = append([]target(nil), t.parts...)
	for i := range t.parts {
		t.parts[i] = t.parts[i].copy()
	}
	return t
}

func (k *linker) macro(c *scope, d *macroDef) {
	d.fn = &function{parent: c.fn}
	in := c.inner(d.fn)
	for _, p := range d.params {
		p.ref = in.param(p.name)
	}
	special := func(name string) ref {
		for _, p := range d.params {
			if p.name == name {
				return noRef
			}
		}
		if !readsName(d.body, name) {
			return noRef
		}
		return in.param(name)
	}
	d.caller, d.kwargs, d.varags = special("caller"), special("kwargs"), special("varargs")
	in.reads(d.defaults...)
	in.gather(d.body)
	k.expr(in, d.defaults...)
	k.body(in, d.body)
	d.enter = in.entry()
}

func (k *linker) target(c *scope, t *target) {
	for i := range t.parts {
		k.target(c, &t.parts[i])
	}
	if !t.tuple {
		t.ref, _ = c.find(t.name)
	}
}

func (k *linker) expr(c *scope, es ...expr) {
	for _, e := range es {
		walk(e, func(e expr) {
			switch e := e.(type) {
			case *name:
				e.ref, _ = c.find(e.name)
			case *attribute:
				e.own = k.owned(e.name)
			case *filter:
				e.fn = k.builtin(k.t.filters, "filter", e.name, e.pos())
			case *test:
				e.fn = k.builtin(k.t.tests, "test", e.name, e.pos())
			}
		})
	}
}

// fold marks the slices of an output of constants alone, which Jinja works
// out when it compiles, by rules of its own.
func fold(e expr) {
	constant := true
	walk(e, func(e expr) {
		switch e.(type) {
		case *name, *call, *filter:
			constant = false
		}
	})
	walk(e, func(e expr) {
		if x, ok := e.(*slice); ok {
			x.folds = constant
		}
	})
}

// owned says whether some kind of value has an attribute of this name, which
// then goes before a key.
func (k *linker) owned(name string) bool {
	for i, m := range k.t.methods {
		kind := kind(i)
		if m[name] != nil || changing[kind][name] || unsupported[kind][name] {
			return true
		}
	}
	return hidden[name]
}

// builtin finds a filter or a test; in an if, where templates guard what not
// every Jinja has, an unknown one fails only when it runs.
func (k *linker) builtin(table map[string]*builtin, what, name string, pos int) *builtin {
	if b, ok := table[name]; ok {
		return b
	}
	text := "no " + what + " named '" + name + "'"
	if refused[what+" "+name] {
		text = "the " + what + " '" + name + "' of Jinja is not supported"
	}
	if !k.soft {
		k.t.fail(pos, "%s", text)
	}
	return &builtin{name: name, raw: func(s *state, _ []Value, _ []named) Value {
		s.fail("%s", text)
		return Value{}
	}}
}
