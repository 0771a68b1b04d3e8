package tar

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

const block = 512

// member is one entry of an archive and the headers that belong to it.
type member struct {
	name []byte // part of the archive, or of a header
	size int64
	body int // where its bytes begin, from the first header on
	kind byte
}

// regular says that the member is a file with bytes of its own.
func (m *member) regular() bool { return m.kind == '0' || m.kind == 0 || m.kind == '7' }

// whole is the bytes of the member with headers and padding.
func (m *member) whole() int64 { return int64(m.body) + padded(m.size) }

func padded(n int64) int64 { return (n + block - 1) &^ (block - 1) }

// shortError says that data ends before the headers do; need bytes would be
// enough to go on.
type shortError struct{ need int64 }

func (e *shortError) Error() string { return "the archive ends inside a header" }

// errEnd is the mark of an archive's end, or of a part of it.
var errEnd = errors.New("end of archive")

// metaMost bounds what a name and its attributes may take.
const metaMost = 1 << 20

// parse reads the headers at the front of data: long names and attributes, and
// the entry's own. Checked says that their sums were right before.
func parse(data []byte, checked bool) (member, error) {
	var m member
	var long []byte
	size := int64(-1)
	for at := 0; ; {
		if len(data)-at < block {
			return m, &shortError{int64(at + block)}
		}
		h := data[at : at+block]
		if zero(h) {
			if at > 0 {
				return m, errors.New("a long name without its file")
			}
			return m, errEnd
		}
		if !checked && !summed(h) {
			return m, errSum
		}
		n, err := header(h, &m)
		if err != nil {
			return m, err
		}
		at += block
		switch m.kind {
		case 'L', 'K', 'x', 'g':
		default:
			m.body = at
			if size >= 0 {
				m.size = size
			}
			if long != nil {
				m.name = long
			}
			if !m.regular() {
				// Links and directories have no bytes, whatever they say.
				m.size = 0
			}
			if m.kind == 'S' {
				return m, fmt.Errorf("%q is stored as a sparse file, which is not read", m.name)
			}
			return m, nil
		}
		if n > metaMost {
			return m, fmt.Errorf("a name of %d bytes", n)
		}
		if int64(len(data)-at) < padded(n) {
			return m, &shortError{int64(at) + padded(n) + block}
		}
		body := data[at : at+int(n)]
		at += int(padded(n))
		switch m.kind {
		case 'L':
			long = bytes.TrimRight(body, "\x00")
		case 'x':
			if err := attributes(body, &long, &size); err != nil {
				return m, err
			}
		}
	}
}

func zero(h []byte) bool {
	if h[0] != 0 {
		return false // nearly always
	}
	for _, c := range h {
		if c != 0 {
			return false
		}
	}
	return true
}

var errSum = errors.New("the checksum of a tar header does not match")

// summed says that a header's sum is right: of its bytes with blanks for the
// sum itself, or, as some have it, of its bytes as signed ones.
func summed(h []byte) bool {
	want, err := number(h[148:156])
	if err != nil {
		return false
	}
	const low = 0x00ff00ff00ff00ff
	var lanes uint64 // four sums of at most 64*2*255
	for i := 0; i < block; i += 8 {
		w := binary.LittleEndian.Uint64(h[i:])
		lanes += w&low + w>>8&low
	}
	sum := int64(lanes&0xffff + lanes>>16&0xffff + lanes>>32&0xffff + lanes>>48)
	for _, c := range h[148:156] {
		sum += ' ' - int64(c)
	}
	if sum == want {
		return true
	}
	for i, c := range h {
		if c >= 0x80 && (i < 148 || i >= 156) {
			sum -= 256
		}
	}
	return sum == want
}

// header reads one block and returns the size it says.
func header(h []byte, m *member) (size int64, err error) {
	if m.size, err = number(h[124:136]); err != nil {
		return 0, fmt.Errorf("the size in a tar header: %w", err)
	}
	m.kind = h[156]
	m.name = text(h[:100])
	if h[345] != 0 && string(h[257:263]) == "ustar\x00" {
		m.name = slices.Concat(text(h[345:500]), []byte{'/'}, m.name)
	}
	return m.size, nil
}

func text(b []byte) []byte {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return b
}

// number is octal digits, or with the highest bit set a binary number.
func number(b []byte) (int64, error) {
	if b[0]&0x80 != 0 {
		if b[0] != 0x80 {
			return 0, errors.New("it is out of range")
		}
		v := uint64(0)
		for _, c := range b[1:] {
			if v > math.MaxInt64>>9 {
				return 0, errors.New("it is out of range")
			}
			v = v<<8 | uint64(c)
		}
		return int64(v), nil
	}
	v, digits := int64(0), bytes.Trim(text(b), " ")
	for _, c := range digits { // at most 12: it cannot be too large
		if c-'0' > 7 {
			return 0, errors.New("it is not a number")
		}
		v = v<<3 | int64(c-'0')
	}
	return v, nil
}

// attributes reads pax records: a length, a space, key=value, a line end.
func attributes(b []byte, name *[]byte, size *int64) error {
	for len(b) > 0 {
		sp := bytes.IndexByte(b, ' ')
		if sp < 0 || sp > 12 {
			return errors.New("damaged attributes of a name")
		}
		n, err := strconv.Atoi(string(b[:sp]))
		if err != nil || n < sp+3 || n > len(b) || b[n-1] != '\n' {
			return errors.New("damaged attributes of a name")
		}
		key, value, ok := strings.Cut(string(b[sp+1:n-1]), "=")
		if !ok {
			return errors.New("damaged attributes of a name")
		}
		switch {
		case key == "path":
			*name = []byte(value)
		case key == "size":
			if *size, err = strconv.ParseInt(value, 10, 64); err != nil || *size < 0 {
				return errors.New("damaged attributes of a name")
			}
		case strings.HasPrefix(key, "GNU.sparse"):
			return errors.New("a sparse file, which is not read")
		}
		b = b[n:]
	}
	return nil
}
