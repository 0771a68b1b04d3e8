package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

func runes(s string) int { return utf8.RuneCountInString(s) }

func decode(s string) (rune, int) { return utf8.DecodeRuneInString(s) }

// appendStr appends Python's str(v).
func (s *state) appendStr(dst []byte, v Value) []byte {
	switch v.kind {
	case strKind:
		return append(dst, v.str...)
	case undefinedKind, missingKind:
		return dst
	}
	return s.appendRepr(dst, v)
}

func (s *state) str(v Value) string {
	if v.kind == strKind {
		return v.str
	}
	b := s.appendStr(nil, v)
	s.spend(len(b))
	return string(b)
}

// appendRepr appends Python's repr(v). What Python shows with an address in
// memory is refused: it would differ from run to run.
func (s *state) appendRepr(dst []byte, v Value) []byte {
	if v.kind == strKind {
		return appendReprStr(dst, v.str)
	}
	s.down()
	defer s.up()
	s.tick()
	switch v.kind {
	case undefinedKind:
		return append(dst, "Undefined"...)
	case noneKind:
		return append(dst, "None"...)
	case boolKind:
		if v.num == 1 {
			return append(dst, "True"...)
		}
		return append(dst, "False"...)
	case intKind:
		return strconv.AppendInt(dst, v.int(), 10)
	case floatKind:
		return append(dst, floatText(v.float())...)
	case listKind:
		return append(s.reprItems(append(dst, '['), v.list()), ']')
	case tupleKind, groupKind:
		dst = s.reprItems(append(dst, '('), v.list())
		if len(v.list()) == 1 {
			dst = append(dst, ',')
		}
		return append(dst, ')')
	case dictKind:
		return s.reprDict(dst, v.dict())
	case viewKind:
		dst = append(append(dst, typeName(v)...), "(["...)
		w := v.obj.(*view)
		for i := range w.d.len() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = s.appendRepr(dst, w.at(i))
		}
		return append(dst, "])"...)
	case rangeKind:
		r := v.obj.(*span)
		if r.step == 1 {
			return fmt.Appendf(dst, "range(%d, %d)", r.start, r.stop)
		}
		return fmt.Appendf(dst, "range(%d, %d, %d)", r.start, r.stop, r.step)
	case spaceKind:
		return append(s.reprDict(append(dst, "<Namespace "...), &v.obj.(*namespace).d), '>')
	case loopKind:
		l := v.obj.(*loop)
		return fmt.Appendf(dst, "<LoopContext %d/%d>", l.index0+1, l.len(s))
	case macroKind:
		return append(append(append(dst, "<Macro "...), reprStr(v.obj.(*macro).def.name)...), '>')
	}
	s.fail("printing a %s is not supported: Python would show its address in memory", typeName(v))
	return dst
}

func (s *state) reprItems(dst []byte, items []Value) []byte {
	for i, x := range items {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = s.appendRepr(dst, x)
		s.bounded(dst)
	}
	return dst
}

func (s *state) reprDict(dst []byte, d *dict) []byte {
	dst = append(dst, '{')
	for i, v := range d.vals {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(s.appendRepr(dst, d.key(i)), ": "...)
		dst = s.appendRepr(dst, v)
		s.bounded(dst)
	}
	return append(dst, '}')
}

// bounded ends a text that grows past the limit while it is made.
func (s *state) bounded(dst []byte) {
	if int64(len(dst)) > s.t.opt.Bytes {
		s.spend(math.MinInt)
	}
}

func reprStr(s string) string { return string(appendReprStr(nil, s)) }

func appendReprStr(dst []byte, s string) []byte {
	q := byte('\'')
	if strings.IndexByte(s, '\'') >= 0 && strings.IndexByte(s, '"') < 0 {
		q = '"'
	}
	dst = append(dst, q)
	for _, r := range s {
		switch {
		case r == rune(q) || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		case r == '\r':
			dst = append(dst, `\r`...)
		case r == '\t':
			dst = append(dst, `\t`...)
		case r < ' ' || r == 0x7f:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x7f || unicode.IsPrint(r):
			dst = utf8.AppendRune(dst, r)
		case r < 0x100:
			dst = fmt.Appendf(dst, `\x%02x`, r)
		case r < 0x10000:
			dst = fmt.Appendf(dst, `\u%04x`, r)
		default:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		}
	}
	return append(dst, q)
}

// floatText is Python's repr of a float: the shortest digits that give it
// back, with an exponent below 1e-4 and from 1e16.
func floatText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f == 0:
		if math.Signbit(f) {
			return "-0.0"
		}
		return "0.0"
	}
	if a := math.Abs(f); a >= 1e-4 && a < 1e16 {
		t := strconv.FormatFloat(f, 'f', -1, 64)
		if strings.IndexByte(t, '.') < 0 {
			t += ".0"
		}
		return t
	}
	return strconv.FormatFloat(f, 'e', -1, 64)
}
