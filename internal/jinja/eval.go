package jinja

import (
	"math"
	"strings"
)

func (c *constant) eval(*state, *frame) Value { return c.v }

func (n *name) eval(_ *state, f *frame) Value {
	v := *f.at(n.ref)
	if v.kind == missingKind {
		return Value{kind: undefinedKind, str: n.name}
	}
	return v
}

func (a *attribute) eval(s *state, f *frame) Value {
	v := a.of.eval(s, f)
	s.pos = a.pos()
	if !a.own && v.kind == dictKind {
		if x, ok := v.dict().named(a.name); ok {
			return x
		}
		return Value{kind: undefinedKind, str: a.name, obj: owners[dictKind]}
	}
	return s.attr(v, a.name)
}

func (x *item) eval(s *state, f *frame) Value {
	v := x.of.eval(s, f)
	key := x.key.eval(s, f)
	s.pos = x.pos()
	return s.item(v, key)
}

func (x *sequence) eval(s *state, f *frame) Value {
	items := make([]Value, len(x.items))
	for i, e := range x.items {
		items[i] = e.eval(s, f)
	}
	s.spendItems(int64(len(items)))
	return Value{kind: x.kind, obj: &list{items: items}}
}

func (x *mapping) eval(s *state, f *frame) Value {
	d := &dict{}
	for i := range x.keys {
		k := x.keys[i].eval(s, f)
		v := x.vals[i].eval(s, f)
		s.pos = x.keys[i].pos()
		s.hashable(k)
		d.put(k, v)
	}
	s.spendItems(2 * int64(len(x.keys)))
	return dictOf(d)
}

func (x *logic) eval(s *state, f *frame) Value {
	v := x.left.eval(s, f)
	if truth(v) == x.or {
		return v
	}
	return x.right.eval(s, f)
}

func (x *not) eval(s *state, f *frame) Value { return Bool(!truth(x.of.eval(s, f))) }

func (x *unary) eval(s *state, f *frame) Value {
	v := x.of.eval(s, f)
	s.pos = x.pos()
	return s.sign(x.op, v)
}

func (x *binary) eval(s *state, f *frame) Value {
	l := x.left.eval(s, f)
	r := x.right.eval(s, f)
	s.pos = x.pos()
	return s.arith(x.op, l, r)
}

// terms evaluates a sum's parts onto the stack of arguments, and says how
// many bytes they are where all are strings; -1 where not.
func (x *sum) terms(s *state, f *frame) (mark, size int) {
	mark = len(s.args)
	for _, e := range x.parts {
		v := e.eval(s, f)
		s.args = append(s.args, v)
		if v.kind != strKind || v.num != 0 {
			size = math.MinInt
		}
		size += len(v.str)
	}
	return mark, max(size, -1)
}

func (x *sum) eval(s *state, f *frame) Value {
	mark, size := x.terms(s, f)
	v := x.total(s, mark, size)
	s.args = s.args[:mark]
	return v
}

func (x *sum) total(s *state, mark, size int) Value {
	terms := s.args[mark:]
	if size < 0 {
		total := terms[0]
		s.pos = x.pos()
		for _, t := range terms[1:] {
			total = s.arith(opAdd, total, t)
		}
		return total
	}
	s.spend(size)
	if len(terms) == 2 {
		return Str(terms[0].str + terms[1].str)
	}
	var b strings.Builder
	b.Grow(size)
	for i := range terms {
		b.WriteString(terms[i].str)
	}
	return Str(b.String())
}

func (x *concat) eval(s *state, f *frame) Value {
	var buf []byte
	for _, e := range x.parts {
		v := e.eval(s, f)
		s.pos = e.pos()
		buf = s.appendStr(buf, v)
	}
	s.spend(len(buf))
	return Str(string(buf))
}

func (x *compare) eval(s *state, f *frame) Value {
	l := x.first.eval(s, f)
	for i, op := range x.ops {
		r := x.rest[i].eval(s, f)
		if op == "==" && l.kind == strKind && r.kind == strKind {
			if l.str != r.str {
				return Bool(false)
			}
			l = r
			continue
		}
		s.pos = x.pos()
		if !s.holds(op, l, r) {
			return Bool(false)
		}
		l = r
	}
	return Bool(true)
}

func (x *cond) eval(s *state, f *frame) Value {
	if truth(x.test.eval(s, f)) {
		return x.then.eval(s, f)
	}
	if x.els != nil {
		return x.els.eval(s, f)
	}
	return undefinedHint("the inline if-expression evaluated to false and no else section was defined.")
}

func (x *filter) eval(s *state, f *frame) Value {
	v := x.of.eval(s, f)
	s.tick()
	return s.invoke(x.fn, v, &x.args, f, x.pos())
}

func (x *test) eval(s *state, f *frame) Value {
	v := x.of.eval(s, f)
	s.tick()
	if x.fn.is != nil && len(x.args.pos) == 0 && len(x.args.named) == 0 && x.args.more == nil && x.args.moreK == nil {
		s.pos = x.pos()
		return Bool(x.fn.is(s, v))
	}
	return s.invoke(x.fn, v, &x.args, f, x.pos())
}

func (x *slice) eval(s *state, f *frame) Value {
	v := x.of.eval(s, f)
	var at [3]Value
	for i, e := range [3]expr{x.from, x.to, x.step} {
		at[i] = None()
		if e != nil {
			at[i] = e.eval(s, f)
		}
	}
	s.pos = x.pos()
	if _, ok := size(v); x.folds && (!ok || v.kind == dictKind) {
		return undefinedHint(typeName(v) + " object has no such slice")
	}
	return s.slice(v, at)
}

func (x *call) eval(s *state, f *frame) Value {
	s.tick()
	if a, ok := x.fn.(*attribute); ok {
		v := a.of.eval(s, f)
		if b := s.t.methods[v.kind][a.name]; b != nil {
			return s.invoke(b, v, &x.args, f, a.pos())
		}
		s.pos = a.pos()
		fn := s.attr(v, a.name)
		return s.callValue(fn, x, f, Value{})
	}
	return s.callValue(x.fn.eval(s, f), x, f, Value{})
}

// callValue calls a value; caller, where given, is a call block's macro.
func (s *state) callValue(fn Value, x *call, f *frame, caller Value) Value {
	args, kw := s.arguments(&x.args, f)
	if caller.given() {
		kw = append(kw, named{"caller", caller})
	}
	s.pos = x.pos()
	return s.apply(fn, args, kw)
}

// apply calls a value with arguments.
func (s *state) apply(fn Value, args []Value, kw []named) Value {
	switch fn.kind {
	case funcKind:
		b := fn.obj.(*bound)
		if b.self.given() {
			args = append([]Value{b.self}, args...)
		}
		return s.bindCall(b.fn, args, kw)
	case macroKind:
		return s.callMacro(fn.obj.(*macro), args, kw)
	case loopKind:
		l := fn.obj.(*loop)
		if l.recurse == nil {
			s.fail("The loop must have the 'recursive' marker to be called recursively.")
		}
		if len(args) != 1 || len(kw) > 0 {
			s.fail("loop() takes one argument")
		}
		return l.recurse(args[0], l.depth0+1)
	case joinerKind:
		return fn.obj.(*joiner).call()
	case undefinedKind:
		s.fail("%s", undefinedText(fn))
	}
	s.fail("'%s' object is not callable", typeName(fn))
	return Value{}
}
