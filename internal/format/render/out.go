// Package render writes Arrow values as text, for the formats that are text.
package render

import (
	"encoding/base64"
	"io"
)

// bufferSize bounds what a text writer holds, whatever a value's size.
const bufferSize = 64 << 10

// MaxText is the most bytes that a Text appends: the longest is a decimal of
// 76 digits with its sign, point and leading zeros.
const MaxText = 512

// Out collects text and writes it in pieces of at most 64 KiB. After an error
// it takes text and drops it; Flush returns that error.
type Out struct {
	w   io.Writer
	Buf []byte // append to it after Room
	err error
}

// NewOut writes to w.
func NewOut(w io.Writer) *Out { return &Out{w: w, Buf: make([]byte, 0, bufferSize)} }

// Reset writes to w from now on. What was not flushed is dropped.
func (o *Out) Reset(w io.Writer) { o.w, o.Buf, o.err = w, o.Buf[:0], nil }

// Room makes sure that n bytes, at most 64 KiB, can be appended to Buf.
func (o *Out) Room(n int) {
	if cap(o.Buf)-len(o.Buf) < n {
		o.Flush()
	}
}

// Flush writes what was collected and returns the first error there was.
func (o *Out) Flush() error {
	if o.err == nil && len(o.Buf) > 0 {
		_, o.err = o.w.Write(o.Buf)
	}
	o.Buf = o.Buf[:0]
	return o.err
}

// Byte writes one byte.
func (o *Out) Byte(c byte) {
	o.Room(1)
	o.Buf = append(o.Buf, c)
}

// String writes s, of any length.
func (o *Out) String(s string) {
	for len(s) > 0 {
		o.Room(1)
		n := min(len(s), cap(o.Buf)-len(o.Buf))
		o.Buf = append(o.Buf, s[:n]...)
		s = s[n:]
	}
}

// Write makes Out an io.Writer.
func (o *Out) Write(p []byte) (int, error) {
	for rest := p; len(rest) > 0; {
		o.Room(1)
		n := min(len(rest), cap(o.Buf)-len(o.Buf))
		o.Buf = append(o.Buf, rest[:n]...)
		rest = rest[n:]
	}
	return len(p), o.err
}

// base64Piece is a multiple of three bytes, so that pieces can be encoded one
// by one.
const base64Piece = 3 << 10

// Base64 writes p, of any length, in standard base64.
func (o *Out) Base64(p []byte) {
	for len(p) > 0 {
		n := min(len(p), base64Piece)
		o.Room(base64.StdEncoding.EncodedLen(n))
		o.Buf = base64.StdEncoding.AppendEncode(o.Buf, p[:n])
		p = p[n:]
	}
}
