package jinja

import "strings"

// The filter safe marks a string. With escaping off, as in chat templates,
// the mark shows in one place: what is added to a marked string is escaped
// for HTML. Other work on marked strings is refused.

func (v Value) marked() bool { return v.kind == strKind && v.num != 0 }

func mark(text string) Value { return Value{kind: strKind, str: text, num: 1} }

var escaper = strings.NewReplacer("&", "&amp;", ">", "&gt;", "<", "&lt;", "'", "&#39;", `"`, "&#34;")

// addMarked adds strings of which at least one is marked.
func (s *state) addMarked(l, r Value) Value {
	a, b := l.str, r.str
	if !l.marked() {
		a = escaper.Replace(a)
	}
	if !r.marked() {
		b = escaper.Replace(b)
	}
	s.spend(len(a) + len(b))
	return mark(a + b)
}

// unmarked refuses a filter or method that would treat a marked string in a
// way of its own.
func (s *state) unmarked(b *builtin, v Value) {
	if !v.marked() || b.is != nil || b.two != nil {
		return
	}
	switch b.name {
	case "length", "count", "tojson", "default", "d", "safe":
		return
	}
	s.fail("'%s' of a string that the filter 'safe' marked is not supported", b.name)
}
