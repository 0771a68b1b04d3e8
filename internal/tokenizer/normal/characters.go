package normal

import (
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/alphabet"
)

// dottedI is the only rune whose lower case is two: i and a dot above.
const dottedI = 0x130

type lowercase struct{ *tables }

func (l lowercase) Unchanged(src []byte) bool {
	for i := 0; i < len(src); {
		if b := src[i]; b < utf8.RuneSelf {
			if b-'A' < 26 {
				return false
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if l.prop(r)&propLower != 0 {
			return false
		}
		i += n
	}
	return true
}

// Normalize takes every rune by itself: a final sigma is not known to the reference.
func (l lowercase) Normalize(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		if b := src[i]; b < utf8.RuneSelf {
			if b-'A' < 26 {
				b += 'a' - 'A'
			}
			dst = append(dst, b)
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		switch {
		case l.prop(r)&propLower == 0:
			dst = append(dst, src[i:i+n]...)
		case r == dottedI:
			dst = append(dst, "i\u0307"...)
		default:
			dst = utf8.AppendRune(dst, l.lower[r])
		}
		i += n
	}
	return dst
}

// stripAccents drops marks; a letter that holds its accent inside it keeps it.
type stripAccents struct{ *tables }

func (s stripAccents) Unchanged(src []byte) bool {
	_, _, found := s.find(src, 0, propMark)
	return !found
}

func (s stripAccents) Normalize(dst, src []byte) []byte { return s.drop(dst, src, propMark) }

// find returns where the first rune at or behind i lies that has one of the properties, and its length.
func (t *tables) find(src []byte, i int, bits uint32) (at, n int, found bool) {
	for i < len(src) {
		if src[i] < utf8.RuneSelf { // no mark is ASCII
			i++
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if t.prop(r)&bits != 0 {
			return i, n, true
		}
		i += n
	}
	return i, 0, false
}

// drop appends src without the runes that have one of the properties of marks.
func (t *tables) drop(dst, src []byte, bits uint32) []byte {
	for i := 0; i < len(src); {
		at, n, _ := t.find(src, i, bits)
		dst = append(dst, src[i:at]...)
		i = at + n
	}
	return dst
}

// strip drops white space at the ends.
type strip struct{ left, right bool }

func (s strip) Unchanged(src []byte) bool { return len(s.inner(src)) == len(src) }

func (s strip) Normalize(dst, src []byte) []byte { return append(dst, s.inner(src)...) }

func (s strip) inner(src []byte) []byte {
	for s.left && len(src) > 0 {
		r, n := utf8.DecodeRune(src)
		if !isSpace(r) {
			break
		}
		src = src[n:]
	}
	for s.right && len(src) > 0 {
		r, n := utf8.DecodeLastRune(src)
		if !isSpace(r) {
			break
		}
		src = src[:len(src)-n]
	}
	return src
}

// isSpace is Unicode's White_Space.
func isSpace(r rune) bool {
	switch {
	case r < 0x80:
		return r == ' ' || r >= '\t' && r <= '\r'
	case r >= 0x2000 && r <= 0x200a:
		return true
	}
	switch r {
	case 0x85, 0xa0, 0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000:
		return true
	}
	return false
}

// prepend puts a text before every other that is not empty.
type prepend struct{ text []byte }

func (p prepend) Unchanged(src []byte) bool { return len(p.text) == 0 || len(src) == 0 }

func (p prepend) Normalize(dst, src []byte) []byte {
	if len(src) > 0 {
		dst = append(dst, p.text...)
	}
	return append(dst, src...)
}

func (p prepend) detached() string {
	if len(p.text) == 0 {
		return "Prepend of nothing"
	}
	return ""
}

// nmt drops control characters and turns separators and the like into spaces.
type nmt struct{}

func (nmt) Unchanged(src []byte) bool {
	for i := 0; i < len(src); {
		r, n := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(src[i:])
		}
		if (r < ' ' || r >= 0x7f) && nmtRune(r) != r {
			return false
		}
		i += n
	}
	return true
}

func (nmt) Normalize(dst, src []byte) []byte {
	for i := 0; i < len(src); {
		r, n := rune(src[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(src[i:])
		}
		switch to := nmtRune(r); to {
		case r:
			dst = append(dst, src[i:i+n]...)
		case ' ':
			dst = append(dst, ' ')
		}
		i += n
	}
	return dst
}

// nmtRune returns what a rune becomes: itself, a space, or -1 for nothing.
func nmtRune(r rune) rune {
	switch {
	case r >= 1 && r <= 8, r == 0xb, r >= 0xe && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
		return -1
	case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, r >= 0x200b && r <= 0x200f:
		return ' '
	case r == 0x2028, r == 0x2029, r == 0x2581, r == 0xfeff, r == 0xfffd:
		return ' '
	}
	return r
}

// byteLevel writes every byte as a printable character of its own.
type byteLevel struct{ *alphabet.Table }

// Unchanged holds for the ASCII characters that stand for themselves.
func (byteLevel) Unchanged(src []byte) bool {
	for _, b := range src {
		if b < '!' || b > '~' {
			return false
		}
	}
	return true
}

func (m byteLevel) Normalize(dst, src []byte) []byte { return m.AppendText(dst, src) }
