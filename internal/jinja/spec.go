package jinja

import (
	"math"
	"strconv"
	"strings"
)

// spec is how a value is written: by % or by str.format.
type spec struct {
	fill  string
	align byte // < > ^ =
	sign  byte // + - or space
	alt   bool
	width int64
	comma byte
	prec  int64 // < 0: none
	verb  byte  // 0: none
}

// number writes an integer or a float.
func (s *state) number(v Value, sp spec) string {
	switch sp.verb {
	case 'e', 'E', 'f', 'F', 'g', 'G', '%':
		return s.floatSpec(v.asFloat(), sp)
	case 0, 'n':
		if v.kind == floatKind {
			return s.floatSpec(v.float(), sp)
		}
		sp.verb = 'd'
	}
	if v.kind == floatKind {
		s.fail("Unknown format code '%c' for object of type 'float'", sp.verb)
	}
	n := v.int()
	base, prefix := 10, ""
	switch sp.verb {
	case 'd':
	case 'x', 'X':
		base, prefix = 16, "0"+string(sp.verb)
	case 'o':
		base, prefix = 8, "0o"
	case 'b':
		base, prefix = 2, "0b"
	case 'c':
		if n < 0 || n > 0x10ffff {
			s.fail("%%c arg not in range(0x110000)")
		}
		sp.prec = -1
		return s.padded(string(rune(n)), "", sp, '<')
	default:
		s.fail("Unknown format code '%c' for object of type 'int'", sp.verb)
	}
	digits := strconv.FormatUint(uint64(abs(n)), base)
	if sp.verb == 'X' {
		digits = strings.ToUpper(digits)
	}
	digits = group(digits, sp.comma, map[bool]int{true: 3, false: 4}[base == 10])
	if !sp.alt {
		prefix = ""
	}
	return s.padded(digits, signOf(n < 0, sp.sign)+prefix, sp, '>')
}

func signOf(neg bool, sign byte) string {
	switch {
	case neg:
		return "-"
	case sign == '+' || sign == ' ':
		return string(sign)
	}
	return ""
}

// group sets a mark between groups of digits before the point.
func group(digits string, mark byte, size int) string {
	if mark == 0 {
		return digits
	}
	whole := len(digits)
	if i := strings.IndexAny(digits, ".e"); i >= 0 {
		whole = i
	}
	var b strings.Builder
	for i := range whole {
		if i > 0 && (whole-i)%size == 0 {
			b.WriteByte(mark)
		}
		b.WriteByte(digits[i])
	}
	return b.String() + digits[whole:]
}

func (s *state) floatSpec(f float64, sp spec) string {
	neg := math.Signbit(f) && !math.IsNaN(f)
	a := math.Abs(f)
	if sp.alt {
		s.fail("the flag '#' is not supported for floats")
	}
	if sp.prec > 400 {
		s.fail("a precision of more than 400 digits is not supported")
	}
	prec := int(sp.prec)
	if prec < 0 {
		prec = 6
	}
	var t string
	switch verb := sp.verb; {
	case math.IsNaN(f):
		t = "nan"
	case math.IsInf(f, 0):
		t = "inf"
	case verb == 0:
		t = plainFloat(a, int(sp.prec))
	case verb == '%':
		t = strconv.FormatFloat(a*100, 'f', prec, 64)
	case verb|0x20 == 'g', verb == 'n':
		t = strconv.FormatFloat(a, 'g', max(prec, 1), 64)
	default:
		t = strconv.FormatFloat(a, verb|0x20, prec, 64)
	}
	if sp.verb == '%' {
		t += "%"
	}
	if sp.verb == 'E' || sp.verb == 'G' || sp.verb == 'F' {
		t = strings.ToUpper(t)
	}
	return s.padded(group(t, sp.comma, 3), signOf(neg, sp.sign), sp, '>')
}

// plainFloat is a float without a verb: as repr, or with so many digits and
// at least one behind the point.
func plainFloat(a float64, prec int) string {
	if prec < 0 {
		return floatText(a)
	}
	prec = max(prec, 1)
	e := strconv.FormatFloat(a, 'e', prec-1, 64)
	mantissa, exp, _ := strings.Cut(e, "e")
	if x, _ := strconv.Atoi(exp); a != 0 && (x < -4 || x+1 > prec-1) {
		if strings.IndexByte(mantissa, '.') >= 0 {
			mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
		}
		return mantissa + "e" + exp
	}
	t := strconv.FormatFloat(a, 'g', prec, 64)
	if strings.IndexByte(t, '.') < 0 {
		t += ".0"
	}
	return t
}

// padded widens text to the width; head is its sign and prefix.
func (s *state) padded(text, head string, sp spec, align byte) string {
	n := sp.width - int64(runes(text)) - int64(len(head))
	if n <= 0 {
		return head + text
	}
	if sp.align != 0 {
		align = sp.align
	}
	fill := sp.fill
	if fill == "" {
		fill = " "
	}
	if sp.comma != 0 && align == '=' && fill == "0" {
		s.fail("zeros before grouped digits are not supported")
	}
	s.spendTimes(len(fill), n)
	switch align {
	case '<':
		return head + text + strings.Repeat(fill, int(n))
	case '^':
		return strings.Repeat(fill, int(n/2)) + head + text + strings.Repeat(fill, int(n-n/2))
	case '=':
		return head + strings.Repeat(fill, int(n)) + text
	}
	return strings.Repeat(fill, int(n)) + head + text
}
