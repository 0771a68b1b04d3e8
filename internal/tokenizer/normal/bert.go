package normal

import "unicode/utf8"

// bert is the normalizer of BERT: cleaning, spaces around Chinese characters, accents off, lower case, in this order.
type bert struct {
	*tables
	decompose               form
	lower                   lowercase
	clean, chinese          bool
	stripAccents, lowercase bool
}

func newBert(s *settings, t *tables) (Normalizer, error) {
	if s.CleanText == nil || s.HandleChineseChars == nil || s.Lowercase == nil {
		return nil, dataError("clean_text, handle_chinese_chars or lowercase is missing")
	}
	b := bert{tables: t, decompose: newForm(t, false, false), lower: lowercase{t},
		clean: *s.CleanText, chinese: *s.HandleChineseChars, lowercase: *s.Lowercase}
	b.stripAccents = b.lowercase
	if s.StripAccents != nil {
		b.stripAccents = *s.StripAccents
	}
	return b, nil
}

// Unchanged looks at ASCII only; other text is rarely left as it is.
func (b bert) Unchanged(src []byte) bool {
	for _, c := range src {
		if c >= 0x7f || b.clean && c < ' ' || b.lowercase && c-'A' < 26 {
			return false
		}
	}
	return true
}

// Normalize works on stretches of ASCII and of other runes, over which no rune reaches: a control character inside
// the others is dropped before marks are ordered, so it belongs to them.
func (b bert) Normalize(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		if src[i] < utf8.RuneSelf {
			dst = b.ascii(dst, src[i])
			i++
			continue
		}
		from := i
		for i++; i < len(src) && (src[i] >= utf8.RuneSelf || b.clean && b.prop(rune(src[i]))&propRemoved != 0); i++ {
		}
		dst = b.other(dst, src[from:i])
	}
	return dst
}

func (b bert) ascii(dst []byte, c byte) []byte {
	if b.clean && (c < ' ' || c == 0x7f) {
		if b.prop(rune(c))&propRemoved != 0 {
			return dst
		}
		c = ' '
	}
	if b.lowercase && c-'A' < 26 {
		c += 'a' - 'A'
	}
	return append(dst, c)
}

// other runs the steps over text without ASCII, each behind the result of the one before.
func (b bert) other(dst, src []byte) []byte {
	base := len(dst)
	cur := src
	if b.clean || b.chinese {
		dst = b.clear(dst, cur)
		cur = dst[base:]
	}
	if b.stripAccents {
		from := len(dst)
		dst = b.decompose.Normalize(dst, cur)
		mid := len(dst)
		dst = b.drop(dst, dst[from:], propNonspacing)
		cur = dst[mid:]
	}
	if b.lowercase {
		from := len(dst)
		dst = b.lower.Normalize(dst, cur)
		cur = dst[from:]
	}
	return append(dst[:base], cur...)
}

// clear drops control characters, makes spaces of white space, and puts spaces around Chinese characters.
func (b bert) clear(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case b.clean && (b.prop(r)&propRemoved != 0 || isPrivate(r)):
		case b.clean && isSpace(r):
			dst = append(dst, ' ')
		case b.chinese && isChinese(r):
			dst = append(append(append(dst, ' '), src[i:i+n]...), ' ')
		default:
			dst = append(dst, src[i:i+n]...)
		}
		i += n
	}
	return dst
}

// isPrivate reports general category Co.
func isPrivate(r rune) bool {
	return r >= 0xe000 && r <= 0xf8ff || r >= 0xf0000 && r <= 0xffffd || r >= 0x100000 && r <= 0x10fffd
}

// isChinese reports the blocks that BERT takes for Chinese, with the gap that its reference has between two of them.
func isChinese(r rune) bool {
	switch {
	case r < 0x3400:
		return false
	case r <= 0x4dbf, r >= 0x4e00 && r <= 0x9fff, r >= 0xf900 && r <= 0xfaff:
		return true
	}
	return r >= 0x20000 && r <= 0x2a6df || r >= 0x2a700 && r <= 0x2b81f || r >= 0x2b920 && r <= 0x2ceaf ||
		r >= 0x2f800 && r <= 0x2fa1f
}
