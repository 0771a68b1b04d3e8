package jinja

import "math"

type kind uint8

const (
	missingKind kind = iota // no value at all: a slot not yet set, an argument not given
	undefinedKind
	noneKind
	boolKind
	intKind
	floatKind
	strKind
	listKind
	tupleKind
	dictKind
	viewKind
	rangeKind
	iterKind
	spaceKind // namespace
	loopKind
	funcKind
	macroKind
	joinerKind
	cyclerKind
	groupKind // groupby's (grouper, list)
)

// Value is a value as a template sees it. The zero Value is no value: a
// variable that has it counts as not given.
type Value struct {
	obj  any
	str  string
	num  uint64
	kind kind
}

// Str is a string; templates count its code points, so it should be UTF-8.
func Str(s string) Value { return Value{kind: strKind, str: s} }

// Int is an integer.
func Int(n int64) Value { return Value{kind: intKind, num: uint64(n)} }

// Float is a floating point number.
func Float(f float64) Value { return Value{kind: floatKind, num: math.Float64bits(f)} }

// Bool is True or False.
func Bool(b bool) Value {
	if b {
		return Value{kind: boolKind, num: 1}
	}
	return Value{kind: boolKind}
}

// None is Python's None, and JSON's null.
func None() Value { return Value{kind: noneKind} }

// List is a list of items, which it keeps: the caller leaves them alone
// until the render is over.
func List(items []Value) Value { return Value{kind: listKind, obj: &list{items: items}} }

// Dict is a dictionary in the order of its keys, which are distinct. It keeps
// both slices: the caller leaves them alone until the render is over.
func Dict(keys []string, vals []Value) Value {
	d := &dict{names: keys, vals: vals}
	d.hash()
	return Value{kind: dictKind, obj: d}
}

func tuple(items []Value) Value { return Value{kind: tupleKind, obj: &list{items: items}} }

func undefinedHint(hint string) Value {
	return Value{kind: undefinedKind, obj: &undefined{hint: hint}}
}

// undefined says why a value is not there.
type undefined struct {
	hint  string
	owner string // type whose attribute or element it would be
}

type list struct{ items []Value }

// dict is an ordered dictionary. Keys are names where all of them are
// strings, which is how data comes; else keys.
type dict struct {
	names []string
	keys  []Value
	vals  []Value
	index map[string]int // of names, where there are many
}

// manyKeys is the size from which a table finds a name faster than a walk.
const manyKeys = 12

func (d *dict) hash() {
	if len(d.names) < manyKeys {
		return
	}
	d.index = make(map[string]int, len(d.names))
	for i, k := range d.names {
		d.index[k] = i
	}
}

func (d *dict) len() int { return len(d.vals) }

func (d *dict) key(i int) Value {
	if d.keys != nil {
		return d.keys[i]
	}
	return Str(d.names[i])
}

func (d *dict) named(name string) (Value, bool) {
	if d.index != nil {
		i, ok := d.index[name]
		if !ok {
			return Value{}, false
		}
		return d.vals[i], true
	}
	if d.keys != nil {
		i := d.find(Str(name))
		if i < 0 {
			return Value{}, false
		}
		return d.vals[i], true
	}
	for i, k := range d.names {
		if k == name {
			return d.vals[i], true
		}
	}
	return Value{}, false
}

// find is the place of a key, or -1.
func (d *dict) find(key Value) int {
	if d.keys == nil {
		if key.kind != strKind {
			return -1
		}
		if d.index != nil {
			if i, ok := d.index[key.str]; ok {
				return i
			}
			return -1
		}
		for i, k := range d.names {
			if k == key.str {
				return i
			}
		}
		return -1
	}
	for i, k := range d.keys {
		if equal(k, key) {
			return i
		}
	}
	return -1
}

// put sets a key of a dictionary that no template has seen yet.
func (d *dict) put(key, val Value) {
	if i := d.find(key); i >= 0 {
		d.vals[i] = val
		return
	}
	if key.kind == strKind && d.keys == nil {
		d.names = append(d.names, key.str)
		if d.index != nil {
			d.index[key.str] = len(d.names) - 1
		} else {
			d.hash()
		}
	} else {
		if d.keys == nil {
			d.keys = make([]Value, 0, len(d.names)+1)
			for _, n := range d.names {
				d.keys = append(d.keys, Str(n))
			}
			d.names, d.index = nil, nil
		}
		d.keys = append(d.keys, key)
	}
	d.vals = append(d.vals, val)
}

func dictOf(d *dict) Value { return Value{kind: dictKind, obj: d} }

// view is what keys(), values() and items() give.
type view struct {
	d    *dict
	what string
}

func (v *view) at(i int) Value {
	switch v.what {
	case "keys":
		return v.d.key(i)
	case "values":
		return v.d.vals[i]
	}
	return tuple([]Value{v.d.key(i), v.d.vals[i]})
}

type span struct{ start, stop, step int64 } // a range object

func (r *span) len() int64 {
	if r.step > 0 && r.start < r.stop {
		return (r.stop-r.start-1)/r.step + 1
	}
	if r.step < 0 && r.start > r.stop {
		return (r.start-r.stop-1)/-r.step + 1
	}
	return 0
}

func (r *span) at(i int64) Value { return Int(r.start + i*r.step) }

// iter is a generator: it gives each item once.
type iter struct {
	next func() (Value, bool)
}

func lazy(next func() (Value, bool)) Value { return Value{kind: iterKind, obj: &iter{next: next}} }

type namespace struct{ d dict }

func (v Value) list() []Value  { return v.obj.(*list).items }
func (v Value) dict() *dict    { return v.obj.(*dict) }
func (v Value) int() int64     { return int64(v.num) }
func (v Value) float() float64 { return math.Float64frombits(v.num) }
func (v Value) isTrue() bool   { return v.kind == boolKind && v.num == 1 }
func (v Value) isInt() bool    { return v.kind == intKind || v.kind == boolKind }
func (v Value) isNumber() bool { return v.isInt() || v.kind == floatKind }
func (v Value) given() bool    { return v.kind != missingKind }
func (v Value) isUndef() bool  { return v.kind == undefinedKind }
func (v Value) isSeq() bool    { return v.kind == listKind || v.kind == tupleKind || v.kind == groupKind }
func (v Value) asFloat() float64 {
	if v.kind == floatKind {
		return v.float()
	}
	return float64(v.int())
}

// truth is Python's bool(v).
func truth(v Value) bool {
	switch v.kind {
	case missingKind, undefinedKind, noneKind:
		return false
	case boolKind, intKind:
		return v.num != 0
	case floatKind:
		return v.float() != 0
	case strKind:
		return v.str != ""
	case listKind, tupleKind, groupKind:
		return len(v.list()) > 0
	case dictKind:
		return v.dict().len() > 0
	case viewKind:
		return v.obj.(*view).d.len() > 0
	case rangeKind:
		return v.obj.(*span).len() > 0
	case loopKind:
		return true
	}
	return true
}

// typeName is Python's type(v).__name__.
func typeName(v Value) string {
	switch v.kind {
	case undefinedKind:
		return "Undefined"
	case noneKind:
		return "NoneType"
	case boolKind:
		return "bool"
	case intKind:
		return "int"
	case floatKind:
		return "float"
	case strKind:
		return "str"
	case listKind:
		return "list"
	case tupleKind:
		return "tuple"
	case groupKind:
		return "_GroupTuple"
	case dictKind:
		return "dict"
	case viewKind:
		return "dict_" + v.obj.(*view).what
	case rangeKind:
		return "range"
	case iterKind:
		return "generator"
	case spaceKind:
		return "Namespace"
	case loopKind:
		return "LoopContext"
	case macroKind:
		return "Macro"
	case joinerKind:
		return "Joiner"
	case cyclerKind:
		return "Cycler"
	}
	return "function"
}
