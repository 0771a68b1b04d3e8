// Package alphabet is the one-to-one map between bytes and printable characters
// in which byte-level vocabularies are written: Ġ is a space, Ċ a line's end.
package alphabet

import "unicode/utf8"

// last is the highest character of the alphabet: 188 bytes stand for
// themselves, the other 68 are U+0100 onwards.
const last = 0x100 + 67

// Table is the map both ways. It is a value: whoever needs it makes it once.
type Table struct {
	char [256]rune
	byte [last + 1]int16 // -1: not of the alphabet
}

// New makes the table.
func New() *Table {
	t := &Table{}
	for r := range t.byte {
		t.byte[r] = -1
	}
	moved := rune(0x100)
	for b := range 256 {
		r := rune(b)
		if !(b >= '!' && b <= '~' || b >= 0xa1 && b <= 0xac || b >= 0xae) {
			r = moved
			moved++
		}
		t.char[b] = r
		t.byte[r] = int16(b)
	}
	return t
}

// AppendBytes appends the bytes that a token's text stands for. It is false,
// and dst as it was, where a character is not of the alphabet.
func (t *Table) AppendBytes(dst, text []byte) ([]byte, bool) {
	begin := len(dst)
	for at := 0; at < len(text); {
		r, n := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(text[at:])
		}
		if r > last || t.byte[r] < 0 {
			return dst[:begin], false
		}
		dst = append(dst, byte(t.byte[r]))
		at += n
	}
	return dst, true
}

// AppendText appends the characters that stand for raw bytes.
func (t *Table) AppendText(dst, raw []byte) []byte {
	for _, b := range raw {
		dst = utf8.AppendRune(dst, t.char[b])
	}
	return dst
}
