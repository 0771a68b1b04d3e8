package jinja

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// jsonStyle is how json.dumps writes.
type jsonStyle struct {
	ascii       bool
	indent      string // one level; used where pretty
	pretty      bool
	item, colon string
	sorted      bool
}

// tojson is the filter as transformers has it: json.dumps that keeps
// characters beyond ASCII.
func tojson(s *state, a []Value) Value {
	st := jsonStyle{item: ", ", colon: ": ", ascii: truth(a[1]), sorted: truth(a[4])}
	switch ind := a[2]; {
	case !ind.given() || ind.kind == noneKind:
	case ind.kind == strKind:
		st.pretty, st.indent, st.item = true, ind.str, ","
	case ind.isInt():
		n := max(ind.int(), 0)
		s.spendTimes(1, n)
		st.pretty, st.indent, st.item = true, strings.Repeat(" ", int(n)), ","
	default:
		s.fail("tojson: indent must be a number or a string, not %s", typeName(ind))
	}
	if sep := a[3]; sep.given() && sep.kind != noneKind {
		if !sep.isSeq() || len(sep.list()) != 2 || sep.list()[0].kind != strKind || sep.list()[1].kind != strKind {
			s.fail("tojson: separators must be two strings")
		}
		st.item, st.colon = sep.list()[0].str, sep.list()[1].str
	}
	out := s.appendJSON(nil, a[0], &st, 0)
	s.spend(len(out))
	return Str(string(out))
}

func (s *state) appendJSON(dst []byte, v Value, st *jsonStyle, level int) []byte {
	s.tick()
	s.bounded(dst)
	if v.kind == strKind {
		return appendJSONStr(dst, v.str, st.ascii)
	}
	s.down()
	defer s.up()
	switch v.kind {
	case noneKind:
		return append(dst, "null"...)
	case boolKind:
		if v.num == 1 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case intKind:
		return s.appendRepr(dst, v)
	case floatKind:
		return append(dst, jsonFloat(v.float())...)
	case listKind, tupleKind, groupKind:
		return s.jsonList(dst, v.list(), st, level)
	case dictKind:
		return s.jsonDict(dst, v.dict(), st, level)
	}
	s.fail("Object of type %s is not JSON serializable", typeName(v))
	return dst
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return floatText(f)
}

func (st *jsonStyle) newline(dst []byte, level int) []byte {
	if !st.pretty {
		return dst
	}
	dst = append(dst, '\n')
	for range level {
		dst = append(dst, st.indent...)
	}
	return dst
}

func (s *state) jsonList(dst []byte, items []Value, st *jsonStyle, level int) []byte {
	if len(items) == 0 {
		return append(dst, "[]"...)
	}
	dst = append(dst, '[')
	for i, x := range items {
		if i > 0 {
			dst = append(dst, st.item...)
		}
		dst = s.appendJSON(st.newline(dst, level+1), x, st, level+1)
	}
	return append(st.newline(dst, level), ']')
}

func (s *state) jsonDict(dst []byte, d *dict, st *jsonStyle, level int) []byte {
	if d.len() == 0 {
		return append(dst, "{}"...)
	}
	var order []int
	if st.sorted {
		order = make([]int, d.len())
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return s.order("<", d.key(a), d.key(b)) })
	}
	dst = append(dst, '{')
	for n := range d.len() {
		i := n
		if order != nil {
			i = order[n]
		}
		if n > 0 {
			dst = append(dst, st.item...)
		}
		dst = appendJSONStr(st.newline(dst, level+1), s.jsonKey(d.key(i)), st.ascii)
		dst = append(dst, st.colon...)
		dst = s.appendJSON(dst, d.vals[i], st, level+1)
	}
	return append(st.newline(dst, level), '}')
}

func (s *state) jsonKey(k Value) string {
	switch k.kind {
	case strKind:
		return k.str
	case boolKind, noneKind:
		return map[string]string{"True": "true", "False": "false", "None": "null"}[s.str(k)]
	case intKind:
		return s.str(k)
	case floatKind:
		return jsonFloat(k.float())
	}
	s.fail("keys must be str, int, float, bool or None, not %s", typeName(k))
	return ""
}

func appendJSONStr(dst []byte, s string, ascii bool) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf || c >= utf8.RuneSelf && !ascii {
			i++
			continue
		}
		dst = append(dst, s[from:i]...)
		n := 1
		if k := strings.IndexByte("\"\\\n\r\t\f\b", c); k >= 0 {
			dst = append(dst, '\\', `"\nrtfb`[k])
		} else if c < ' ' {
			dst = fmt.Appendf(dst, `\u%04x`, c)
		} else {
			var r rune
			r, n = utf8.DecodeRuneInString(s[i:])
			if r >= 0x10000 {
				r -= 0x10000
				dst = fmt.Appendf(dst, `\u%04x`, 0xd800+r>>10)
				r = 0xdc00 + r&0x3ff
			}
			dst = fmt.Appendf(dst, `\u%04x`, r)
		}
		i += n
		from = i
	}
	return append(append(dst, s[from:]...), '"')
}
