package jinja

import (
	"slices"
	"strings"
)

// seqFilters adds those that work on sequences and mappings. Where Jinja
// gives a generator, so do they: nothing is done before it is asked for.
func seqFilters(m map[string]*builtin, add adder) {
	add("length count", "", 0, func(s *state, a []Value) Value { return Int(int64(s.length(a[0]))) })
	add("list", "", 0, func(s *state, a []Value) Value { return List(s.collect(a[0])) })
	add("first", "", 0, func(s *state, a []Value) Value {
		c := s.iterate(a[0])
		if x, ok := c.next(s); ok {
			return x
		}
		return undefinedHint("No first item, sequence was empty.")
	})
	add("last", "", 0, func(s *state, a []Value) Value {
		items := s.collect(s.reversible(a[0]))
		if len(items) == 0 {
			return undefinedHint("No last item, sequence was empty.")
		}
		return items[len(items)-1]
	})
	add("reverse", "", 0, func(s *state, a []Value) Value {
		if a[0].kind == strKind {
			return Str(s.sliceText(a[0].str, int64(runes(a[0].str)-1), int64(runes(a[0].str)), -1))
		}
		items := s.collect(a[0])
		slices.Reverse(items)
		if a[0].kind == iterKind {
			return List(items)
		}
		return lazyItems(items)
	})
	add("join", "d attribute", 0, join)
	add("items", "", 0, func(s *state, a []Value) Value {
		if a[0].isUndef() {
			return lazyItems(nil)
		}
		if a[0].kind != dictKind {
			return lazy(func() (Value, bool) {
				s.fail("Can only get item pairs from a mapping.")
				return Value{}, false
			})
		}
		c := cursor{of: Value{kind: viewKind, obj: &view{a[0].dict(), "items"}}, n: a[0].dict().len()}
		return lazy(func() (Value, bool) { return c.next(s) })
	})
	orderFilters(add)
	m["map"] = &builtin{name: "map", raw: mapFilter}
	for name, p := range map[string]picker{
		"select": {}, "reject": {negate: true}, "selectattr": {attr: true}, "rejectattr": {negate: true, attr: true},
	} {
		m[name] = &builtin{name: name, raw: p.filter}
	}
}

// adder adds a filter under one or more names.
type adder func(names, params string, need int, fn func(s *state, a []Value) Value)

// orderFilters adds those that sort, choose and group.
func orderFilters(add adder) {
	add("dictsort", "case_sensitive by reverse", 0, dictsort)
	add("sort", "reverse case_sensitive attribute", 0, func(s *state, a []Value) Value {
		items := s.collect(a[0])
		return List(s.sorted(items, truth(a[1]), func(v Value) Value { return s.multiKey(v, a[3], truth(a[2])) }))
	})
	add("unique", "case_sensitive attribute", 0, unique)
	add("min", "case_sensitive attribute", 0, func(s *state, a []Value) Value { return s.extreme(a, "<") })
	add("max", "case_sensitive attribute", 0, func(s *state, a []Value) Value { return s.extreme(a, ">") })
	add("sum", "attribute start", 0, func(s *state, a []Value) Value {
		total := Int(0)
		if a[2].given() {
			total = a[2]
		}
		if total.kind == strKind {
			s.fail("sum() can't sum strings [use ''.join(seq) instead]")
		}
		c := s.iterate(a[0])
		for x, ok := c.next(s); ok; x, ok = c.next(s) {
			total = s.arith(opAdd, total, s.path(x, a[1], Value{}))
		}
		return total
	})
	add("batch", "linecount fill_with", 1, batch)
	add("slice", "slices fill_with", 1, sliceInto)
	add("groupby", "attribute default case_sensitive", 1, groupby)
}

func lazyItems(items []Value) Value {
	i := 0
	return lazy(func() (Value, bool) {
		if i == len(items) {
			return Value{}, false
		}
		i++
		return items[i-1], true
	})
}

func (s *state) reversible(v Value) Value {
	switch v.kind {
	case strKind, listKind, tupleKind, groupKind, dictKind, viewKind, rangeKind, undefinedKind:
		return v
	}
	s.fail("'%s' object is not reversible", typeName(v))
	return v
}

// path looks an attribute such as "a.b.0" up; none: the value itself.
func (s *state) path(v, attr, none Value) Value {
	step := func(key Value) {
		v = s.item(v, key)
		if v.isUndef() && !isNone(none) {
			v = none
		}
	}
	switch {
	case isNone(attr):
	case attr.kind == strKind && strings.IndexByte(attr.str, '.') < 0 && (attr.str == "" || attr.str[0] > '9'):
		step(attr)
	case attr.kind == strKind:
		for p := range strings.SplitSeq(attr.str, ".") {
			if n, ok := s.parseInt(p, 10); ok && every(p, func(r rune) bool { return r >= '0' && r <= '9' }) {
				step(Int(n))
			} else {
				step(Str(p))
			}
		}
	default:
		step(attr)
	}
	return v
}

// key is a value as it is sorted by.
func key(v Value, caseful bool) Value {
	if v.kind == strKind && !caseful {
		return Str(lower(v.str))
	}
	return v
}

func (s *state) multiKey(v, attr Value, caseful bool) Value {
	if attr.kind != strKind {
		return List([]Value{key(s.path(v, attr, Value{}), caseful)})
	}
	var keys []Value
	for p := range strings.SplitSeq(attr.str, ",") {
		keys = append(keys, key(s.path(v, Str(p), Value{}), caseful))
	}
	return List(keys)
}

// sorted sorts stably by keys, also in reverse.
func (s *state) sorted(items []Value, reverse bool, by func(Value) Value) []Value {
	type pair struct{ key, v Value }
	pairs := make([]pair, len(items))
	for i, v := range items {
		pairs[i] = pair{by(v), v}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		s.tick()
		c := s.order("<", a.key, b.key)
		if reverse {
			return -c
		}
		return c
	})
	out := make([]Value, len(items))
	for i := range pairs {
		out[i] = pairs[i].v
	}
	return out
}

func join(s *state, a []Value) Value {
	sep := ""
	if a[1].given() {
		sep = s.str(a[1])
	}
	var buf []byte
	c := s.iterate(a[0])
	first := true
	for x, ok := c.next(s); ok; x, ok = c.next(s) {
		s.tick()
		if !first {
			buf = append(buf, sep...)
			s.spend(len(sep))
		}
		first = false
		from := len(buf)
		buf = s.appendStr(buf, s.path(x, a[2], Value{}))
		s.spend(len(buf) - from)
	}
	return Str(string(buf))
}

func dictsort(s *state, a []Value) Value {
	by := 0
	if a[2].given() {
		switch s.str(a[2]) {
		case "key":
		case "value":
			by = 1
		default:
			s.fail(`You can only sort by either "key" or "value"`)
		}
	}
	if a[0].kind != dictKind {
		s.fail("dictsort needs a mapping, not %s", typeName(a[0]))
	}
	items := s.collect(Value{kind: viewKind, obj: &view{a[0].dict(), "items"}})
	return List(s.sorted(items, truth(a[3]), func(v Value) Value { return key(v.list()[by], truth(a[1])) }))
}

func unique(s *state, a []Value) Value {
	seen := &dict{}
	attr, caseful := a[2], truth(a[1])
	v := a[0]
	var c *cursor
	return lazy(func() (Value, bool) {
		if c == nil {
			walk := s.iterate(v)
			c = &walk
		}
		for x, ok := c.next(s); ok; x, ok = c.next(s) {
			s.tick()
			k := key(s.path(x, attr, Value{}), caseful)
			s.hashable(k)
			if seen.find(k) < 0 {
				seen.put(k, None())
				return x, true
			}
		}
		return Value{}, false
	})
}

func (s *state) extreme(a []Value, op string) Value {
	c := s.iterate(a[0])
	best, ok := c.next(s)
	if !ok {
		return undefinedHint("No aggregated item, sequence was empty.")
	}
	bestKey := key(s.path(best, a[2], Value{}), truth(a[1]))
	for x, ok := c.next(s); ok; x, ok = c.next(s) {
		s.tick()
		if k := key(s.path(x, a[2], Value{}), truth(a[1])); s.holds(op, k, bestKey) {
			best, bestKey = x, k
		}
	}
	return best
}

func batch(s *state, a []Value) Value {
	n, fill, v := s.whole(a[1], 0), a[2], a[0]
	var c *cursor
	var held Value
	return lazy(func() (Value, bool) {
		if c == nil {
			walk := s.iterate(v)
			c = &walk
			held, _ = c.next(s)
			if held.given() && n == 0 {
				return List(nil), true
			}
		}
		var row []Value
		for held.given() && (int64(len(row)) < n || n <= 0) {
			s.tick()
			row = append(row, held)
			held, _ = c.next(s)
		}
		if row == nil {
			return Value{}, false
		}
		for !held.given() && !isNone(fill) && int64(len(row)) < n {
			s.spendItems(1)
			row = append(row, fill)
		}
		return List(row), true
	})
}

func sliceInto(s *state, a []Value) Value {
	n, fill, v := s.whole(a[1], 0), a[2], a[0]
	var items []Value
	at, offset := int64(-1), int64(0)
	return lazy(func() (Value, bool) {
		if at < 0 {
			items = s.collect(v)
			at = 0
			if n == 0 {
				s.fail("integer division or modulo by zero")
			}
		}
		if at >= n {
			return Value{}, false
		}
		s.tick()
		size, extra := int64(len(items))/n, int64(len(items))%n
		from := offset + at*size
		if at < extra {
			offset++
		}
		part := append([]Value(nil), items[from:offset+(at+1)*size]...)
		if !isNone(fill) && at >= extra {
			part = append(part, fill)
		}
		at++
		return List(part), true
	})
}

func groupby(s *state, a []Value) Value {
	caseful := truth(a[3])
	by := func(v Value) Value { return key(s.path(v, a[1], a[2]), caseful) }
	items := s.sorted(s.collect(a[0]), false, by)
	var out []Value
	for i := 0; i < len(items); {
		j := i + 1
		k := by(items[i])
		for j < len(items) && equal(k, by(items[j])) {
			j++
		}
		name := s.path(items[i], a[1], a[2])
		out = append(out, Value{kind: groupKind, obj: &list{items: []Value{name, List(items[i:j:j])}}})
		i = j
	}
	return List(out)
}
