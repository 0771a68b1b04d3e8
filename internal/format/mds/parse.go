package mds

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// parser adds samples to a batch.
type parser struct {
	frame
	b    *build.Batch
	cols []target
}

// target is where a column's values go.
type target struct {
	encoding
	name string
	size int           // of every value; 0: each tells its own
	text bool          // its bytes must be UTF-8
	col  *build.Column // nil: it is passed over
}

func (p *parser) Parse(piece *records.Piece) error {
	for piece.At < len(piece.Data) && !p.b.Full() {
		rest := piece.Data[piece.At:]
		n := p.length(rest)
		if n == 0 {
			return bad(piece.At, "a sample ends early")
		}
		if err := p.sample(rest[:n]); err != nil {
			p.b.Undo()
			return &records.Bad{At: piece.At, Line: -1, Next: piece.At + n, Err: err}
		}
		if !p.b.EndRow() {
			return nil
		}
		piece.At += n
	}
	return nil
}

// sample adds the values of one sample, whose length fits its sizes.
func (p *parser) sample(s []byte) error {
	sizes, values := s[:p.head], s[p.head:]
	for i := range p.cols {
		t := &p.cols[i]
		n := t.size
		if n == 0 {
			n = int(binary.LittleEndian.Uint32(sizes))
			sizes = sizes[4:]
		}
		v := values[:n]
		values = values[n:]
		switch {
		case t.col == nil:
		case t.kind == asBytes:
			if t.text && !utf8.Valid(v) {
				return fmt.Errorf("column %q: not UTF-8", t.name)
			}
			t.col.Bytes(v)
		case t.kind == asNumber:
			number(t.col, v)
		default:
			if err := t.nested(v); err != nil {
				return fmt.Errorf("column %q: %w", t.name, err)
			}
		}
	}
	return nil
}

func number(c *build.Column, v []byte) {
	switch len(v) {
	case 8:
		c.Uint64(binary.LittleEndian.Uint64(v))
	case 4:
		c.Uint32(binary.LittleEndian.Uint32(v))
	case 2:
		c.Uint16(binary.LittleEndian.Uint16(v))
	case 1:
		c.Uint8(v[0])
	}
}

var errShort = errors.New("a value ends early")

// nested adds a value of several parts.
func (t *target) nested(v []byte) error {
	c := t.col
	switch t.kind {
	case asPIL:
		return image(c, v)
	case asVector:
		c.Children[0].Values(v)
		c.EndVector()
		return nil
	case asArray:
		v, err := shape(c.Children[0], v, t.width)
		if err != nil {
			return err
		}
		c.Children[1].Children[0].Values(v)
		c.Children[1].EndList()
		c.EndStruct()
		return nil
	case asAny:
		return anyArray(c, v)
	}
	if t.kind != asImages {
		// A word that is not used comes first.
		if len(v) < 4 {
			return errShort
		}
		v = v[4:]
	}
	add := func(c *build.Column, v []byte) error {
		c.Bytes(v)
		return nil
	}
	if t.kind == asPILList {
		add = image
	}
	return list(c, v, add)
}

// list adds a number of values: their number, their sizes, their bytes.
func list(c *build.Column, v []byte, add func(*build.Column, []byte) error) error {
	if len(v) < 4 {
		return errShort
	}
	n := uint64(binary.LittleEndian.Uint32(v))
	v = v[4:]
	if 4*n > uint64(len(v)) {
		return errShort
	}
	sizes, data := v[:4*n], v[4*n:]
	for ; len(sizes) > 0; sizes = sizes[4:] {
		k := binary.LittleEndian.Uint32(sizes)
		if uint64(k) > uint64(len(data)) {
			return errShort
		}
		if err := add(c.Children[0], data[:k]); err != nil {
			return err
		}
		data = data[k:]
	}
	if len(data) > 0 {
		return fmt.Errorf("%d bytes behind its last element", len(data))
	}
	c.EndList()
	return nil
}

// image adds the struct of a raw image.
func image(c *build.Column, v []byte) error {
	if len(v) < 12 {
		return errShort
	}
	mode := uint64(binary.LittleEndian.Uint32(v[8:]))
	if mode > uint64(len(v)-12) {
		return errShort
	}
	c.Children[0].Uint32(binary.LittleEndian.Uint32(v))
	c.Children[1].Uint32(binary.LittleEndian.Uint32(v[4:]))
	c.Children[2].Bytes(v[12 : 12+mode])
	c.Children[3].Bytes(v[12+mode:])
	c.EndStruct()
	return nil
}

// anyArray adds an array that tells its type.
func anyArray(c *build.Column, v []byte) error {
	if len(v) < 1 {
		return errShort
	}
	d, ok := dtypeCoded(v[0])
	if !ok {
		return fmt.Errorf("an array of type %d", v[0])
	}
	v, err := shape(c.Children[1], v[1:], d.width())
	if err != nil {
		return err
	}
	c.Children[0].Bytes([]byte(d.name))
	c.Children[2].Bytes(v)
	c.EndStruct()
	return nil
}

// shape adds an array's dimensions to a list and gives the bytes of its
// numbers, of which there must be as many as the shape says.
func shape(c *build.Column, v []byte, width int) ([]byte, error) {
	if len(v) < 1 {
		return nil, errShort
	}
	dims, wide := int(v[0]>>2), 1<<(v[0]&3)
	v = v[1:]
	if len(v) < dims*wide {
		return nil, errShort
	}
	size := uint64(width)
	for range dims {
		var word [8]byte
		copy(word[:], v[:wide])
		v = v[wide:]
		n := binary.LittleEndian.Uint64(word[:])
		hi, lo := bits.Mul64(size, n)
		if hi != 0 || lo > 1<<62 {
			return nil, fmt.Errorf("an array with an axis of %d", n)
		}
		size = lo
		c.Children[0].Uint64(n)
	}
	if size != uint64(len(v)) {
		return nil, fmt.Errorf("an array of %d bytes has %d", size, len(v))
	}
	c.EndList()
	return v, nil
}
