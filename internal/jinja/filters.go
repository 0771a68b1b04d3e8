package jinja

import (
	"math"
	"math/big"
	"strconv"
	"strings"
)

// filters are Jinja's, without those that make HTML or are random; see the
// package comment.
func filters() map[string]*builtin {
	m := map[string]*builtin{}
	add := func(names, params string, need int, fn func(s *state, a []Value) Value) {
		for _, n := range strings.Fields(names) {
			m[n] = def(n, strings.TrimSpace("value "+params), need+1, fn)
		}
	}
	for name, fn := range map[string]func(string) string{"upper": upper, "lower": lower, "capitalize": capitalize, "title": titleWords} {
		add(name, "", 0, func(s *state, a []Value) Value {
			t := s.str(a[0])
			s.spend(len(t))
			return Str(fn(t))
		})
	}
	add("safe", "", 0, func(s *state, a []Value) Value { return mark(s.str(a[0])) })
	add("string", "", 0, func(s *state, a []Value) Value { return Str(s.str(a[0])) })
	add("trim", "chars", 0, func(s *state, a []Value) Value { return Str(s.strip(s.str(a[0]), a[1], true, true)) })
	add("replace", "old new count", 2, func(s *state, a []Value) Value {
		count := int64(-1)
		if !isNone(a[3]) {
			count = s.whole(a[3], -1)
		}
		return Str(s.replace(s.str(a[0]), s.str(a[1]), s.str(a[2]), count))
	})
	add("center", "width", 0, func(s *state, a []Value) Value {
		w := Int(s.whole(a[1], 80))
		return s.pad([]Value{Str(s.str(a[0])), w, {}}, func(n, w int64) int64 { return n/2 + n&w&1 })
	})
	add("indent", "width first blank", 0, indent)
	add("truncate", "length killwords end leeway", 0, truncate)
	add("default d", "default_value boolean", 0, func(_ *state, a []Value) Value {
		if a[0].isUndef() || truth(a[2]) && !truth(a[0]) {
			if !a[1].given() {
				return Str("")
			}
			return a[1]
		}
		return a[0]
	})
	valueFilters(add)
	m["format"] = &builtin{name: "format", raw: formatFilter}
	seqFilters(m, add)
	return m
}

// valueFilters adds those that work on numbers and single values.
func valueFilters(add adder) {
	add("abs", "", 0, func(s *state, a []Value) Value {
		if a[0].isNumber() && (a[0].asFloat() < 0 || a[0].kind == floatKind && math.Signbit(a[0].float())) {
			return s.sign('-', a[0])
		}
		return s.sign('+', a[0])
	})
	add("int", "default base", 0, toInt)
	add("float", "default", 0, func(s *state, a []Value) Value {
		if f, ok := s.toFloat(a[0]); ok {
			return Float(f)
		}
		if a[1].given() {
			return a[1]
		}
		return Float(0)
	})
	add("round", "precision method", 0, round)
	add("tojson", "ensure_ascii indent separators sort_keys", 0, tojson)
	add("attr", "name", 1, func(s *state, a []Value) Value {
		if v, ok := s.ownAttr(a[0], s.text(a[1])); ok {
			return v
		}
		if a[0].isUndef() {
			s.fail("%s", undefinedText(a[0]))
		}
		return Value{kind: undefinedKind, str: a[1].str, obj: owners[a[0].kind]}
	})
}

// refused are filters, tests and functions of Jinja that are not here.
var refused = map[string]bool{
	"filter e": true, "filter escape": true, "filter forceescape": true, "filter filesizeformat": true, "filter pprint": true,
	"filter random": true, "filter striptags": true, "filter urlencode": true, "filter urlize": true,
	"filter wordcount": true, "filter wordwrap": true, "filter xmlattr": true, "test escaped": true,
}

// titleWords is the filter title, which is not str.title: words begin behind
// white space and opening brackets.
func titleWords(t string) string {
	var b strings.Builder
	start := true
	for i, r := range t {
		sep := isSpace(r) || strings.ContainsRune("-({[<", r)
		switch {
		case sep:
			b.WriteRune(r)
		case start:
			b.WriteString(upper(string(r)))
		default:
			lowerInto(&b, t[wordStart(t, i):], i-wordStart(t, i), r)
		}
		start = sep
	}
	return b.String()
}

// wordStart is where the part of a word behind its first letter begins.
func wordStart(t string, i int) int {
	at := strings.LastIndexFunc(t[:i], func(r rune) bool { return isSpace(r) || strings.ContainsRune("-({[<", r) })
	if at < 0 {
		at = 0
	} else {
		_, n := decode(t[at:])
		at += n
	}
	_, n := decode(t[at:])
	return min(at+n, i)
}

func indent(s *state, a []Value) Value {
	in := "    "
	if a[1].given() {
		if a[1].kind == strKind {
			in = a[1].str
		} else {
			n := max(s.whole(a[1], 4), 0)
			s.spendTimes(1, n)
			in = strings.Repeat(" ", int(n))
		}
	}
	lines := splitlines(s.text(a[0])+"\n", false)
	s.spendTimes(len(in), int64(len(lines)))
	s.spend(len(a[0].str))
	var b strings.Builder
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i == 0 && truth(a[2]) || i > 0 && (truth(a[3]) || l != "") {
			b.WriteString(in)
		}
		b.WriteString(l)
	}
	return Str(b.String())
}

func truncate(s *state, a []Value) Value {
	length, end := s.whole(a[1], 255), "..."
	if a[3].given() {
		end = s.text(a[3])
	}
	leeway := int64(5)
	if !isNone(a[4]) {
		leeway = s.whole(a[4], 5)
	}
	n := int64(runes(end))
	if length < n {
		s.fail("expected length >= %d, got %d", n, length)
	}
	if leeway < 0 {
		s.fail("expected leeway >= 0, got %d", leeway)
	}
	if int64(s.length(a[0])) <= length+leeway {
		return a[0]
	}
	t := s.text(a[0])
	s.spend(len(t))
	t = firstChars(t, int(length-n))
	if !truth(a[2]) {
		if i := strings.LastIndexByte(t, ' '); i >= 0 {
			t = t[:i]
		}
	}
	return Str(t + end)
}

func toInt(s *state, a []Value) Value {
	none := Int(0)
	if a[1].given() {
		none = a[1]
	}
	switch v := a[0]; {
	case v.isInt():
		return Int(v.int())
	case v.kind == floatKind:
		return s.truncFloat(v.float(), none)
	case v.kind == strKind:
		if n, ok := s.parseInt(v.str, int(s.whole(a[2], 10))); ok {
			return Int(n)
		}
		if f, ok := s.toFloat(v); ok {
			return s.truncFloat(f, none)
		}
	case v.isUndef():
		s.fail("%s", undefinedText(v))
	}
	return none
}

func (s *state) truncFloat(f float64, none Value) Value {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return none
	case f >= 1<<63 || f < -1<<63:
		s.overflow()
	}
	return Int(int64(f))
}

// parseInt is Python's int(text, base).
func (s *state) parseInt(t string, base int) (int64, bool) {
	t = strings.TrimFunc(t, isSpace)
	if base != 0 && (base < 2 || base > 36) {
		return 0, false
	}
	body := strings.TrimLeft(t, "+-")
	if len(t)-len(body) > 1 || strings.HasPrefix(body, "_") && base == 10 || strings.HasSuffix(body, "_") || strings.Contains(body, "__") {
		return 0, false
	}
	if len(body) > 1 && body[0] == '0' && base != 10 {
		for _, p := range []struct {
			c    byte
			base int
		}{{'x', 16}, {'o', 8}, {'b', 2}} {
			if body[1]|0x20 == p.c && (base == 0 || base == p.base) {
				body, base = strings.TrimPrefix(body[2:], "_"), p.base
				break
			}
		}
	}
	if base == 0 {
		if len(body) > 1 && body[0] == '0' && strings.Trim(body, "0_") != "" {
			return 0, false
		}
		base = 10
	}
	if strings.HasPrefix(body, "_") || strings.ContainsAny(body, "+-") {
		return 0, false
	}
	n, ok := new(big.Int).SetString(strings.ReplaceAll(body, "_", ""), base)
	if !ok {
		return 0, false
	}
	if strings.HasPrefix(t, "-") {
		n.Neg(n)
	}
	if !n.IsInt64() {
		s.overflow()
	}
	return n.Int64(), true
}

// toFloat is Python's float(v).
func (s *state) toFloat(v Value) (float64, bool) {
	switch {
	case v.isNumber():
		return v.asFloat(), true
	case v.isUndef():
		s.fail("%s", undefinedText(v))
	case v.kind == strKind:
		t := strings.TrimFunc(v.str, isSpace)
		if strings.ContainsAny(t, "xXpP") || strings.HasPrefix(t, "_") || strings.HasSuffix(t, "_") || strings.Contains(t, "__") {
			return 0, false
		}
		if i := strings.IndexByte(t, '_'); i > 0 {
			if t[i-1] < '0' || t[i-1] > '9' || t[i+1] < '0' || t[i+1] > '9' {
				return 0, false
			}
			t = strings.ReplaceAll(t, "_", "")
		}
		f, err := strconv.ParseFloat(t, 64)
		return f, err == nil || math.IsInf(f, 0) && !strings.ContainsAny(t, "iI")
	}
	return 0, false
}

// round is the filter: to even for "common", like Python's round.
func round(s *state, a []Value) Value {
	p, method := s.whole(a[1], 0), "common"
	if a[2].given() {
		method = s.text(a[2])
	}
	v := a[0]
	if !v.isNumber() {
		if v.isUndef() {
			s.fail("%s", undefinedText(v))
		}
		s.fail("type %s doesn't define __round__ method", typeName(v))
	}
	switch method {
	case "common":
		if v.isInt() {
			if p >= 0 {
				return Int(v.int())
			}
			return Int(s.roundInt(v.int(), -p))
		}
		return Float(roundFloat(v.float(), p))
	case "ceil", "floor":
		scale := s.arith(opPow, Int(10), Int(p))
		x := s.arith(opMul, v, scale).asFloat()
		if method == "ceil" {
			x = math.Ceil(x)
		} else {
			x = math.Floor(x)
		}
		if math.IsNaN(x) || math.IsInf(x, 0) {
			s.fail("cannot convert float NaN or infinity to integer")
		}
		return s.arith(opDiv, Float(x), scale)
	}
	s.fail("method must be common, ceil or floor")
	return Value{}
}

func (s *state) roundInt(n, places int64) int64 {
	if places > 18 {
		return 0
	}
	unit := int64(math.Pow10(int(places)))
	q, r := n/unit, n%unit
	if r < 0 {
		r += unit
		q--
	}
	if 2*r > unit || 2*r == unit && q&1 != 0 {
		q++
	}
	return s.times(q, unit)
}

// roundFloat rounds the exact decimal value of f.
func roundFloat(f float64, places int64) float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) || places > 323 {
		return f
	}
	if places < -308 {
		return math.Copysign(0, f)
	}
	if places >= 0 {
		out, _ := strconv.ParseFloat(strconv.FormatFloat(f, 'f', int(places), 64), 64)
		return out
	}
	// Digits before the point: scale as integers, which floats this large are.
	x, _ := new(big.Float).SetFloat64(f).Rat(nil)
	unit := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(-places), nil))
	q := new(big.Rat).Quo(x, unit)
	whole, _ := new(big.Int).SetString(q.FloatString(0), 10)
	if twice := new(big.Rat).Mul(q, big.NewRat(2, 1)); twice.IsInt() && !q.IsInt() && whole.Bit(0) == 1 {
		// FloatString rounds halves away from zero; Python to even.
		whole.Sub(whole, big.NewInt(int64(q.Sign())))
	}
	out, _ := new(big.Rat).Mul(new(big.Rat).SetInt(whole), unit).Float64()
	if out == 0 {
		return math.Copysign(0, f)
	}
	return out
}

// formatFilter is the filter format: Python's %.
func formatFilter(s *state, args []Value, kw []named) Value {
	if len(args) > 1 && len(kw) > 0 {
		s.fail("can't handle positional and keyword arguments at the same time")
	}
	if len(kw) == 0 {
		return Str(s.percent(s.str(args[0]), tuple(args[1:])))
	}
	d := &dict{}
	for _, k := range kw {
		d.put(Str(k.name), k.v)
	}
	return Str(s.percent(s.str(args[0]), dictOf(d)))
}
