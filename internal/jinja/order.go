package jinja

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// equal is Python's ==.
func equal(a, b Value) bool {
	if a.isNumber() && b.isNumber() {
		if a.isInt() && b.isInt() {
			return a.int() == b.int()
		}
		return compareNumbers(a, b) == 0 && !nan(a) && !nan(b)
	}
	if a.kind == groupKind {
		a.kind = tupleKind
	}
	if b.kind == groupKind {
		b.kind = tupleKind
	}
	if a.kind != b.kind {
		return false
	}
	switch a.kind {
	case noneKind, undefinedKind:
		return true
	case strKind:
		return a.str == b.str
	case listKind, tupleKind:
		return equalLists(a.list(), b.list())
	case dictKind:
		x, y := a.dict(), b.dict()
		if x.len() != y.len() {
			return false
		}
		for i, v := range x.vals {
			j := y.find(x.key(i))
			if j < 0 || !equal(v, y.vals[j]) {
				return false
			}
		}
		return true
	case rangeKind:
		x, y := a.obj.(*span), b.obj.(*span)
		n := x.len()
		return n == y.len() && (n == 0 || x.start == y.start && (n == 1 || x.step == y.step))
	}
	return a.obj == b.obj
}

func nan(v Value) bool { return v.kind == floatKind && math.IsNaN(v.float()) }

func equalLists(a, b []Value) bool {
	return slices.EqualFunc(a, b, func(x, y Value) bool { return x.obj != nil && x.obj == y.obj || equal(x, y) })
}

// compareNumbers orders numbers, of which none is NaN; an integer and a
// float by their values, not by the float nearest to the integer.
func compareNumbers(a, b Value) int {
	if a.isInt() && b.isInt() {
		return cmp.Compare(a.int(), b.int())
	}
	if a.kind == floatKind && b.kind == floatKind {
		return cmp.Compare(a.float(), b.float())
	}
	if a.kind == floatKind {
		return -compareNumbers(b, a)
	}
	f := b.float()
	switch {
	case f >= 1<<63:
		return -1
	case f < -1<<63:
		return 1
	}
	whole := math.Floor(f)
	if c := cmp.Compare(a.int(), int64(whole)); c != 0 {
		return c
	}
	return cmp.Compare(0, f-whole)
}

// holds is a comparison by an operator.
func (s *state) holds(op string, a, b Value) bool {
	switch op {
	case "==":
		return equal(a, b)
	case "!=":
		return !equal(a, b)
	case "in":
		return s.contains(b, a)
	case "not in":
		return !s.contains(b, a)
	}
	if (nan(a) || nan(b)) && a.isNumber() && b.isNumber() {
		return false
	}
	c := s.order(op, a, b)
	switch op {
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	case ">":
		return c > 0
	}
	return c >= 0
}

// order is -1, 0 or 1; values without an order are an error.
func (s *state) order(op string, a, b Value) int {
	switch {
	case a.kind == strKind && b.kind == strKind:
		return strings.Compare(a.str, b.str)
	case a.isNumber() && b.isNumber():
		return compareNumbers(a, b)
	case a.isSeq() && b.isSeq() && (a.kind == listKind) == (b.kind == listKind):
		x, y := a.list(), b.list()
		for i := range min(len(x), len(y)) {
			if !equal(x[i], y[i]) {
				return s.order(op, x[i], y[i])
			}
		}
		return cmp.Compare(len(x), len(y))
	case a.isUndef():
		s.fail("%s", undefinedText(a))
	case b.isUndef():
		s.fail("%s", undefinedText(b))
	}
	s.fail("'%s' not supported between instances of '%s' and '%s'", op, typeName(a), typeName(b))
	return 0
}

// contains is Python's x in set.
func (s *state) contains(set, x Value) bool {
	switch set.kind {
	case strKind:
		if x.kind != strKind {
			s.fail("'in <string>' requires string as left operand, not %s", typeName(x))
		}
		return strings.Contains(set.str, x.str)
	case dictKind:
		s.hashable(x)
		return set.dict().find(x) >= 0
	case undefinedKind:
		return false
	case listKind, tupleKind, groupKind, viewKind, rangeKind, iterKind, loopKind:
		if set.kind == viewKind && set.obj.(*view).what == "keys" {
			s.hashable(x)
		}
		c := s.iterate(set)
		for v, ok := c.next(s); ok; v, ok = c.next(s) {
			s.tick()
			if v.obj != nil && v.obj == x.obj || equal(v, x) {
				return true
			}
		}
		return false
	}
	s.fail("argument of type '%s' is not iterable", typeName(set))
	return false
}

// hashable refuses what cannot be a key.
func (s *state) hashable(v Value) {
	switch v.kind {
	case listKind, dictKind:
		s.fail("unhashable type: '%s'", typeName(v))
	case tupleKind, groupKind:
		for _, x := range v.list() {
			s.hashable(x)
		}
	}
}

// size is Python's len(v), of what has one.
func size(v Value) (int, bool) {
	switch v.kind {
	case strKind:
		return runes(v.str), true
	case listKind, tupleKind, groupKind:
		return len(v.list()), true
	case dictKind:
		return v.dict().len(), true
	case viewKind:
		return v.obj.(*view).d.len(), true
	case rangeKind:
		return int(v.obj.(*span).len()), true
	case undefinedKind:
		return 0, true
	}
	return 0, false
}

func (s *state) length(v Value) int {
	if v.kind == loopKind {
		return v.obj.(*loop).len(s)
	}
	n, ok := size(v)
	if !ok {
		s.fail("object of type '%s' has no len()", typeName(v))
	}
	return n
}
