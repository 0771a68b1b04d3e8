package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/records"
)

// target is where a feature goes.
type target struct {
	feature
	col *build.Column // nil: it was not picked
}

// parser adds examples to a batch.
type parser struct {
	b       *build.Batch
	targets []target
	places  map[string]int
	lenient bool // features without a target are passed over
	// order is the places of the features of the record before: writers mostly
	// keep to one.
	order []int
	at    int
}

func (p *parser) Parse(piece *records.Piece) error {
	for piece.At < len(piece.Data) && !p.b.Full() {
		rest := piece.Data[piece.At:]
		n, err := length(rest)
		if err != nil || n == 0 || n > len(rest) {
			return &records.Bad{At: piece.At, Line: -1, Err: errLength}
		}
		if err := p.record(rest[:n]); err != nil {
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

func (p *parser) record(r []byte) error {
	example, err := data(r)
	if err != nil {
		return err
	}
	p.at = 0
	return features(example, p.feature)
}

// place finds the target of a feature; less than 0: there is none.
func (p *parser) place(name []byte) int {
	at := p.at
	p.at++
	if at < len(p.order) {
		if i := p.order[at]; p.targets[i].name == string(name) {
			return i
		}
	}
	i, ok := p.places[string(name)]
	if !ok {
		return -1
	}
	if at < len(p.order) {
		p.order[at] = i
	} else if at == len(p.order) && at < len(p.targets) {
		p.order = append(p.order, i)
	}
	return i
}

func (p *parser) feature(name, value []byte) error {
	i := p.place(name)
	if i < 0 {
		if k, _, err := list(value); p.lenient || err == nil && k == none {
			return nil
		}
		return fmt.Errorf("feature %q was not in the sample; look at more with --sample, or give a --schema", name)
	}
	t := &p.targets[i]
	if t.col == nil {
		return nil
	}
	t.col.Cut(p.b.Rows()) // of a feature that comes twice the last one counts
	if err := t.add(value); err != nil {
		return fmt.Errorf("feature %q: %w", t.name, err)
	}
	return nil
}

var errNotText = errors.New("it is not UTF-8, as the others are; give a --schema in which it is binary")

// add appends a Feature.
func (t *target) add(value []byte) error {
	k, values, err := list(value)
	if err != nil || k == none {
		return err
	}
	if k != t.kind {
		return fmt.Errorf("it is of %s, others are of %s", k, t.kind)
	}
	col := t.col
	if t.list {
		col = col.Children[0]
	}
	n, from := 0, col.Len()
	switch {
	case k == isBytes:
		n, err = addBytes(col, values, t.text)
	case k == isInt:
		n, err = addInts(col, values)
	default:
		n, err = addFloats(col, values)
	}
	if err != nil {
		return err
	}
	switch {
	case t.list:
		t.col.EndList()
	case n > 1:
		col.Cut(from)
		return fmt.Errorf("%d values, others have one; give a --schema in which it is a list", n)
	}
	return nil
}

func addBytes(c *build.Column, values []byte, text bool) (n int, err error) {
	for ; len(values) > 0; n++ {
		t, rest, err := next(values)
		if err != nil {
			return n, err
		}
		if t.number != 1 || t.wire != wireBytes {
			return n, errExample
		}
		if text && !utf8.Valid(t.data) {
			return n, errNotText
		}
		c.Bytes(t.data)
		values = rest
	}
	return n, nil
}

// addInts appends numbers, packed or not.
func addInts(c *build.Column, values []byte) (n int, err error) {
	for len(values) > 0 {
		t, rest, err := next(values)
		if err != nil {
			return n, err
		}
		values = rest
		switch {
		case t.number != 1:
			return n, errExample
		case t.wire == wireVarint:
			c.Uint64(t.value)
			n++
			continue
		case t.wire != wireBytes:
			return n, errExample
		}
		var buf [8 * 64]byte
		for packed := t.data; len(packed) > 0; {
			k, rest := unpack(buf[:], packed)
			if k == 0 {
				return n, errExample
			}
			c.Values(buf[:8*k])
			n += k
			packed = rest
		}
	}
	return n, nil
}

// unpack decodes varints to dst as 8 bytes each until one of both ends, and
// says how many; 0: the first is not one.
func unpack(dst, p []byte) (n int, rest []byte) {
	for len(dst) >= 8 && len(p) > 0 {
		v := uint64(p[0])
		switch {
		case v < 0x80:
			p = p[1:]
		case len(p) > 1 && p[1] < 0x80:
			v = v&0x7f | uint64(p[1])<<7
			p = p[2:]
		case len(p) > 2 && p[2] < 0x80:
			v = v&0x7f | uint64(p[1]&0x7f)<<7 | uint64(p[2])<<14
			p = p[3:]
		default:
			var ok bool
			var after []byte
			if v, after, ok = varint(p); !ok {
				return n, p
			}
			p = after
		}
		binary.LittleEndian.PutUint64(dst, v)
		dst = dst[8:]
		n++
	}
	return n, p
}

// addFloats appends numbers, packed or not.
func addFloats(c *build.Column, values []byte) (n int, err error) {
	for len(values) > 0 {
		t, rest, err := next(values)
		if err != nil {
			return n, err
		}
		values = rest
		switch {
		case t.number != 1:
			return n, errExample
		case t.wire == wire32:
			c.Uint32(uint32(t.value))
			n++
		case t.wire != wireBytes || len(t.data)%4 != 0:
			return n, errExample
		case len(t.data) == 4:
			c.Uint32(binary.LittleEndian.Uint32(t.data))
			n++
		default:
			c.Values(t.data)
			n += len(t.data) / 4
		}
	}
	return n, nil
}
