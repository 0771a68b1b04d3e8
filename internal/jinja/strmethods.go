package jinja

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"
)

func def(name, params string, need int, fn func(s *state, a []Value) Value) *builtin {
	return &builtin{name: name, params: strings.Fields(params), need: need, fn: fn}
}

// text is an argument that must be a string.
func (s *state) text(v Value) string {
	if v.kind != strKind {
		s.fail("expected a string, not %s", typeName(v))
	}
	return v.str
}

// whole is an argument that must be an integer, with a value if it is not
// given.
func (s *state) whole(v Value, none int64) int64 {
	if !v.given() {
		return none
	}
	if !v.isInt() {
		if v.isUndef() {
			s.fail("%s", undefinedText(v))
		}
		s.fail("'%s' object cannot be interpreted as an integer", typeName(v))
	}
	return v.int()
}

func isNone(v Value) bool { return !v.given() || v.kind == noneKind }

func strs(items []string) Value {
	out := make([]Value, len(items))
	for i, x := range items {
		out[i] = Str(x)
	}
	return List(out)
}

// strMethods are the methods of strings; a[0] is the string.
func strMethods() map[string]*builtin {
	m := map[string]*builtin{}
	add := func(name, params string, need int, fn func(s *state, a []Value) Value) {
		m[name] = def(name, strings.TrimSpace("self "+params), need+1, fn)
	}
	for name, fn := range map[string]func(string) string{"upper": upper, "lower": lower, "title": title, "capitalize": capitalize, "swapcase": swapcase} {
		add(name, "", 0, func(s *state, a []Value) Value {
			s.spend(len(a[0].str))
			return Str(fn(a[0].str))
		})
	}
	for name, is := range stringTests() {
		add(name, "", 0, func(_ *state, a []Value) Value { return Bool(is(a[0].str)) })
	}
	add("strip", "chars", 0, func(s *state, a []Value) Value { return Str(s.strip(a[0].str, a[1], true, true)) })
	add("lstrip", "chars", 0, func(s *state, a []Value) Value { return Str(s.strip(a[0].str, a[1], true, false)) })
	add("rstrip", "chars", 0, func(s *state, a []Value) Value { return Str(s.strip(a[0].str, a[1], false, true)) })
	add("split", "sep maxsplit", 0, func(s *state, a []Value) Value { return strs(s.split(a, false)) })
	add("rsplit", "sep maxsplit", 0, func(s *state, a []Value) Value { return strs(s.split(a, true)) })
	add("splitlines", "keepends", 0, func(s *state, a []Value) Value {
		s.spend(len(a[0].str))
		return strs(splitlines(a[0].str, truth(a[1])))
	})
	add("startswith", "prefix start end", 1, func(s *state, a []Value) Value { return s.affix(a, strings.HasPrefix) })
	add("endswith", "suffix start end", 1, func(s *state, a []Value) Value { return s.affix(a, strings.HasSuffix) })
	add("removeprefix", "prefix", 1, func(s *state, a []Value) Value { return Str(strings.TrimPrefix(a[0].str, s.text(a[1]))) })
	add("removesuffix", "suffix", 1, func(s *state, a []Value) Value { return Str(strings.TrimSuffix(a[0].str, s.text(a[1]))) })
	add("replace", "old new count", 2, func(s *state, a []Value) Value {
		return Str(s.replace(a[0].str, s.text(a[1]), s.text(a[2]), s.whole(a[3], -1)))
	})
	add("join", "iterable", 1, func(s *state, a []Value) Value { return s.joinText(a[0].str, a[1]) })
	add("find", "sub start end", 1, func(s *state, a []Value) Value { return Int(s.find(a, strings.Index)) })
	add("rfind", "sub start end", 1, func(s *state, a []Value) Value { return Int(s.find(a, strings.LastIndex)) })
	add("index", "sub start end", 1, func(s *state, a []Value) Value { return s.found(s.find(a, strings.Index)) })
	add("rindex", "sub start end", 1, func(s *state, a []Value) Value { return s.found(s.find(a, strings.LastIndex)) })
	add("count", "sub start end", 1, func(s *state, a []Value) Value {
		part, _, ok := s.part(a)
		if !ok {
			return Int(0)
		}
		return Int(int64(strings.Count(part, s.text(a[1]))))
	})
	layoutMethods(add)
	m["format"] = &builtin{name: "format", raw: func(s *state, args []Value, kw []named) Value {
		return Str(s.format(args[0].str, args[1:], kw))
	}}
	return m
}

// layoutMethods adds the methods that cut a string in parts or widen it.
func layoutMethods(add adder) {
	add("partition", "sep", 1, func(s *state, a []Value) Value { return s.partition(a, false) })
	add("rpartition", "sep", 1, func(s *state, a []Value) Value { return s.partition(a, true) })
	add("center", "width fillchar", 1, func(s *state, a []Value) Value { return s.pad(a, func(n, w int64) int64 { return n/2 + n&w&1 }) })
	add("ljust", "width fillchar", 1, func(s *state, a []Value) Value { return s.pad(a, func(int64, int64) int64 { return 0 }) })
	add("rjust", "width fillchar", 1, func(s *state, a []Value) Value { return s.pad(a, func(n, _ int64) int64 { return n }) })
	add("zfill", "width", 1, func(s *state, a []Value) Value {
		n := s.whole(a[1], 0) - int64(runes(a[0].str))
		if n <= 0 {
			return a[0]
		}
		s.spendTimes(1, n)
		sign, rest := "", a[0].str
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			sign, rest = rest[:1], rest[1:]
		}
		return Str(sign + strings.Repeat("0", int(n)) + rest)
	})
}

func stringTests() map[string]func(string) bool {
	return map[string]func(string) bool{
		"isupper":      func(t string) bool { return allCased(t, isUpper, isLower) },
		"islower":      func(t string) bool { return allCased(t, isLower, isUpper) },
		"istitle":      istitle,
		"isspace":      func(t string) bool { return every(t, isSpace) },
		"isalpha":      func(t string) bool { return every(t, unicode.IsLetter) },
		"isalnum":      func(t string) bool { return every(t, func(r rune) bool { return unicode.In(r, unicode.L, unicode.N) }) },
		"isdigit":      func(t string) bool { return every(t, isDigit) },
		"isdecimal":    func(t string) bool { return every(t, unicode.IsDigit) },
		"isascii":      plain,
		"isprintable":  func(t string) bool { return t == "" || every(t, unicode.IsPrint) },
		"isidentifier": isIdentifier,
	}
}

func isIdentifier(t string) bool {
	for i, r := range t {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsDigit(r)) {
			return false
		}
	}
	return t != ""
}

func (s *state) strip(text string, chars Value, left, right bool) string {
	cut := isSpace
	if isNone(chars) {
		if text = trimPlain(text, left, right); text == "" || text[0] < utf8.RuneSelf && text[len(text)-1] < utf8.RuneSelf {
			return text
		}
	} else {
		set := s.text(chars)
		cut = func(r rune) bool { return strings.ContainsRune(set, r) }
	}
	if left {
		text = strings.TrimLeftFunc(text, cut)
	}
	if right {
		text = strings.TrimRightFunc(text, cut)
	}
	return text
}

// trimPlain cuts ASCII white space.
func trimPlain(text string, left, right bool) string {
	white := func(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' || c >= 0x1c && c <= 0x1f }
	for left && text != "" && white(text[0]) {
		text = text[1:]
	}
	for right && text != "" && white(text[len(text)-1]) {
		text = text[:len(text)-1]
	}
	return text
}

func (s *state) split(a []Value, right bool) []string {
	text, most := a[0].str, s.whole(a[2], -1)
	s.spend(len(text))
	if isNone(a[1]) {
		if right {
			return rsplitSpace(text, most)
		}
		return splitSpace(text, most)
	}
	sep := s.text(a[1])
	if sep == "" {
		s.fail("empty separator")
	}
	if right {
		return rsplit(text, sep, most)
	}
	if most < 0 || most > math.MaxInt32 {
		return strings.Split(text, sep)
	}
	return strings.SplitN(text, sep, int(most)+1)
}

// part is the string between the arguments start and end, and how many
// characters stand before it; false: start lies behind the end.
func (s *state) part(a []Value) (string, int64, bool) {
	text := a[0].str
	if isNone(a[2]) && isNone(a[3]) {
		return text, 0, true
	}
	at := [3]Value{None(), None(), None()}
	for i, v := range a[2:4] {
		if !isNone(v) {
			at[i] = v
		}
	}
	n := int64(runes(text))
	from, count, _ := s.bounds(at, n)
	if !isNone(a[2]) && s.whole(a[2], 0) > n {
		return "", from, false
	}
	if count == 0 && !isNone(a[3]) {
		_, to, _ := s.bounds([3]Value{None(), at[1], None()}, n)
		if to < from {
			return "", from, false
		}
	}
	return s.sliceText(text, from, count, 1), from, true
}

func (s *state) affix(a []Value, has func(string, string) bool) Value {
	options := []Value{a[1]}
	if a[1].kind == tupleKind {
		options = a[1].list()
	}
	part, _, ok := s.part(a)
	for _, o := range options {
		if o.kind != strKind {
			s.fail("startswith and endswith need a string or a tuple of strings, not %s", typeName(o))
		}
		if ok && has(part, o.str) {
			return Bool(true)
		}
	}
	return Bool(false)
}

func (s *state) find(a []Value, index func(string, string) int) int64 {
	part, before, ok := s.part(a)
	sub := s.text(a[1])
	if !ok {
		return -1
	}
	i := index(part, sub)
	if i < 0 {
		return -1
	}
	return before + int64(runes(part[:i]))
}

func (s *state) found(i int64) Value {
	if i < 0 {
		s.fail("substring not found")
	}
	return Int(i)
}

func (s *state) replace(text, old, new string, count int64) string {
	n := int64(strings.Count(text, old))
	if count >= 0 {
		n = min(n, count)
	}
	s.spend(len(text))
	s.spendTimes(len(new), n)
	return strings.Replace(text, old, new, int(min(max(count, -1), math.MaxInt32)))
}

// joinText is str.join: only strings are joined.
func (s *state) joinText(sep string, v Value) Value {
	var buf []byte
	c := s.iterate(v)
	for i := 0; ; i++ {
		x, ok := c.next(s)
		if !ok {
			break
		}
		if x.kind != strKind {
			s.fail("sequence item %d: expected str instance, %s found", i, typeName(x))
		}
		if i > 0 {
			buf = append(buf, sep...)
		}
		buf = append(buf, x.str...)
		s.spend(len(sep) + len(x.str))
	}
	return Str(string(buf))
}

func (s *state) partition(a []Value, right bool) Value {
	text, sep := a[0].str, s.text(a[1])
	if sep == "" {
		s.fail("empty separator")
	}
	i := strings.Index(text, sep)
	if right {
		i = strings.LastIndex(text, sep)
	}
	switch {
	case i >= 0:
		return tuple([]Value{Str(text[:i]), Str(sep), Str(text[i+len(sep):])})
	case right:
		return tuple([]Value{Str(""), Str(""), Str(text)})
	}
	return tuple([]Value{Str(text), Str(""), Str("")})
}

// pad widens a string; left says how many of n fill characters come first.
func (s *state) pad(a []Value, left func(n, width int64) int64) Value {
	fill := " "
	if a[2].given() {
		fill = s.text(a[2])
		if runes(fill) != 1 {
			s.fail("The fill character must be exactly one character long")
		}
	}
	width := s.whole(a[1], 0)
	n := width - int64(runes(a[0].str))
	if n <= 0 {
		return a[0]
	}
	s.spendTimes(len(fill), n)
	l := left(n, width)
	return Str(strings.Repeat(fill, int(l)) + a[0].str + strings.Repeat(fill, int(n-l)))
}
