package jinja

// builtin is a filter, a test, a method or a global function. fn gets an
// argument a parameter, missing ones as the zero Value; raw gets them as
// they were written.
type builtin struct {
	name   string
	params []string
	need   int
	fn     func(s *state, a []Value) Value
	is     func(s *state, v Value) bool    // a test without arguments
	two    func(s *state, a, b Value) bool // a test with one
	raw    func(s *state, args []Value, kw []named) Value
}

type named struct {
	name string
	v    Value
}

// bound is a function with the object it belongs to, if any.
type bound struct {
	fn   *builtin
	self Value
}

func function1(name string, fn func(s *state, args []Value) Value) Value {
	return Value{kind: funcKind, obj: &bound{fn: &builtin{name: name, raw: func(s *state, args []Value, kw []named) Value {
		if len(kw) > 0 {
			s.fail("%s() takes no keyword arguments", name)
		}
		return fn(s, args)
	}}}}
}

// arguments evaluates those of a call, into memory of their own.
func (s *state) arguments(a *arguments, f *frame) ([]Value, []named) {
	args := make([]Value, 0, len(a.pos))
	for _, e := range a.pos {
		args = append(args, e.eval(s, f))
	}
	var kw []named
	for i, e := range a.named {
		kw = append(kw, named{a.names[i], e.eval(s, f)})
	}
	if a.more != nil {
		v := a.more.eval(s, f)
		s.pos = a.more.pos()
		args = append(args, s.collect(v)...)
	}
	if a.moreK != nil {
		v := a.moreK.eval(s, f)
		s.pos = a.moreK.pos()
		if v.kind != dictKind {
			s.fail("argument after ** must be a mapping, not %s", typeName(v))
		}
		for i, val := range v.dict().vals {
			k := v.dict().key(i)
			if k.kind != strKind {
				s.fail("keywords must be strings")
			}
			kw = append(kw, named{k.str, val})
		}
	}
	return args, kw
}

// invoke calls a builtin on a value with the arguments of a call.
func (s *state) invoke(b *builtin, self Value, a *arguments, f *frame, pos int) Value {
	if self.num != 0 && self.kind == strKind {
		s.pos = pos
		s.unmarked(b, self)
	}
	if b.raw != nil || a.more != nil || a.moreK != nil {
		args, kw := s.arguments(a, f)
		s.pos = pos
		return s.bindCall(b, append([]Value{self}, args...), kw)
	}
	mark := len(s.args)
	s.args = append(s.args, self)
	for _, e := range a.pos {
		v := e.eval(s, f)
		s.args = append(s.args, v)
	}
	s.pos = pos
	s.room(b, len(s.args)-mark)
	for len(s.args)-mark < len(b.params) {
		s.args = append(s.args, Value{})
	}
	for i, e := range a.named {
		v := e.eval(s, f)
		s.pos = pos
		s.args[mark+s.slotOf(b, a.names[i], s.args[mark:])] = v
	}
	s.complete(b, s.args[mark:])
	end := len(s.args)
	v := b.fn(s, s.args[mark:end:end])
	s.args = s.args[:mark]
	return v
}

// bindCall calls a builtin with arguments already evaluated.
func (s *state) bindCall(b *builtin, args []Value, kw []named) Value {
	s.down()
	defer s.up()
	if b.raw != nil {
		return b.raw(s, args, kw)
	}
	s.room(b, len(args))
	a := make([]Value, len(b.params))
	copy(a, args)
	for _, k := range kw {
		a[s.slotOf(b, k.name, a)] = k.v
	}
	s.complete(b, a)
	return b.fn(s, a)
}

func (s *state) room(b *builtin, n int) {
	if n > len(b.params) {
		s.fail("%s() takes at most %d arguments (%d given)", b.name, len(b.params), n)
	}
}

func (s *state) slotOf(b *builtin, name string, a []Value) int {
	for i, p := range b.params {
		if p == name {
			if a[i].given() {
				s.fail("%s() got two values for '%s'", b.name, name)
			}
			return i
		}
	}
	s.fail("%s() has no argument '%s'", b.name, name)
	return 0
}

func (s *state) complete(b *builtin, a []Value) {
	for i := range b.need {
		if !a[i].given() {
			s.fail("%s() misses the argument '%s'", b.name, b.params[i])
		}
	}
}

// macro is a macro with the frame it was defined in.
type macro struct {
	def *macroDef
	in  *frame
}

func (x *macroStmt) exec(_ *state, f *frame) signal {
	*f.at(x.ref) = Value{kind: macroKind, obj: &macro{def: x.def, in: f}}
	return goOn
}

func (x *callBlock) exec(s *state, f *frame) signal {
	caller := Value{kind: macroKind, obj: &macro{def: x.def, in: f}}
	s.marks++
	fn := x.call.fn.eval(s, f)
	v := s.callValue(fn, x.call, f, caller)
	s.marks--
	s.write(v)
	return goOn
}

func takeNamed(kw []named, name string) (Value, []named) {
	for i := range kw {
		if kw[i].name == name {
			v := kw[i].v
			rest := append(append([]named(nil), kw[:i]...), kw[i+1:]...)
			return v, rest
		}
	}
	return Value{}, kw
}

func (s *state) callMacro(m *macro, args []Value, kw []named) Value {
	s.down()
	defer s.up()
	d := m.def
	f := &frame{vars: make([]Value, d.fn.slots), parent: m.in}
	pos := args[:min(len(args), len(d.params))]
	for i, p := range d.params {
		var v Value
		if i < len(pos) {
			v = pos[i]
		} else {
			v, kw = takeNamed(kw, p.name)
		}
		f.vars[p.ref.slot] = v
	}
	s.special(m, f, args[len(pos):], kw)
	s.enter(f, d.enter)
	for i, p := range d.params {
		if f.vars[p.ref.slot].given() {
			continue
		}
		if k := i - (len(d.params) - len(d.defaults)); k >= 0 {
			f.vars[p.ref.slot] = d.defaults[k].eval(s, f)
		} else {
			f.vars[p.ref.slot] = undefinedHint("parameter " + reprStr(p.name) + " was not provided")
		}
	}
	return Str(s.capture(d.body, f))
}

// special sets caller, kwargs and varargs where the macro reads them, and
// refuses what it has no place for.
func (s *state) special(m *macro, f *frame, more []Value, kw []named) {
	d := m.def
	if d.caller.up >= 0 {
		var v Value
		v, kw = takeNamed(kw, "caller")
		if !v.given() || v.kind == noneKind {
			v = undefinedHint("No caller defined")
		}
		f.vars[d.caller.slot] = v
	}
	if d.kwargs.up >= 0 {
		all := &dict{}
		for _, k := range kw {
			all.put(Str(k.name), k.v)
		}
		f.vars[d.kwargs.slot] = dictOf(all)
	} else if len(kw) > 0 {
		s.fail("macro %s takes no keyword argument %s", reprStr(d.name), reprStr(kw[0].name))
	}
	if d.varags.up >= 0 {
		f.vars[d.varags.slot] = tuple(append([]Value(nil), more...))
	} else if len(more) > 0 {
		s.fail("macro %s takes not more than %d argument(s)", reprStr(d.name), len(d.params))
	}
}
