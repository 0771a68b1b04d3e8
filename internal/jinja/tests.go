package jinja

import "strings"

// tests are Jinja's, without escaped.
func tests() map[string]*builtin {
	m := map[string]*builtin{}
	is := func(names string, ok func(s *state, v Value) bool) {
		for _, n := range strings.Fields(names) {
			m[n] = def(n, "value", 1, func(s *state, a []Value) Value { return Bool(ok(s, a[0])) })
			m[n].is = ok
		}
	}
	kinds := func(names string, ks ...kind) {
		is(names, func(_ *state, v Value) bool {
			for _, k := range ks {
				if v.kind == k {
					return true
				}
			}
			return false
		})
	}
	kinds("undefined", undefinedKind)
	is("defined", func(_ *state, v Value) bool { return !v.isUndef() })
	kinds("none", noneKind)
	kinds("boolean", boolKind)
	is("true", func(_ *state, v Value) bool { return v.isTrue() })
	is("false", func(_ *state, v Value) bool { return v.kind == boolKind && v.num == 0 })
	kinds("integer", intKind)
	kinds("float", floatKind)
	kinds("number", intKind, floatKind, boolKind)
	kinds("string", strKind)
	kinds("mapping", dictKind)
	kinds("sequence", strKind, listKind, tupleKind, groupKind, dictKind, rangeKind, undefinedKind)
	kinds("iterable", strKind, listKind, tupleKind, groupKind, dictKind, rangeKind, undefinedKind, viewKind, iterKind, loopKind)
	kinds("callable", funcKind, macroKind, joinerKind, loopKind, undefinedKind)
	is("lower", func(s *state, v Value) bool { return allCased(s.str(v), isLower, isUpper) })
	is("upper", func(s *state, v Value) bool { return allCased(s.str(v), isUpper, isLower) })
	is("odd", func(s *state, v Value) bool { return equal(s.arith(opMod, v, Int(2)), Int(1)) })
	is("even", func(s *state, v Value) bool { return equal(s.arith(opMod, v, Int(2)), Int(0)) })
	two := func(names, param string, fn func(s *state, a, b Value) bool) {
		for _, n := range strings.Fields(names) {
			m[n] = def(n, "value "+param, 2, func(s *state, a []Value) Value { return Bool(fn(s, a[0], a[1])) })
			m[n].two = fn
		}
	}
	two("divisibleby", "num", func(s *state, a, b Value) bool { return equal(s.arith(opMod, a, b), Int(0)) })
	two("in", "seq", func(s *state, a, b Value) bool { return s.contains(b, a) })
	two("sameas", "other", func(_ *state, a, b Value) bool { return same(a, b) })
	for op, names := range map[string]string{"==": "== eq equalto", "!=": "!= ne", ">": "> gt greaterthan", ">=": ">= ge", "<": "< lt lessthan", "<=": "<= le"} {
		two(names, "other", func(s *state, a, b Value) bool { return s.holds(op, a, b) })
	}
	is("filter", func(s *state, v Value) bool {
		s.hashable(v)
		return v.kind == strKind && (s.t.filters[v.str] != nil || refused["filter "+v.str])
	})
	is("test", func(s *state, v Value) bool {
		s.hashable(v)
		return v.kind == strKind && (s.t.tests[v.str] != nil || refused["test "+v.str])
	})
	return m
}

// same is Python's is. Equal strings and numbers count as the same, which
// Python leaves open.
func same(a, b Value) bool {
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case undefinedKind:
		return false
	case noneKind, boolKind, intKind, floatKind, strKind:
		return equal(a, b)
	}
	return a.obj == b.obj
}
