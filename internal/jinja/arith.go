package jinja

import (
	"math"
	"math/bits"
	"strings"
)

type operator uint8

const (
	opAdd operator = iota
	opSub
	opMul
	opDiv
	opFloor
	opMod
	opPow
)

var operatorText = [...]string{"+", "-", "*", "/", "//", "%", "** or pow()"}

func operatorOf(text string) operator {
	for i, t := range operatorText {
		if t == text {
			return operator(i)
		}
	}
	return opPow
}

func (s *state) sign(op byte, v Value) Value {
	switch {
	case v.isInt():
		if op == '+' {
			return Int(v.int())
		}
		if v.int() == math.MinInt64 {
			s.overflow()
		}
		return Int(-v.int())
	case v.kind == floatKind:
		if op == '+' {
			return v
		}
		return Float(-v.float())
	case v.isUndef():
		s.fail("%s", undefinedText(v))
	}
	s.fail("bad operand type for unary %c: '%s'", op, typeName(v))
	return Value{}
}

func (s *state) overflow() {
	s.fail("the result has more than 64 bits, which is not supported")
}

func (s *state) arith(op operator, l, r Value) Value {
	switch {
	case l.marked() || r.marked():
		if op == opAdd && l.kind == strKind && r.kind == strKind {
			return s.addMarked(l, r)
		}
		s.fail("'%s' with a string that the filter 'safe' marked is not supported", operatorText[op])
	case l.kind == strKind && op == opMod:
		return Str(s.percent(l.str, r))
	case l.isUndef():
		s.fail("%s", undefinedText(l))
	case r.isUndef():
		s.fail("%s", undefinedText(r))
	case l.isInt() && r.isInt():
		return s.intArith(op, l.int(), r.int())
	case l.isNumber() && r.isNumber():
		return s.floatArith(op, l.asFloat(), r.asFloat())
	case op == opAdd:
		if v, ok := s.join(l, r); ok {
			return v
		}
		switch {
		case l.kind == strKind:
			s.fail("can only concatenate str (not \"%s\") to str", typeName(r))
		case l.kind == listKind:
			s.fail("can only concatenate list (not \"%s\") to list", typeName(r))
		case l.kind == tupleKind:
			s.fail("can only concatenate tuple (not \"%s\") to tuple", typeName(r))
		}
	case op == opMul && r.isInt():
		if v, ok := s.repeat(l, r.int()); ok {
			return v
		}
	case op == opMul && l.isInt():
		if v, ok := s.repeat(r, l.int()); ok {
			return v
		}
	}
	s.fail("unsupported operand type(s) for %s: '%s' and '%s'", operatorText[op], typeName(l), typeName(r))
	return Value{}
}

func (s *state) join(l, r Value) (Value, bool) {
	switch {
	case l.kind == strKind && r.kind == strKind:
		s.spend(len(l.str) + len(r.str))
		return Str(l.str + r.str), true
	case l.kind == listKind && r.kind == listKind, (l.kind == tupleKind || l.kind == groupKind) && (r.kind == tupleKind || r.kind == groupKind):
		a, b := l.list(), r.list()
		s.spendItems(int64(len(a) + len(b)))
		k := l.kind
		if k == groupKind {
			k = tupleKind
		}
		return Value{kind: k, obj: &list{items: append(append(make([]Value, 0, len(a)+len(b)), a...), b...)}}, true
	}
	return Value{}, false
}

func (s *state) repeat(v Value, n int64) (Value, bool) {
	n = max(n, 0)
	switch v.kind {
	case strKind:
		s.spendTimes(len(v.str), n)
		return Str(strings.Repeat(v.str, int(n))), true
	case listKind, tupleKind:
		s.spendTimes(valueSize*len(v.list()), n)
		var out []Value
		for range n {
			if len(v.list()) == 0 {
				break
			}
			out = append(out, v.list()...)
		}
		return Value{kind: v.kind, obj: &list{items: out}}, true
	}
	return Value{}, false
}

// valueSize is the bytes of a Value in a list.
const valueSize = 48

func (s *state) spendItems(n int64) { s.spendTimes(valueSize, n) }

// spendTimes counts n times size bytes.
func (s *state) spendTimes(size int, n int64) {
	hi, lo := bits.Mul64(uint64(size), uint64(max(n, 0)))
	if hi != 0 || lo > math.MaxInt32*64 {
		s.spend(math.MinInt)
	}
	s.spend(int(lo))
}

func (s *state) intArith(op operator, a, b int64) Value {
	switch op {
	case opAdd:
		c := a + b
		if (c > a) != (b > 0) && b != 0 {
			s.overflow()
		}
		return Int(c)
	case opSub:
		c := a - b
		if (c < a) != (b > 0) && b != 0 {
			s.overflow()
		}
		return Int(c)
	case opMul:
		return Int(s.times(a, b))
	case opDiv:
		if b == 0 {
			s.fail("division by zero")
		}
		if abs(a) > 1<<53 || abs(b) > 1<<53 {
			// The quotient of larger ones would be rounded twice.
			if a%b == 0 {
				return Float(float64(a / b))
			}
		}
		return Float(float64(a) / float64(b))
	case opFloor, opMod:
		if b == 0 {
			s.fail("integer division or modulo by zero")
		}
		if a == math.MinInt64 && b == -1 {
			s.overflow()
		}
		q, m := a/b, a%b
		if m != 0 && (m < 0) != (b < 0) {
			q--
			m += b
		}
		if op == opFloor {
			return Int(q)
		}
		return Int(m)
	}
	return s.intPower(a, b)
}

func abs(a int64) int64 {
	if a < 0 {
		return -a
	}
	return a
}

func (s *state) times(a, b int64) int64 {
	if a == 0 || b == 0 {
		return 0
	}
	c := a * b
	if c/b != a || a == -1 && b == math.MinInt64 || b == -1 && a == math.MinInt64 {
		s.overflow()
	}
	return c
}

func (s *state) intPower(a, b int64) Value {
	if b < 0 {
		if a == 0 {
			s.fail("0.0 cannot be raised to a negative power")
		}
		return Float(math.Pow(float64(a), float64(b)))
	}
	if a == 0 || a == 1 {
		if b == 0 {
			return Int(1)
		}
		return Int(a)
	}
	if a == -1 {
		return Int(1 - 2*(b&1))
	}
	out := int64(1)
	for range b {
		out = s.times(out, a)
	}
	return Int(out)
}

func (s *state) floatArith(op operator, a, b float64) Value {
	switch op {
	case opAdd:
		return Float(a + b)
	case opSub:
		return Float(a - b)
	case opMul:
		return Float(a * b)
	case opDiv:
		if b == 0 {
			s.fail("float division by zero")
		}
		return Float(a / b)
	case opFloor, opMod:
		if b == 0 {
			s.fail("float floor division or modulo by zero")
		}
		q, m := floorDivide(a, b)
		if op == opFloor {
			return Float(q)
		}
		return Float(m)
	}
	return s.floatPower(a, b)
}

// floorDivide is Python's divmod of floats: the remainder has the sign of
// the divisor.
func floorDivide(a, b float64) (q, m float64) {
	m = math.Mod(a, b)
	q = (a - m) / b
	if m != 0 {
		if (b < 0) != (m < 0) {
			m += b
			q--
		}
	} else {
		m = math.Copysign(0, b)
	}
	if q == 0 {
		return math.Copysign(0, a/b), m
	}
	f := math.Floor(q)
	if q-f > 0.5 {
		f++
	}
	return f, m
}

func (s *state) floatPower(a, b float64) Value {
	if a == 0 && b < 0 {
		s.fail("0.0 cannot be raised to a negative power")
	}
	if a < 0 && b != math.Trunc(b) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		s.fail("complex numbers are not supported")
	}
	v := math.Pow(a, b)
	if math.IsInf(v, 0) && !math.IsInf(a, 0) && !math.IsInf(b, 0) {
		s.fail("(34, 'Numerical result out of range')")
	}
	return Float(v)
}
