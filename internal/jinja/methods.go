package jinja

import (
	"math"
	"strings"
)

// methods are those of values, by kind.
func methods() [groupKind + 1]map[string]*builtin {
	seq := map[string]*builtin{
		"index": def("index", "self value start stop", 2, func(s *state, a []Value) Value { return s.indexOf(a) }),
		"count": def("count", "self value", 2, func(_ *state, a []Value) Value {
			n := int64(0)
			for _, x := range a[0].list() {
				if equal(x, a[1]) {
					n++
				}
			}
			return Int(n)
		}),
	}
	lists := map[string]*builtin{
		"copy": def("copy", "self", 1, func(s *state, a []Value) Value { return List(s.collect(a[0])) }),
	}
	for k, v := range seq {
		lists[k] = v
	}
	return [groupKind + 1]map[string]*builtin{
		strKind: strMethods(), listKind: lists, tupleKind: seq, groupKind: seq, dictKind: dictMethods(),
		floatKind: {"is_integer": def("is_integer", "self", 1, func(_ *state, a []Value) Value {
			f := a[0].float()
			return Bool(f == math.Trunc(f) && !math.IsInf(f, 0))
		})},
		cyclerKind: {
			"next": def("next", "self", 1, func(_ *state, a []Value) Value { return a[0].obj.(*cycler).next() }),
			"reset": def("reset", "self", 1, func(_ *state, a []Value) Value {
				a[0].obj.(*cycler).at = 0
				return None()
			}),
		},
		funcKind: {},
	}
}

func dictMethods() map[string]*builtin {
	m := map[string]*builtin{}
	for _, what := range []string{"keys", "values", "items"} {
		m[what] = def(what, "self", 1, func(_ *state, a []Value) Value {
			return Value{kind: viewKind, obj: &view{d: a[0].dict(), what: what}}
		})
	}
	m["get"] = def("get", "self key default", 2, func(s *state, a []Value) Value {
		s.hashable(a[1])
		if i := a[0].dict().find(a[1]); i >= 0 {
			return a[0].dict().vals[i]
		}
		if a[2].given() {
			return a[2]
		}
		return None()
	})
	m["copy"] = def("copy", "self", 1, func(s *state, a []Value) Value { return dictOf(s.copyDict(a[0].dict())) })
	return m
}

func (s *state) copyDict(d *dict) *dict {
	s.spendItems(2 * int64(d.len()))
	c := &dict{vals: append([]Value(nil), d.vals...)}
	if d.keys != nil {
		c.keys = append([]Value(nil), d.keys...)
	} else {
		c.names = append([]string(nil), d.names...)
		c.hash()
	}
	return c
}

func (s *state) indexOf(a []Value) Value {
	items := a[0].list()
	at := [3]Value{None(), None(), None()}
	for i, v := range a[2:4] {
		if v.given() {
			at[i] = v
		}
	}
	from, count, _ := s.bounds(at, int64(len(items)))
	for i := from; i < from+count; i++ {
		if equal(items[i], a[1]) {
			return Int(i)
		}
	}
	s.fail("%s is not in %s", s.appendRepr(nil, a[1]), typeName(a[0]))
	return Value{}
}

func set(names string) map[string]bool {
	m := map[string]bool{}
	for _, n := range strings.Fields(names) {
		m[n] = true
	}
	return m
}

// changing are the methods that Jinja's immutable sandbox hides.
var changing = map[kind]map[string]bool{
	listKind: set("append clear pop reverse insert sort extend remove"),
	dictKind: set("clear pop popitem setdefault update"),
}

// hidden are attributes that every object of Python has and the sandbox
// hides.
var hidden = set("__class__ __doc__ __init__ __dir__ __eq__ __ne__ __hash__ __str__ __repr__ __reduce__ __reduce_ex__ __setattr__ " +
	"__getattribute__ __delattr__ __new__ __sizeof__ __format__ __subclasshook__ __init_subclass__")

// unsupported are methods that Python has and a template may call, and that
// are refused rather than taken for missing.
var unsupported = map[kind]map[string]bool{
	strKind:   set("casefold encode expandtabs format_map isnumeric maketrans translate"),
	intKind:   set("as_integer_ratio bit_count bit_length conjugate from_bytes is_integer to_bytes"),
	boolKind:  set("as_integer_ratio bit_count bit_length conjugate from_bytes is_integer to_bytes"),
	floatKind: set("as_integer_ratio conjugate fromhex hex"),
	dictKind:  set("fromkeys"),
	viewKind:  set("isdisjoint mapping"),
	rangeKind: set("count index"),
	iterKind:  set("close send throw gi_code gi_frame gi_running gi_suspended gi_yieldfrom"),
}
