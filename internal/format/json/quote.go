package json

import (
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/render"
)

// quotePiece is how many bytes of a string are escaped between two looks at
// the buffer; at six bytes for one it stays far below 64 KiB.
const quotePiece = 4 << 10

// plain says of an ASCII byte that it stands for itself in a JSON string.
var plain = func() (t [256]bool) {
	for c := 0x20; c < utf8.RuneSelf; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// Quote writes s as a JSON string.
func Quote(o *render.Out, s []byte) {
	o.Byte('"')
	for len(s) > 0 {
		n := min(len(s), quotePiece)
		if n < len(s) {
			n = runeEnd(s, n)
		}
		o.Room(6 * n)
		o.Buf = appendEscaped(o.Buf, s[:n])
		s = s[n:]
	}
	o.Byte('"')
}

// runeEnd moves n back to where no rune is cut in two.
func runeEnd(s []byte, n int) int {
	for back := range utf8.UTFMax {
		if utf8.RuneStart(s[n-back]) {
			return n - back
		}
	}
	return n
}

// appendEscaped appends s without quotes.
func appendEscaped(dst, s []byte) []byte {
	const hex = "0123456789abcdef"
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if plain[c] {
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRune(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[from:i]...), "\ufffd"...)
				from = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		from = i
	}
	return append(dst, s[from:]...)
}
