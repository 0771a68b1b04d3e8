package jinja

// cursor walks over anything that can be iterated.
type cursor struct {
	items []Value
	str   string
	chars bool
	of    Value // dict, view or range
	n, i  int
	it    *iter
}

// iterate begins a walk; what cannot be iterated is an error.
func (s *state) iterate(v Value) cursor {
	switch v.kind {
	case listKind, tupleKind, groupKind:
		return cursor{items: v.list()}
	case strKind:
		return cursor{str: v.str, chars: true}
	case dictKind:
		return cursor{of: v, n: v.dict().len()}
	case viewKind:
		return cursor{of: v, n: v.obj.(*view).d.len()}
	case rangeKind:
		return cursor{of: v, n: int(v.obj.(*span).len())}
	case iterKind:
		return cursor{it: v.obj.(*iter)}
	case loopKind:
		l := v.obj.(*loop)
		return cursor{it: &iter{next: func() (Value, bool) {
			x, ok := l.advance(s)
			return tuple([]Value{x, v}), ok
		}}}
	case undefinedKind:
		return cursor{}
	}
	s.fail("'%s' object is not iterable", typeName(v))
	return cursor{}
}

func (c *cursor) next(s *state) (Value, bool) {
	switch {
	case c.it != nil:
		return c.it.next()
	case c.chars:
		if c.str == "" {
			return Value{}, false
		}
		_, n := decode(c.str)
		x := Str(c.str[:n])
		c.str = c.str[n:]
		return x, true
	case c.i < len(c.items):
		c.i++
		return c.items[c.i-1], true
	case c.i < c.n:
		c.i++
		switch c.of.kind {
		case dictKind:
			return c.of.dict().key(c.i - 1), true
		case viewKind:
			return c.of.obj.(*view).at(c.i - 1), true
		default:
			return c.of.obj.(*span).at(int64(c.i - 1)), true
		}
	}
	return Value{}, false
}

// collect is Python's list(v), as a slice that nobody else has.
func (s *state) collect(v Value) []Value {
	if v.isSeq() {
		s.spendItems(int64(len(v.list())))
		return append([]Value(nil), v.list()...)
	}
	var out []Value
	c := s.iterate(v)
	for x, ok := c.next(s); ok; x, ok = c.next(s) {
		s.tick()
		s.spendItems(1)
		out = append(out, x)
	}
	return out
}

// loop is what a template sees as the variable loop.
type loop struct {
	over        Value
	c           cursor
	index0      int
	length      int // < 0: not known yet
	after       Value
	before, cur Value
	changed     []Value
	everChanged bool
	depth0      int
	recurse     func(v Value, depth int) Value
}

func (l *loop) advance(s *state) (Value, bool) {
	x := l.after
	l.after = Value{}
	if !x.given() {
		var ok bool
		if x, ok = l.c.next(s); !ok {
			return Value{}, false
		}
	}
	l.index0++
	l.before, l.cur = l.cur, x
	return x, true
}

func (l *loop) peek(s *state) Value {
	if !l.after.given() {
		l.after, _ = l.c.next(s)
	}
	return l.after
}

// len is the number of items; a generator is taken to its end for it.
func (l *loop) len(s *state) int {
	if l.length >= 0 {
		return l.length
	}
	if n, ok := size(l.over); ok {
		l.length = n
		return n
	}
	var rest []Value
	for x, ok := l.c.next(s); ok; x, ok = l.c.next(s) {
		s.tick()
		rest = append(rest, x)
	}
	l.length = len(rest) + l.index0 + 1
	if l.after.given() {
		l.length++
	}
	l.c = cursor{items: rest}
	return l.length
}

func (l *loop) attr(s *state, name string) (Value, bool) {
	switch name {
	case "index":
		return Int(int64(l.index0) + 1), true
	case "index0":
		return Int(int64(l.index0)), true
	case "first":
		return Bool(l.index0 == 0), true
	case "last":
		return Bool(!l.peek(s).given()), true
	case "length":
		return Int(int64(l.len(s))), true
	case "revindex":
		return Int(int64(l.len(s) - l.index0)), true
	case "revindex0":
		return Int(int64(l.len(s) - l.index0 - 1)), true
	case "depth":
		return Int(int64(l.depth0) + 1), true
	case "depth0":
		return Int(int64(l.depth0)), true
	case "previtem":
		if l.index0 == 0 {
			return undefinedHint("there is no previous item"), true
		}
		return l.before, true
	case "nextitem":
		if x := l.peek(s); x.given() {
			return x, true
		}
		return undefinedHint("there is no next item"), true
	case "cycle":
		return function1("cycle", l.cycle), true
	case "changed":
		return function1("changed", l.changes), true
	}
	return Value{}, false
}

func (l *loop) cycle(s *state, args []Value) Value {
	if len(args) == 0 {
		s.fail("loop.cycle() needs items")
	}
	return args[max(l.index0, 0)%len(args)]
}

func (l *loop) changes(_ *state, args []Value) Value {
	if l.everChanged && equalLists(l.changed, args) {
		return Bool(false)
	}
	l.changed, l.everChanged = append([]Value(nil), args...), true
	return Bool(true)
}

func (x *forStmt) exec(s *state, f *frame) signal {
	v := x.iter.eval(s, f)
	s.pos = x.pos()
	if x.recursive {
		text := x.recur(s, f, v, 0)
		s.spend(len(text))
		s.out = append(s.out, text...)
		return goOn
	}
	return x.turns(s, f, v, nil, 0)
}

// recur runs a recursive loop's body in a frame of its own.
func (x *forStmt) recur(s *state, parent *frame, v Value, depth int) string {
	s.down()
	f := &frame{vars: make([]Value, x.fn.slots), parent: parent}
	s.marks++
	from := len(s.out)
	x.turns(s, f, v, func(v Value, depth int) Value { return Str(x.recur(s, parent, v, depth)) }, depth)
	text := string(s.out[from:])
	s.out = s.out[:from]
	s.marks--
	s.up()
	return text
}

func (x *forStmt) turns(s *state, f *frame, v Value, recurse func(Value, int) Value, depth int) signal {
	over := v
	c := s.iterate(v)
	if x.test != nil {
		over = x.filtered(s, f, c)
		c = s.iterate(over)
	}
	var l *loop
	if x.loop.up >= 0 {
		l = &loop{over: over, c: c, index0: -1, length: -1, depth0: depth, recurse: recurse}
	}
	empty := true
	for {
		var turn Value
		var ok bool
		if l != nil {
			turn, ok = l.advance(s)
		} else {
			turn, ok = c.next(s)
		}
		if !ok {
			break
		}
		s.tick()
		s.bind(&x.target, turn, f)
		if l != nil {
			f.vars[x.loop.slot] = Value{kind: loopKind, obj: l}
		}
		s.enter(f, x.enter)
		sig := s.run(x.body, f)
		if sig == breakLoop {
			break
		}
		if sig == goOn {
			// As in Jinja: a turn that ends in continue does not keep the
			// else part from running.
			empty = false
		}
	}
	if empty && x.els != nil {
		s.enter(f, x.enterElse)
		return s.run(x.els, f)
	}
	return goOn
}

// filtered gives the items that pass the loop's test, when they are asked for.
func (x *forStmt) filtered(s *state, f *frame, c cursor) Value {
	s.enter(f, x.enterTest)
	return lazy(func() (Value, bool) {
		for {
			v, ok := c.next(s)
			if !ok {
				return Value{}, false
			}
			s.tick()
			s.bind(&x.testBind, v, f)
			if truth(x.test.eval(s, f)) {
				return x.testBind.read(v, f), true
			}
		}
	})
}

// read is the item as its target took it: a tuple, whatever it was before.
func (t *target) read(v Value, f *frame) Value {
	if !t.tuple {
		return v
	}
	items := make([]Value, len(t.parts))
	for i := range t.parts {
		p := &t.parts[i]
		if p.tuple {
			items[i] = p.read(Value{}, f)
		} else {
			items[i] = *f.at(p.ref)
		}
	}
	return tuple(items)
}
