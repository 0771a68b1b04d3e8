package npy

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
)

// add adds n rows of an array; fill reads their bytes.
func (d *dataset) add(b *build.Batch, a *grid, n int, fill func([]byte) error) error {
	if len(a.fields) == 1 && a.fields[0].plain() {
		return d.addPlain(b, &a.fields[0], n, fill)
	}
	raw := b.Scratch(n * int(a.width))
	if raw == nil {
		return errRoom
	}
	if err := fill(raw); err != nil {
		return err
	}
	for _, f := range a.fields {
		places := d.schema.FieldIndices(f.name)
		if len(places) == 0 {
			continue // not asked for
		}
		c := b.Column(places[0])
		for i := range n {
			f.append(c, raw[int64(i)*a.width+f.at:])
		}
	}
	return nil
}

// plain says that values lie in memory as they are stored.
func (f *field) plain() bool {
	return !f.swap && (f.kind == 'i' || f.kind == 'u' || f.kind == 'f')
}

// addPlain reads values to where they belong.
func (d *dataset) addPlain(b *build.Batch, f *field, n int, fill func([]byte) error) error {
	c := b.Column(d.schema.FieldIndices(f.name)[0])
	values := c
	if !f.scalar {
		values = c.Children[0]
	}
	dst := values.Append(n * int(f.count))
	if dst == nil {
		return errRoom
	}
	for i := 0; values != c && i < n; i++ {
		c.EndVector()
	}
	return fill(dst)
}

// append adds one row's values, which raw begins with.
func (f *field) append(c *build.Column, raw []byte) {
	if f.scalar {
		f.value(c, raw[:f.width])
		return
	}
	for i := range int(f.count) {
		f.value(c.Children[0], raw[i*f.width:(i+1)*f.width])
	}
	c.EndVector()
}

// value adds one value.
func (f *field) value(c *build.Column, p []byte) {
	switch f.kind {
	case 'b':
		c.Bool(p[0] != 0)
		return
	case 'S':
		c.Bytes(bytes.TrimRight(p, "\x00"))
		return
	case 'U':
		f.text(c, p)
		return
	}
	var buf [16]byte
	v := append(buf[:0], p...)
	if f.swap {
		slices.Reverse(v)
	}
	if (f.kind == 'M' || f.kind == 'm') && int64(binary.LittleEndian.Uint64(v)) == math.MinInt64 {
		c.Null() // NaT
		return
	}
	c.Value(v)
}

// text adds a string of characters of four bytes; zeros at its end are none. A
// value that is no character becomes U+FFFD.
func (f *field) text(c *build.Column, p []byte) {
	order := binary.ByteOrder(binary.LittleEndian)
	if f.swap {
		order = binary.BigEndian
	}
	n := len(p)
	for n >= 4 && order.Uint32(p[n-4:]) == 0 {
		n -= 4
	}
	dst := c.Room(n)
	if dst == nil {
		return
	}
	out := dst[:0]
	for i := 0; i < n; i += 4 {
		out = utf8.AppendRune(out, rune(min(order.Uint32(p[i:]), utf8.MaxRune+1)))
	}
	c.Commit(len(out))
}
