package csv

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

const quote = '"'

var bom = []byte("\xef\xbb\xbf")

// dialect is how fields are told apart.
type dialect struct {
	delim   byte
	delims  uint64 // eight of it
	besides bool   // no number has it in it
}

const ones = 0x0101010101010101

func newDialect(delim byte) dialect {
	return dialect{delim, ones * uint64(delim), !strings.ContainsRune("0123456789+-.eE", rune(delim))}
}

// end is where the field without quotes that covers data[i] ends: at a
// delimiter, a line feed or the end of data.
func (d dialect) end(data []byte, i int) int {
	for len(data)-i >= 8 {
		x := binary.LittleEndian.Uint64(data[i:])
		if m := zeroBytes(x^d.delims) | zeroBytes(x^ones*'\n'); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	for i < len(data) && data[i] != d.delim && data[i] != '\n' {
		i++
	}
	return i
}

// zeroBytes has the highest bit of the first byte of x that is 0; bits behind
// it may be wrong.
func zeroBytes(x uint64) uint64 { return (x - ones) &^ x & (ones << 7) }

// nextQuote is where the first quote from i on stands; -1: there is none.
// Doubled quotes often stand close together, where words are faster than
// calling what is best for long distances.
func nextQuote(data []byte, i int) int {
	for range 6 {
		if len(data)-i < 8 {
			break
		}
		if m := zeroBytes(binary.LittleEndian.Uint64(data[i:]) ^ ones*quote); m != 0 {
			return i + bits.TrailingZeros64(m)>>3
		}
		i += 8
	}
	n := bytes.IndexByte(data[i:], quote)
	if n < 0 {
		return -1
	}
	return i + n
}

// closing is where the quote stands that closes the one at i; -1: none does.
// doubled says that there are doubled quotes between.
func closing(data []byte, i int) (at int, doubled bool) {
	for i++; ; i += 2 {
		if i = nextQuote(data, i); i < 0 {
			return -1, doubled
		}
		if i+1 == len(data) || data[i+1] != quote {
			return i, doubled
		}
		doubled = true
		if i+2 == len(data) {
			return -1, doubled
		}
	}
}

// text is a field as it stands in the file.
type text struct {
	b       []byte // what lies between the quotes, or all there is
	quoted  bool
	doubled bool // b has each quote twice
}

// plain is the field's bytes; they may be b.
func (t text) plain() []byte {
	if !t.doubled {
		return t.b
	}
	return bytes.ReplaceAll(t.b, []byte{quote, quote}, []byte{quote})
}

// next finds the field at i, the place behind it and its delimiter or line
// end, and whether a record ends there. An error says what is wrong with its
// quotes; then nothing else counts.
func (d dialect) next(data []byte, i int) (t text, after int, last bool, err error) {
	if i < len(data) && data[i] == quote {
		at, doubled := closing(data, i)
		if at < 0 {
			return t, 0, false, errOpen
		}
		t = text{data[i+1 : at], true, doubled}
		after, last, ok := d.border(data, at+1)
		if !ok {
			return t, 0, false, errBehind
		}
		return t, after, last, nil
	}
	k := d.end(data, i)
	t.b = data[i:k]
	if k < len(data) && data[k] == d.delim {
		return t, k + 1, false, nil
	}
	if k > i && data[k-1] == '\r' {
		t.b = data[i : k-1]
	}
	return t, min(k+1, len(data)), true, nil
}

// border passes the delimiter or the line end at i; not ok: there is none.
func (d dialect) border(data []byte, i int) (after int, last, ok bool) {
	rest := data[i:]
	switch {
	case len(rest) == 0:
		return i, true, true
	case rest[0] == d.delim:
		return i + 1, false, true
	case rest[0] == '\n':
		return i + 1, true, true
	case rest[0] != '\r':
		return 0, false, false
	case len(rest) == 1:
		return i + 1, true, true
	}
	return i + 2, true, rest[1] == '\n'
}

// blank is the length of the empty line at the front of data; 0: there is
// none.
func blank(data []byte) int {
	switch {
	case len(data) > 0 && data[0] == '\n':
		return 1
	case len(data) > 1 && data[0] == '\r' && data[1] == '\n':
		return 2
	case len(data) == 1 && data[0] == '\r':
		return 1
	}
	return 0
}
