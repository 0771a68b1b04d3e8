package meta

import "encoding/binary"

// thrift writes a struct of Thrift's compact protocol, fields in order.
type thrift struct {
	b    []byte
	last int16
}

func (t *thrift) header(id int16, typ byte) {
	if d := id - t.last; d > 0 && d < 16 {
		t.b = append(t.b, byte(d)<<4|typ)
	} else {
		t.b = binary.AppendVarint(append(t.b, typ), int64(id))
	}
	t.last = id
}

func (t *thrift) int(id int16, v int64) *thrift {
	t.header(id, wireI64)
	t.b = binary.AppendVarint(t.b, v)
	return t
}

func (t *thrift) bool(id int16, v bool) *thrift {
	if v {
		t.header(id, wireTrue)
	} else {
		t.header(id, wireFalse)
	}
	return t
}

func (t *thrift) text(id int16, s string) *thrift {
	t.header(id, wireBinary)
	t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...)
	return t
}

func (t *thrift) sub(id int16, s *thrift) *thrift {
	t.header(id, wireStruct)
	t.b = append(append(t.b, s.b...), 0)
	return t
}

func (t *thrift) list(id int16, typ byte, n int) *thrift {
	t.header(id, wireList)
	t.b = binary.AppendUvarint(append(t.b, 15<<4|typ), uint64(n))
	return t
}

func (t *thrift) structs(id int16, list ...*thrift) *thrift {
	t.list(id, wireStruct, len(list))
	for _, s := range list {
		t.b = append(append(t.b, s.b...), 0)
	}
	return t
}

// done is the struct with its end.
func (t *thrift) done() []byte { return append(t.b, 0) }

func group(name string, children int64) *thrift {
	return new(thrift).text(4, name).int(5, children)
}

func leaf(name string, typ Type) *thrift {
	return new(thrift).int(1, int64(typ)).int(3, optional).text(4, name)
}

// chunkOf describes a chunk of one value of an int32 column.
func chunkOf(name string) *thrift {
	m := new(thrift).int(1, int64(Int32)).list(2, wireI32, 2)
	m.b = append(m.b, 0, byte(RLEDictionary)<<1)
	m.list(3, wireBinary, 1)
	m.b = append(append(m.b, byte(len(name))), name...)
	m.int(4, 6).int(5, 1).int(6, 20).int(7, 10).int(9, 6).int(11, 4)
	m.sub(12, new(thrift).text(1, "aaaa").text(2, "bbbb").int(3, 1).text(5, "aaaaaaaa").text(6, "bbbbbbbb"))
	return new(thrift).int(2, 0).sub(3, m).int(4, 4).int(5, 10)
}

func rowGroup(rows int64, chunks ...*thrift) *thrift {
	return new(thrift).structs(1, chunks...).int(2, 100).int(3, rows)
}

// file puts a footer behind some bytes that pages could lie in.
func file(footer []byte) []byte {
	b := append([]byte("PAR1"), make([]byte, 32)...)
	b = append(b, footer...)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
	return append(b, "PAR1"...)
}

// smallFile is a file of two columns and two row groups.
func smallFile() []byte {
	a, b := leaf("a", Int32), leaf("b", Int32)
	return file(new(thrift).int(1, 1).structs(2, group("schema", 2), a, b).int(3, 7).
		structs(4, rowGroup(3, chunkOf("a"), chunkOf("b")), rowGroup(4, chunkOf("a"), chunkOf("b"))).
		text(6, "test").done())
}
