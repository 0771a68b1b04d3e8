package jinja

// mapFilter applies a filter, or takes an attribute, of each item.
func mapFilter(s *state, args []Value, kw []named) Value {
	v, args := args[0], args[1:]
	var c *cursor
	var each func(Value) Value
	return lazy(func() (Value, bool) {
		if c == nil {
			if !truth(v) {
				return Value{}, false
			}
			each = s.mapper(args, kw)
			walk := s.iterate(v)
			c = &walk
		}
		x, ok := c.next(s)
		if !ok {
			return Value{}, false
		}
		s.tick()
		return each(x), true
	})
}

func (s *state) mapper(args []Value, kw []named) func(Value) Value {
	if attr, rest := takeNamed(kw, "attribute"); len(args) == 0 && attr.given() {
		none, rest := takeNamed(rest, "default")
		if len(rest) > 0 {
			s.fail("Unexpected keyword argument %s", reprStr(rest[0].name))
		}
		return func(v Value) Value { return s.path(v, attr, none) }
	}
	if len(args) == 0 {
		s.fail("map requires a filter argument")
	}
	b := s.named(s.t.filters, "filter", args[0])
	return func(v Value) Value { return s.bindCall(b, append([]Value{v}, args[1:]...), kw) }
}

func (s *state) named(table map[string]*builtin, what string, name Value) *builtin {
	b, ok := table[s.text(name)]
	if !ok {
		if refused[what+" "+name.str] {
			s.fail("the %s '%s' of Jinja is not supported", what, name.str)
		}
		s.fail("no %s named %s", what, reprStr(name.str))
	}
	return b
}

// picker is select and its relatives.
type picker struct{ negate, attr bool }

func (p picker) filter(s *state, args []Value, kw []named) Value {
	v, args := args[0], args[1:]
	var c *cursor
	var pass func(Value) bool
	return lazy(func() (Value, bool) {
		if c == nil {
			if !truth(v) {
				return Value{}, false
			}
			pass = p.test(s, args, kw)
			walk := s.iterate(v)
			c = &walk
		}
		for x, ok := c.next(s); ok; x, ok = c.next(s) {
			s.tick()
			if pass(x) != p.negate {
				return x, true
			}
		}
		return Value{}, false
	})
}

func (p picker) test(s *state, args []Value, kw []named) func(Value) bool {
	attr := Value{}
	if p.attr {
		if len(args) == 0 {
			s.fail("Missing parameter for attribute name")
		}
		attr, args = args[0], args[1:]
	}
	if len(args) == 0 {
		return func(v Value) bool { return truth(s.path(v, attr, Value{})) }
	}
	b := s.named(s.t.tests, "test", args[0])
	switch {
	case b.is != nil && len(args) == 1 && len(kw) == 0:
		return func(v Value) bool { return b.is(s, s.path(v, attr, Value{})) }
	case b.two != nil && len(args) == 2 && len(kw) == 0:
		other := args[1]
		return func(v Value) bool { return b.two(s, s.path(v, attr, Value{}), other) }
	}
	return func(v Value) bool {
		return truth(s.bindCall(b, append([]Value{s.path(v, attr, Value{})}, args[1:]...), kw))
	}
}
