package jinja

// ref is a variable's place: a slot of the frame that many functions out.
type ref struct {
	up   int // < 0: no variable
	slot int
}

var noRef = ref{up: -1}

// function is a piece of the template with a frame of its own: the whole of
// it, a macro, the body of a recursive loop.
type function struct {
	parent  *function
	slots   int
	globals map[string]Value // of the whole template
}

func (f *function) root() *function {
	for f.parent != nil {
		f = f.parent
	}
	return f
}

// load is what a variable of a scope holds when the scope is entered.
type load struct {
	slot int
	from ref    // up >= 0: the outer variable it begins as
	name string // not empty: looked up among the template's variables

	global Value // of that name, where no variable has it
}

// scope is one level of names. Jinja decides what a name means from all of
// a scope's text before it runs, and so does this: a name that is set before
// it is read begins as undefined, one that is read first, or set only under
// an if, begins as the variable of that name outside.
type scope struct {
	parent *scope
	fn     *function
	refs   map[string]int // slots
	loads  map[int]load
	stores map[string]bool
}

func (c *scope) inner(fn *function) *scope {
	return &scope{parent: c, fn: fn, refs: map[string]int{}, loads: map[int]load{}, stores: map[string]bool{}}
}

func (c *scope) branch() *scope {
	b := &scope{parent: c.parent, fn: c.fn, refs: map[string]int{}, loads: map[int]load{}, stores: map[string]bool{}}
	b.merge(c)
	return b
}

func (c *scope) merge(b *scope) {
	for k, v := range b.refs {
		c.refs[k] = v
	}
	for k, v := range b.loads {
		c.loads[k] = v
	}
	for k := range b.stores {
		c.stores[k] = true
	}
}

// find is where a name lies, seen from this scope's function.
func (c *scope) find(name string) (ref, bool) {
	for at := c; at != nil; at = at.parent {
		if slot, ok := at.refs[name]; ok {
			up := 0
			for fn := c.fn; fn != at.fn; fn = fn.parent {
				up++
			}
			return ref{up: up, slot: slot}, true
		}
	}
	return noRef, false
}

func (c *scope) outer(name string) (ref, bool) {
	if c.parent == nil {
		return noRef, false
	}
	r, ok := c.parent.find(name)
	for fn := c.fn; ok && fn != c.parent.fn; fn = fn.parent {
		r.up++
	}
	return r, ok
}

// define gives a name a slot of this scope, the one it has if there is one.
func (c *scope) define(name string) int {
	slot, ok := c.refs[name]
	if !ok {
		slot = c.fn.slots
		c.fn.slots++
		c.refs[name] = slot
	}
	return slot
}

func (c *scope) store(name string) {
	c.stores[name] = true
	if _, ok := c.refs[name]; ok {
		return
	}
	slot := c.define(name)
	if r, ok := c.outer(name); ok {
		c.loads[slot] = load{slot: slot, from: r}
		return
	}
	c.loads[slot] = load{slot: slot, from: noRef}
}

func (c *scope) param(name string) ref {
	c.stores[name] = true
	slot := c.define(name)
	delete(c.loads, slot)
	return ref{slot: slot}
}

func (c *scope) load(name string) {
	if _, ok := c.find(name); ok {
		return
	}
	slot := c.define(name)
	c.loads[slot] = load{slot: slot, from: noRef, name: name}
}

// join takes in the branches of an if: what only some of them set begins as
// it is outside.
func (c *scope) join(branches ...*scope) {
	only := map[string]bool{}
	for _, b := range branches {
		for k := range b.stores {
			if !c.stores[k] {
				only[k] = true
			}
		}
	}
	for _, b := range branches {
		c.merge(b)
	}
	for name := range only {
		slot := c.refs[name]
		if r, ok := c.outer(name); ok {
			c.loads[slot] = load{slot: slot, from: r}
			continue
		}
		c.loads[slot] = load{slot: slot, from: noRef, name: name}
	}
}

// entry is what is to be done when the scope is entered, in order of slots.
func (c *scope) entry() []load {
	var out []load
	globals := c.fn.root().globals
	for slot := range c.fn.slots {
		if l, ok := c.loads[slot]; ok {
			l.global = globals[l.name]
			out = append(out, l)
		}
	}
	return out
}

// gather notes the names that statements read and set in this scope, and
// not those of the scopes inside.
func (c *scope) gather(body []stmt) {
	for _, s := range body {
		c.gatherOne(s)
	}
}

func (c *scope) gatherOne(s stmt) {
	switch s := s.(type) {
	case *output:
		c.reads(s.value)
	case *exprStmt:
		c.reads(s.values...)
	case *ifStmt:
		c.gatherIf(s)
	case *forStmt:
		c.reads(s.iter)
	case *assign:
		c.reads(s.value)
		c.sets(s.target)
	case *assignBlock:
		c.sets(s.target)
	case *withStmt:
		c.reads(s.values...)
	case *filterBlock:
		c.reads(s.filter)
	case *macroStmt:
		c.store(s.name)
	case *callBlock:
		c.reads(s.call)
	}
}

// gatherIf follows Jinja: the first test is read outside of the branches,
// and all elifs are one branch.
func (c *scope) gatherIf(s *ifStmt) {
	c.reads(s.tests[0])
	first := c.branch()
	first.gather(s.bodies[0])
	rest := c.branch()
	for i := 1; i < len(s.tests); i++ {
		rest.gatherIf(&ifStmt{tests: s.tests[i : i+1], bodies: s.bodies[i : i+1]})
	}
	last := c.branch()
	last.gather(s.els)
	c.unify(first, rest, last)
	c.join(first, rest, last)
}

// unify gives names that branches defined apart one slot.
func (c *scope) unify(branches ...*scope) {
	slots := map[string]int{}
	for _, b := range branches {
		for name, slot := range b.refs {
			want, ok := slots[name]
			if !ok {
				slots[name] = slot
				continue
			}
			if want == slot {
				continue
			}
			l := b.loads[slot]
			delete(b.loads, slot)
			l.slot = want
			b.refs[name] = want
			if _, ok := b.loads[want]; !ok {
				b.loads[want] = l
			}
		}
	}
}

func (c *scope) sets(t target) {
	switch {
	case t.tuple:
		for _, p := range t.parts {
			c.sets(p)
		}
	case t.attr != "":
		c.load(t.name)
	default:
		c.store(t.name)
	}
}

func (c *scope) params(t target) {
	if t.tuple {
		for _, p := range t.parts {
			c.params(p)
		}
		return
	}
	c.param(t.name)
}

func (c *scope) reads(es ...expr) {
	for _, e := range es {
		visit(e, func(n *name) { c.load(n.name) })
	}
}
