package jinja

// IsNone says whether the value is None.
func (v Value) IsNone() bool { return v.kind == noneKind }

// Text is the string; false: it is something else.
func (v Value) Text() (string, bool) { return v.str, v.kind == strKind }

// Items are the items of a list; false: it is something else. They are the
// value's own.
func (v Value) Items() ([]Value, bool) {
	if v.kind != listKind {
		return nil, false
	}
	return v.list(), true
}

// Fields are the names and values of a dictionary whose keys are strings;
// false: it is something else. They are the value's own.
func (v Value) Fields() ([]string, []Value, bool) {
	if v.kind != dictKind || v.dict().keys != nil {
		return nil, nil, false
	}
	return v.dict().names, v.dict().vals, true
}

// Field is one value of a dictionary; false: it has no such key, or is
// something else.
func (v Value) Field(name string) (Value, bool) {
	if v.kind != dictKind {
		return Value{}, false
	}
	return v.dict().named(name)
}
