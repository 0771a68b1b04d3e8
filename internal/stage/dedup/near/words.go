package near

import "unicode/utf8"

// word is the next one at or behind a place; an empty one: the end. Bytes that
// are no UTF-8 belong to words.
func word(text []byte, at int) (from, to int) {
	for at < len(text) {
		n := space(text[at:])
		if n == 0 {
			break
		}
		at += n
	}
	from = at
	for at < len(text) && space(text[at:]) == 0 {
		at++
	}
	return from, at
}

// space is the length of the white space that p begins with: 0 or one
// character.
func space(p []byte) int {
	c := p[0]
	if c < utf8.RuneSelf {
		if c == ' ' || c-'\t' < 5 {
			return 1
		}
		return 0
	}
	// U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F,
	// U+3000.
	if c != 0xc2 && (c < 0xe1 || c > 0xe3) {
		return 0
	}
	switch r, n := utf8.DecodeRune(p); {
	case r == 0x85, r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return n
	}
	return 0
}
