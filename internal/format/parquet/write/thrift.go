package write

import "encoding/binary"

// Wire types of Thrift's compact protocol.
const (
	wireTrue   = 1
	wireFalse  = 2
	wireI32    = 5
	wireI64    = 6
	wireBinary = 8
	wireList   = 9
	wireStruct = 12
)

// thrift appends structs of Thrift's compact protocol to b, fields in
// ascending order. Whoever begins a struct inside another saves last, sets it
// to zero, and puts it back after end.
type thrift struct {
	b    []byte
	last int16
}

func (t *thrift) field(id int16, typ byte) {
	if d := id - t.last; d > 0 && d < 16 {
		t.b = append(t.b, byte(d)<<4|typ)
	} else {
		t.b = binary.AppendVarint(append(t.b, typ), int64(id))
	}
	t.last = id
}

func (t *thrift) i32(id int16, v int32) {
	t.field(id, wireI32)
	t.b = binary.AppendVarint(t.b, int64(v))
}

func (t *thrift) i64(id int16, v int64) {
	t.field(id, wireI64)
	t.b = binary.AppendVarint(t.b, v)
}

func (t *thrift) bool(id int16, v bool) {
	if v {
		t.field(id, wireTrue)
	} else {
		t.field(id, wireFalse)
	}
}

func (t *thrift) text(id int16, s string) {
	t.field(id, wireBinary)
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

func (t *thrift) binary(id int16, s []byte) {
	t.field(id, wireBinary)
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
}

// list begins a list, whose n elements are appended next.
func (t *thrift) list(id int16, typ byte, n int) {
	t.field(id, wireList)
	t.listHead(typ, n)
}

func (t *thrift) listHead(typ byte, n int) {
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|typ)
	} else {
		t.b = binary.AppendUvarint(append(t.b, 15<<4|typ), uint64(n))
	}
}

// begin begins a struct in field id and returns what end needs.
func (t *thrift) begin(id int16) (outer int16) {
	t.field(id, wireStruct)
	t.last = 0
	return id
}

// end ends the struct that begin began.
func (t *thrift) end(outer int16) {
	t.b = append(t.b, 0)
	t.last = outer
}

// empty is a field that is a struct without fields.
func (t *thrift) empty(id int16) { t.end(t.begin(id)) }
