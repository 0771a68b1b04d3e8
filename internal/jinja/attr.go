package jinja

import "math"

// owners are the reasons of attributes that are not there, by the kind of
// the object; made once, since templates ask for such attributes all the time.
var owners = func() (o [groupKind + 1]*undefined) {
	for k := range o {
		if kind(k) == missingKind {
			continue
		}
		v := Value{kind: kind(k)}
		if v.kind == viewKind {
			v.obj = &view{what: "items"}
		}
		text := typeName(v) + " object"
		if v.kind == noneKind {
			text = "None"
		}
		o[k] = &undefined{owner: text}
	}
	return o
}()

// attr is v.name: an attribute, else an item.
func (s *state) attr(v Value, name string) Value {
	if v.kind == undefinedKind && !hidden[name] {
		s.fail("%s", undefinedText(v))
	}
	if x, ok := s.ownAttr(v, name); ok {
		return x
	}
	if v.kind == dictKind {
		if x, ok := v.dict().named(name); ok {
			return x
		}
	}
	return Value{kind: undefinedKind, str: name, obj: owners[v.kind]}
}

// item is v[key]: an item, else an attribute.
func (s *state) item(v, key Value) Value {
	switch v.kind {
	case undefinedKind:
		s.fail("%s", undefinedText(v))
	case dictKind:
		if key.kind == strKind {
			if x, ok := v.dict().named(key.str); ok {
				return x
			}
		} else if i := v.dict().find(key); i >= 0 {
			return v.dict().vals[i]
		}
	case listKind, tupleKind, groupKind:
		if i, ok := within(key, len(v.list())); ok {
			return v.list()[i]
		}
	case strKind:
		if x, ok := charAt(v.str, key); ok {
			return x
		}
	case rangeKind:
		r := v.obj.(*span)
		if i, ok := within(key, int(r.len())); ok {
			return r.at(int64(i))
		}
	}
	if key.kind == strKind {
		if x, ok := s.ownAttr(v, key.str); ok {
			return x
		}
		return Value{kind: undefinedKind, str: key.str, obj: owners[v.kind]}
	}
	return undefinedHint(owners[v.kind].owner + " has no element " + string(s.appendRepr(nil, key)))
}

// within is the index of an item counted from either end.
func within(key Value, n int) (int, bool) {
	if !key.isInt() {
		return 0, false
	}
	i := key.int()
	if i < 0 {
		i += int64(n)
	}
	return int(i), i >= 0 && i < int64(n)
}

func charAt(text string, key Value) (Value, bool) {
	i, ok := within(key, runes(text))
	if !ok {
		return Value{}, false
	}
	rest := text[len(firstChars(text, i)):]
	return Str(firstChars(rest, 1)), true
}

// ownAttr is an attribute that Python's object has, which for most is a
// method. Methods that would change it, and names with an underscore, are
// undefined, as in Jinja's sandbox.
func (s *state) ownAttr(v Value, name string) (Value, bool) {
	switch v.kind {
	case spaceKind:
		return v.obj.(*namespace).d.named(name)
	case loopKind:
		return v.obj.(*loop).attr(s, name)
	case macroKind:
		return v.obj.(*macro).attr(name)
	case cyclerKind:
		return v.obj.(*cycler).attr(name)
	case groupKind:
		switch name {
		case "grouper":
			return v.list()[0], true
		case "list":
			return v.list()[1], true
		}
	case rangeKind:
		r := v.obj.(*span)
		switch name {
		case "start":
			return Int(r.start), true
		case "stop":
			return Int(r.stop), true
		case "step":
			return Int(r.step), true
		}
	case intKind, boolKind, floatKind:
		switch name {
		case "real":
			if v.kind == boolKind {
				return Int(v.int()), true
			}
			return v, true
		case "imag":
			if v.kind == floatKind {
				return Float(0), true
			}
			return Int(0), true
		case "numerator":
			if v.kind != floatKind {
				return Int(v.int()), true
			}
		case "denominator":
			if v.kind != floatKind {
				return Int(1), true
			}
		}
	}
	if b := s.t.methods[v.kind][name]; b != nil {
		return Value{kind: funcKind, obj: &bound{fn: b, self: v}}, true
	}
	switch {
	case changing[v.kind][name] || hidden[name]:
		return undefinedHint("access to attribute " + reprStr(name) + " of '" + typeName(v) + "' object is unsafe."), true
	case unsupported[v.kind][name]:
		s.fail("the method '%s' of %s is not supported", name, typeName(v))
	}
	return Value{}, false
}

func (m *macro) attr(name string) (Value, bool) {
	d := m.def
	switch name {
	case "name":
		return Str(d.name), true
	case "arguments":
		var names []Value
		for _, p := range d.params {
			names = append(names, Str(p.name))
		}
		return tuple(names), true
	case "caller":
		return Bool(d.caller.up >= 0), true
	case "catch_kwargs":
		return Bool(d.kwargs.up >= 0), true
	case "catch_varargs":
		return Bool(d.varags.up >= 0), true
	}
	return Value{}, false
}

// slice is v[from:to:step].
func (s *state) slice(v Value, at [3]Value) Value {
	n, ok := size(v)
	if v.isUndef() {
		s.fail("%s", undefinedText(v))
	}
	if !ok {
		s.fail("'%s' object is not subscriptable", typeName(v))
	}
	if v.kind == dictKind {
		s.fail("unhashable type: 'slice'")
	}
	if v.kind == viewKind {
		s.fail("'%s' object is not subscriptable", typeName(v))
	}
	from, count, step := s.bounds(at, int64(n))
	switch v.kind {
	case strKind:
		return Str(s.sliceText(v.str, from, count, step))
	case rangeKind:
		r := v.obj.(*span)
		return Value{kind: rangeKind, obj: &span{r.start + from*r.step, r.start + (from+count*step)*r.step, r.step * step}}
	}
	items := v.list()
	if step == 1 {
		items = items[from : from+count : from+count]
	} else {
		s.spendItems(count)
		out := make([]Value, 0, count)
		for i := range count {
			out = append(out, items[from+i*step])
		}
		items = out
	}
	k := v.kind
	if k == groupKind {
		k = tupleKind
	}
	return Value{kind: k, obj: &list{items: items}}
}

// bounds are the first index, the number of items and the step of a slice.
func (s *state) bounds(at [3]Value, n int64) (from, count, step int64) {
	num := func(v Value, none int64) int64 {
		switch {
		case v.kind == noneKind:
			return none
		case v.isInt():
			return v.int()
		}
		s.fail("slice indices must be integers or None or have an __index__ method")
		return 0
	}
	step = num(at[2], 1)
	if step == 0 {
		s.fail("slice step cannot be zero")
	}
	step = max(step, -math.MaxInt64)
	low, high := int64(0), n
	first, last := int64(0), n
	if step < 0 {
		low, high = -1, n-1
		first, last = n-1, -1
	}
	clip := func(v Value, none int64) int64 {
		if v.kind == noneKind {
			return none
		}
		i := num(v, none)
		if i < 0 {
			i += n
		}
		return min(max(i, low), high)
	}
	r := span{clip(at[0], first), clip(at[1], last), step}
	return r.start, r.len(), step
}

func (s *state) sliceText(text string, from, count, step int64) string {
	if count == 0 {
		return ""
	}
	if step == 1 {
		if len(text) == runes(text) {
			return text[from : from+count]
		}
		text = text[len(firstChars(text, int(from))):]
		return firstChars(text, int(count))
	}
	chars := []rune(text)
	s.spend(len(text))
	out := make([]rune, 0, count)
	for i := range count {
		out = append(out, chars[from+i*step])
	}
	return string(out)
}
