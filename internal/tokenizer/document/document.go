// Package document walks a JSON document in place. A tokenizer.json is tens of
// megabytes of vocabulary: nothing of it is copied but what is kept.
package document

import (
	"bytes"
	"encoding/json"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
)

// Value is one JSON value, as its text stands in the document.
type Value []byte

// Parse checks a whole document once, so that walking it needs no further
// checks. What is not JSON is format.ErrData.
func Parse(data []byte) (Value, error) {
	if json.Valid(data) {
		return Value(bytes.TrimSpace(data)), nil
	}
	var v json.RawMessage
	return nil, format.Error(format.ErrData, "not JSON: %w", json.Unmarshal(data, &v))
}

// Kind is the first byte of the value: { [ " t f n - or a digit; 0 of nothing.
func (v Value) Kind() byte {
	if len(v) == 0 {
		return 0
	}
	return v[0]
}

// Null says that the value is null or not there.
func (v Value) Null() bool { return len(v) == 0 || v[0] == 'n' }

// Members calls f for every member of an object, in order; key is a Value too.
// Of anything else it calls nothing. It stops at the first error.
func (v Value) Members(f func(key, value Value) error) error {
	if v.Kind() != '{' {
		return nil
	}
	at := space(v, 1)
	for v[at] != '}' {
		end := skip(v, at)
		key := v[at:end]
		at = space(v, space(v, end)+1)
		end = skip(v, at)
		if err := f(key, v[at:end]); err != nil {
			return err
		}
		at = next(v, end)
	}
	return nil
}

// Elements calls f for every element of an array, in order. Of anything else it
// calls nothing. It stops at the first error.
func (v Value) Elements(f func(Value) error) error {
	if v.Kind() != '[' {
		return nil
	}
	at := space(v, 1)
	for v[at] != ']' {
		end := skip(v, at)
		if err := f(v[at:end]); err != nil {
			return err
		}
		at = next(v, end)
	}
	return nil
}

// Member is the last member of that name of an object.
func (v Value) Member(name string) Value {
	var found Value
	_ = v.Members(func(key, value Value) error {
		if text, ok := key.AppendText(nil); ok && string(text) == name {
			found = value
		}
		return nil
	})
	return found
}

// next is where the member or element behind one that ends at end begins, or
// the closing bracket is.
func next(v Value, end int) int {
	at := space(v, end)
	if v[at] == ',' {
		at = space(v, at+1)
	}
	return at
}

func space(v Value, at int) int {
	for v[at] == ' ' || v[at] == '\n' || v[at] == '\t' || v[at] == '\r' {
		at++
	}
	return at
}

// skip is where the value that begins at at ends.
func skip(v Value, at int) int {
	switch v[at] {
	case '"':
		return skipText(v, at)
	case '{', '[':
		depth := 0
		for ; ; at++ {
			switch v[at] {
			case '"':
				at = skipText(v, at) - 1
			case '{', '[':
				depth++
			case '}', ']':
				if depth--; depth == 0 {
					return at + 1
				}
			}
		}
	}
	for at < len(v) && !ends(v[at]) {
		at++
	}
	return at
}

func skipText(v Value, at int) int {
	for at++; v[at] != '"'; at++ {
		if v[at] == '\\' {
			at++
		}
	}
	return at + 1
}

// AppendText appends what a string says. It is false for what is no string and
// for one with half a surrogate pair or broken UTF-8, which is no text.
func (v Value) AppendText(dst []byte) ([]byte, bool) {
	if v.Kind() != '"' {
		return dst, false
	}
	text := v[1 : len(v)-1]
	if !utf8.Valid(text) {
		return dst, false
	}
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 {
			return append(dst, text...), true
		}
		dst = append(dst, text[:i]...)
		if text[i+1] != 'u' {
			dst = append(dst, plain(text[i+1]))
			text = text[i+2:]
			continue
		}
		r := hex4(text[i+2:])
		text = text[i+6:]
		if utf16.IsSurrogate(r) {
			if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
				return dst, false
			}
			r = utf16.DecodeRune(r, hex4(text[2:]))
			text = text[6:]
			if r == utf8.RuneError {
				return dst, false
			}
		}
		dst = utf8.AppendRune(dst, r)
	}
}

// plain is what a backslash and c stand for.
func plain(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(v []byte) rune {
	r := rune(0)
	for _, c := range v[:4] {
		switch {
		case c <= '9':
			r = r<<4 | rune(c-'0')
		default:
			r = r<<4 | rune(c|0x20-'a'+10)
		}
	}
	return r
}

// ends says that c stands behind a number or a word.
func ends(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}
