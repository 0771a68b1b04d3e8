package meta

import (
	"errors"
	"fmt"
	"math"

	"github.com/weir-data/weir/internal/format"
)

// ErrShort says that the bytes end inside a header: give more of them.
var ErrShort = errors.New("more bytes are needed")

// dataError is the fault of the bytes: format.ErrData, without its text.
type dataError struct{ text string }

func (e *dataError) Error() string        { return e.text }
func (e *dataError) Is(target error) bool { return target == format.ErrData }

func bad(text string, args ...any) error { return &dataError{fmt.Sprintf(text, args...)} }

// Wire types of Thrift's compact protocol.
const (
	wireTrue   = 1
	wireFalse  = 2
	wireByte   = 3
	wireI16    = 4
	wireI32    = 5
	wireI64    = 6
	wireDouble = 7
	wireBinary = 8
	wireList   = 9
	wireSet    = 10
	wireMap    = 11
	wireStruct = 12
	wireUUID   = 13
)

// maxSkip bounds how deep a value that nobody asked for may nest.
const maxSkip = 64

// decoder reads Thrift's compact protocol, from buf alone or, with win, from
// a footer that passes through buf. The first error stays: reads after it
// return zeros and change nothing, so that loops ask for it once a round.
type decoder struct {
	buf []byte
	pos int
	win *window // nil: buf is all there is
	err error
}

// field is the header of a struct's field. Its zero value stands before the
// first field.
type field struct {
	id  int16
	typ byte
}

// fail says what is wrong with the bytes.
func (d *decoder) fail(text string, args ...any) {
	if d.err == nil {
		d.err = bad(text, args...)
	}
}

// end is the error, if any, of an input that was there as a whole.
func (d *decoder) end() error {
	if errors.Is(d.err, ErrShort) {
		return bad("ends too early")
	}
	return d.err
}

// left is the number of bytes to the end of the input.
func (d *decoder) left() int64 {
	if d.win != nil {
		return d.win.length - d.offset()
	}
	return int64(len(d.buf) - d.pos)
}

// offset is the place in the input.
func (d *decoder) offset() int64 {
	if d.win != nil {
		return d.win.base + int64(d.pos)
	}
	return int64(d.pos)
}

// more brings the bytes after buf; false is the end or an error.
func (d *decoder) more() bool {
	if d.err != nil {
		return false
	}
	if d.win == nil || d.left() <= 0 {
		d.err = ErrShort
		return false
	}
	off := d.offset()
	if d.err = d.win.load(off); d.err != nil {
		return false
	}
	d.buf, d.pos = d.win.at(off)
	return true
}

func (d *decoder) byte() byte {
	if d.err == nil && d.pos < len(d.buf) {
		d.pos++
		return d.buf[d.pos-1]
	}
	return d.nextByte()
}

// nextByte is byte where buf has none.
func (d *decoder) nextByte() byte {
	if !d.more() {
		return 0
	}
	d.pos++
	return d.buf[d.pos-1]
}

func (d *decoder) uvarint() uint64 {
	v := uint64(d.byte())
	if v < 0x80 {
		return v
	}
	v &= 0x7f
	for shift := uint(7); shift < 70; shift += 7 {
		b := d.byte()
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
	d.fail("a number is longer than 10 bytes")
	return 0
}

func (d *decoder) zigzag() int64 {
	v := d.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

// next reads the header of the struct's next field into f; false is the
// struct's end or an error.
func (d *decoder) next(f *field) bool {
	b := d.byte()
	if d.err != nil || b == 0 {
		return false
	}
	f.typ = b & 15
	if delta := int16(b >> 4); delta != 0 {
		f.id += delta
	} else {
		f.id = int16(d.zigzag())
	}
	return d.err == nil
}

// int64 reads the integer of field f.
func (d *decoder) int64(f field) int64 {
	switch f.typ {
	case wireByte:
		return int64(int8(d.byte()))
	case wireI16, wireI32, wireI64:
		return d.zigzag()
	}
	d.fail("field %d is not an integer", f.id)
	return 0
}

// int32 reads the integer of field f, which must fit.
func (d *decoder) int32(f field) int32 {
	v := d.int64(f)
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail("field %d is %d, which is no 32-bit number", f.id, v)
		return 0
	}
	return int32(v)
}

// size reads the integer of field f, which must be a 32-bit count.
func (d *decoder) size(f field) int32 {
	v := d.int32(f)
	if v < 0 {
		d.fail("field %d is %d, which is no size", f.id, v)
		return 0
	}
	return v
}

// bool reads the value of field f.
func (d *decoder) bool(f field) bool {
	if f.typ != wireTrue && f.typ != wireFalse {
		d.fail("field %d is not a truth value", f.id)
	}
	return f.typ == wireTrue
}

// enter says whether field f is a struct, whose fields come next.
func (d *decoder) enter(f field) bool {
	if f.typ != wireStruct {
		d.fail("field %d is not a struct", f.id)
	}
	return d.err == nil
}

// list reads the header of a list of elements of type want; integers of any
// width pass for one another.
func (d *decoder) list(f field, want byte) int {
	if f.typ != wireList && f.typ != wireSet {
		d.fail("field %d is not a list", f.id)
		return 0
	}
	n, typ := d.listHeader()
	isInt := func(t byte) bool { return t == wireI16 || t == wireI32 || t == wireI64 }
	if n > 0 && typ != want && (!isInt(want) || !isInt(typ)) {
		d.fail("field %d is a list of another type", f.id)
		return 0
	}
	return n
}

// listHeader reads a list's length, which the bytes left can hold, and the
// type of its elements.
func (d *decoder) listHeader() (int, byte) {
	b := d.byte()
	n := uint64(b >> 4)
	if n == 15 {
		n = d.uvarint()
	}
	return d.fits(n), b & 15
}

// fits checks that n things of at least a byte each can follow. A buffer may
// be the beginning of something longer: what could still follow is ErrShort.
func (d *decoder) fits(n uint64) int {
	left := d.left()
	switch {
	case d.err != nil:
		return 0
	case n <= uint64(left):
		return int(n)
	case d.win == nil && n <= uint64(max(0, MaxPageHeader-d.pos)):
		d.err = ErrShort
	default:
		d.fail("a length of %d where %d bytes are left", n, left)
	}
	return 0
}

// length reads the length of the binary of field f, whose bytes come next.
func (d *decoder) length(f field) int {
	if f.typ != wireBinary {
		d.fail("field %d is not a text", f.id)
		return 0
	}
	return d.fits(d.uvarint())
}

// read fills p.
func (d *decoder) read(p []byte) {
	for len(p) > 0 && d.err == nil {
		if d.pos >= len(d.buf) && !d.more() {
			return
		}
		n := copy(p, d.buf[d.pos:])
		d.pos += n
		p = p[n:]
	}
}

// text reads n bytes, as length returned them.
func (d *decoder) text(n int) string {
	if d.err != nil {
		return ""
	}
	if n <= len(d.buf)-d.pos {
		d.pos += n
		return string(d.buf[d.pos-n : d.pos])
	}
	p := make([]byte, n)
	d.read(p)
	return string(p)
}

// jump passes n bytes without looking at them.
func (d *decoder) jump(n int) {
	switch {
	case d.err != nil:
	case n <= len(d.buf)-d.pos:
		d.pos += n
	case int64(n) > d.left():
		d.err = ErrShort
	default:
		d.buf, d.pos = d.win.at(d.offset() + int64(n))
	}
}

// skip passes the value of field f.
func (d *decoder) skip(f field) { d.skipValue(f.typ, false, 0) }

// skipValue passes a value. Truth values are part of a field's header, and a
// byte each in lists and maps.
func (d *decoder) skipValue(typ byte, inList bool, depth int) {
	if depth > maxSkip {
		d.fail("more than %d structs and lists in one another", maxSkip)
		return
	}
	switch typ {
	case wireTrue, wireFalse:
		if inList {
			d.byte()
		}
	case wireByte:
		d.byte()
	case wireI16, wireI32, wireI64:
		d.uvarint()
	case wireDouble:
		d.jump(8)
	case wireUUID:
		d.jump(16)
	case wireBinary:
		d.jump(d.fits(d.uvarint()))
	case wireList, wireSet:
		n, elem := d.listHeader()
		for i := 0; i < n && d.err == nil; i++ {
			d.skipValue(elem, true, depth+1)
		}
	case wireMap:
		d.skipMap(depth)
	case wireStruct:
		var f field
		for d.next(&f) {
			d.skipValue(f.typ, false, depth+1)
		}
	default:
		d.fail("an unknown Thrift type, %d", typ)
	}
}

func (d *decoder) skipMap(depth int) {
	n := d.fits(d.uvarint())
	if n == 0 {
		return
	}
	types := d.byte()
	for i := 0; i < n && d.err == nil; i++ {
		d.skipValue(types>>4, true, depth+1)
		d.skipValue(types&15, true, depth+1)
	}
}
