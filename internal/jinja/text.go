package jinja

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isSpace is Python's str.isspace of a character.
func isSpace(r rune) bool {
	return r == ' ' || r >= '\t' && r <= '\r' || r >= 0x1c && r <= 0x1f || r == 0x85 || r == 0xa0 ||
		r >= 0x1680 && (r == 0x1680 || r >= 0x2000 && r <= 0x200a || r == 0x2028 || r == 0x2029 || r == 0x202f ||
			r == 0x205f || r == 0x3000)
}

// plain says that all bytes are ASCII.
func plain(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// upper is Python's str.upper: letters may become several.
func upper(s string) string {
	if plain(s) {
		return strings.ToUpper(s)
	}
	var b strings.Builder
	for _, r := range s {
		if t, ok := longUpper[r]; ok {
			b.WriteString(t)
		} else {
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// lower is Python's str.lower, with its final sigma.
func lower(s string) string {
	if plain(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	for i, r := range s {
		lowerInto(&b, s, i, r)
	}
	return b.String()
}

func lowerInto(b *strings.Builder, s string, i int, r rune) {
	switch r {
	case 0x130:
		b.WriteString("i\u0307")
	case 0x3a3:
		if finalSigma(s, i) {
			b.WriteRune(0x3c2)
		} else {
			b.WriteRune(0x3c3)
		}
	default:
		b.WriteRune(unicode.ToLower(r))
	}
}

// finalSigma says whether the sigma at byte i ends a word: a cased letter
// before it and none behind, with what case ignores between.
func finalSigma(s string, i int) bool {
	before := strings.TrimRightFunc(s[:i], caseIgnorable)
	r, _ := utf8.DecodeLastRuneInString(before)
	if before == "" || !cased(r) {
		return false
	}
	behind := strings.TrimLeftFunc(s[i+2:], caseIgnorable)
	r, _ = utf8.DecodeRuneInString(behind)
	return behind == "" || !cased(r)
}

func cased(r rune) bool {
	return unicode.IsUpper(r) || unicode.IsLower(r) || unicode.IsTitle(r) ||
		unicode.Is(unicode.Other_Lowercase, r) || unicode.Is(unicode.Other_Uppercase, r)
}

func caseIgnorable(r rune) bool {
	switch r {
	case '\'', '.', ':', 0xb7, 0x387, 0x55f, 0x5f4, 0x2018, 0x2019, 0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a:
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf, unicode.Lm, unicode.Sk)
}

func titleInto(b *strings.Builder, r rune) {
	if t, ok := longTitle[r]; ok {
		b.WriteString(t)
	} else {
		b.WriteRune(unicode.ToTitle(r))
	}
}

// capitalize is Python's str.capitalize.
func capitalize(s string) string {
	var b strings.Builder
	for i, r := range s {
		if i == 0 {
			titleInto(&b, r)
		} else {
			lowerInto(&b, s, i, r)
		}
	}
	return b.String()
}

// title is Python's str.title: a letter behind a letter is lower case.
func title(s string) string {
	var b strings.Builder
	in := false
	for i, r := range s {
		if in {
			lowerInto(&b, s, i, r)
		} else {
			titleInto(&b, r)
		}
		in = cased(r)
	}
	return b.String()
}

func swapcase(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case isUpper(r):
			lowerInto(&b, s, i, r)
		case isLower(r):
			b.WriteString(upper(string(r)))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func isUpper(r rune) bool { return unicode.IsUpper(r) || unicode.Is(unicode.Other_Uppercase, r) }
func isLower(r rune) bool { return unicode.IsLower(r) || unicode.Is(unicode.Other_Lowercase, r) }

// allCased says that s has cased letters, and none of the other case.
func allCased(s string, good, bad func(rune) bool) bool {
	any := false
	for _, r := range s {
		if bad(r) || unicode.IsTitle(r) {
			return false
		}
		any = any || good(r)
	}
	return any
}

// every says that s is not empty and all of its characters pass.
func every(s string, ok func(rune) bool) bool {
	for _, r := range s {
		if !ok(r) {
			return false
		}
	}
	return s != ""
}

// istitle is Python's str.istitle.
func istitle(s string) bool {
	any, in := false, false
	for _, r := range s {
		switch {
		case isUpper(r) || unicode.IsTitle(r):
			if in {
				return false
			}
			in, any = true, true
		case isLower(r):
			if !in {
				return false
			}
			any = true
		default:
			in = false
		}
	}
	return any
}

// splitlines is Python's str.splitlines.
func splitlines(s string, keep bool) []string {
	var out []string
	for s != "" {
		end, next := len(s), len(s)
		for i, r := range s {
			if r == '\n' || r == '\r' || r == '\v' || r == '\f' || r >= 0x1c && r <= 0x1e || r == 0x85 || r == 0x2028 || r == 0x2029 {
				end, next = i, i+utf8.RuneLen(r)
				if r == '\r' && next < len(s) && s[next] == '\n' {
					next++
				}
				break
			}
		}
		if keep {
			end = next
		}
		out = append(out, s[:end])
		s = s[next:]
	}
	return out
}

// splitSpace is str.split(None, most); most < 0: all.
func splitSpace(s string, most int64) []string {
	out := []string{}
	s = strings.TrimLeftFunc(s, isSpace)
	for s != "" {
		if most >= 0 && int64(len(out)) >= most {
			return append(out, s)
		}
		end := strings.IndexFunc(s, isSpace)
		if end < 0 {
			end = len(s)
		}
		out = append(out, s[:end])
		s = strings.TrimLeftFunc(s[end:], isSpace)
	}
	return out
}

// rsplitSpace is str.rsplit(None, most).
func rsplitSpace(s string, most int64) []string {
	var back []string
	s = strings.TrimRightFunc(s, isSpace)
	for s != "" {
		if most >= 0 && int64(len(back)) >= most {
			back = append(back, s)
			break
		}
		at := strings.LastIndexFunc(s, isSpace)
		if at < 0 {
			back = append(back, s)
			break
		}
		_, n := utf8.DecodeRuneInString(s[at:])
		back = append(back, s[at+n:])
		s = strings.TrimRightFunc(s[:at], isSpace)
	}
	out := make([]string, len(back))
	for i, t := range back {
		out[len(back)-1-i] = t
	}
	return out
}

func rsplit(s, sep string, most int64) []string {
	if most < 0 {
		return strings.Split(s, sep)
	}
	var back []string
	for int64(len(back)) < most {
		at := strings.LastIndex(s, sep)
		if at < 0 {
			break
		}
		back = append(back, s[at+len(sep):])
		s = s[:at]
	}
	out := []string{s}
	for i := len(back) - 1; i >= 0; i-- {
		out = append(out, back[i])
	}
	return out
}

// isDigit is Python's str.isdigit of a character: digits, and the raised,
// lowered and circled ones.
func isDigit(r rune) bool {
	if unicode.IsDigit(r) {
		return true
	}
	for _, d := range [][2]rune{{0xb2, 0xb3}, {0xb9, 0xb9}, {0x1369, 0x1371}, {0x19da, 0x19da}, {0x2070, 0x2070}, {0x2074, 0x2079}, {0x2080, 0x2089}, {0x2460, 0x2468}, {0x2474, 0x247c}, {0x2488, 0x2490}, {0x24ea, 0x24ea}, {0x24f5, 0x24fd}, {0x24ff, 0x24ff}, {0x2776, 0x277e}, {0x2780, 0x2788}, {0x278a, 0x2792}, {0x10a40, 0x10a43}, {0x10e60, 0x10e68}, {0x11052, 0x1105a}, {0x1f100, 0x1f10a}} {
		if r >= d[0] && r <= d[1] {
			return true
		}
	}
	return false
}
