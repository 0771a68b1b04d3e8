// Package mend makes UTF-8 of bytes that are meant to be.
package mend

import "unicode/utf8"

// UTF8 appends src with everything that is not UTF-8 replaced by U+FFFD, one
// for each longest beginning of a character, which is what Python's
// errors="replace" and the Unicode standard do.
func UTF8(dst, src []byte) []byte {
	for at := 0; at < len(src); {
		if src[at] < utf8.RuneSelf {
			dst = append(dst, src[at])
			at++
			continue
		}
		r, n := utf8.DecodeRune(src[at:])
		if r == utf8.RuneError && n == 1 {
			n = begun(src[at:])
			dst = append(dst, "\uFFFD"...)
		} else {
			dst = append(dst, src[at:at+n]...)
		}
		at += n
	}
	return dst
}

// begun is how many bytes of a broken character could begin a whole one, and
// at least one.
func begun(src []byte) int {
	low, high, size := byte(0x80), byte(0xbf), 0
	switch b := src[0]; {
	case b >= 0xc2 && b <= 0xdf:
		size = 2
	case b >= 0xe0 && b <= 0xef:
		size = 3
		if b == 0xe0 {
			low = 0xa0
		} else if b == 0xed {
			high = 0x9f
		}
	case b >= 0xf0 && b <= 0xf4:
		size = 4
		if b == 0xf0 {
			low = 0x90
		} else if b == 0xf4 {
			high = 0x8f
		}
	}
	n := 1
	for n < size && n < len(src) && src[n] >= low && src[n] <= high {
		low, high = 0x80, 0xbf
		n++
	}
	return n
}
