package tensor

import "encoding/binary"

// Taken describes a batch: an Arrow record in the form of an IPC message, which
// begins at the batch's first byte, and tensors behind it.
type Taken struct {
	Rows    int
	Message int // bytes of the message with its body; 0: no column is Arrow
	Tensors []Tensor
}

// region sets n bytes of the batch aside. ram is nil while sizes are found out.
func (t *Taker) region(ram []byte, n int) []byte {
	at := t.used
	t.used += aligned(n)
	if ram == nil {
		return nil
	}
	return ram[at : at+n : at+n]
}

// size is the bytes of what was measured.
func (t *Taker) size() int {
	t.place(nil)
	return t.used
}

// place divides ram among the nodes.
func (t *Taker) place(ram []byte) {
	t.used, t.fields, t.buffers, t.tensors = 0, t.fields[:0], t.buffers[:0], nil
	fields, buffers := t.f.counts()
	if fields > 0 {
		t.region(ram, messageSize(fields, buffers))
	}
	t.body = t.used
	for i := range t.f.columns {
		if c := &t.f.columns[i]; c.form == asArrow {
			t.placeArrow(c.root, ram)
		}
	}
	t.bodyEnd = t.used
	for i := range t.f.columns {
		if c := &t.f.columns[i]; c.form != asArrow {
			t.placeTensors(c, ram)
		}
	}
}

// buffer is region for a buffer of the record.
func (t *Taker) buffer(ram []byte, n int) []byte {
	t.buffers = append(t.buffers, int64(t.used-t.body), int64(n))
	return t.region(ram, n)
}

// placeArrow gives a node its buffers, in the order that IPC has them in.
func (t *Taker) placeArrow(nd *node, ram []byte) {
	st := &t.st[nd.id]
	t.fields = append(t.fields, int64(st.rows), int64(st.nulls))
	if nd.kind == nulls {
		return
	}
	valid := 0
	if st.nulls > 0 {
		valid = (st.rows + 7) / 8
	}
	st.valid = t.buffer(ram, valid)
	clear(st.valid)
	switch nd.kind {
	case bits:
		st.values = t.buffer(ram, (st.rows+7)/8)
		clear(st.values)
	case fixed:
		st.values = t.buffer(ram, st.rows*nd.width)
	case text, list:
		st.ends = t.buffer(ram, (st.rows+1)*nd.width)
		clear(st.ends[:min(len(st.ends), nd.width)])
		if nd.kind == text {
			st.values = t.buffer(ram, st.data)
		}
	}
	for _, k := range nd.kids {
		t.placeArrow(k, ram)
	}
}

// tensor is region for a tensor.
func (t *Taker) tensor(ram []byte, name, part string, d Dtype, shape ...int64) []byte {
	out := Tensor{name, part, d, shape, int64(t.used)}
	t.tensors = append(t.tensors, out)
	return t.region(ram, int(out.Bytes()))
}

// placeTensors gives a column its tensors.
func (t *Taker) placeTensors(c *column, ram []byte) {
	rows, st := int64(t.rows), &t.st[c.root.id]
	switch c.form {
	case asTensor:
		leaf := c.root
		for leaf.kind == vector {
			leaf = leaf.kids[0]
		}
		t.st[leaf.id].values = t.tensor(ram, c.name, "", c.dtype, append([]int64{rows}, c.shape...)...)
	case asRagged:
		offsets := Int32
		if c.root.width == 8 {
			offsets = Int64
		}
		t.st[c.root.kids[0].id].values = t.tensor(ram, c.name, "values", c.dtype, int64(st.data))
		st.ends = t.tensor(ram, c.name, "offsets", offsets, rows+1)
		clear(st.ends[:min(len(st.ends), c.root.width)])
	case asPadded:
		t.st[c.root.kids[0].id].values = t.tensor(ram, c.name, "values", c.dtype, rows, int64(st.length))
		st.lengths = t.tensor(ram, c.name, "lengths", Int64, rows)
	}
}

// counts is how many nodes and buffers the Arrow record has.
func (f *Frame) counts() (fields, buffers int) {
	var count func(nd *node)
	count = func(nd *node) {
		fields++
		buffers += [...]int{nulls: 0, bits: 2, fixed: 2, text: 3, list: 2, vector: 1, record: 1}[nd.kind]
		for _, k := range nd.kids {
			count(k)
		}
	}
	for i := range f.columns {
		if f.columns[i].form == asArrow {
			count(f.columns[i].root)
		}
	}
	return fields, buffers
}

const (
	// messageHead is an encapsulated message up to the nodes: 8 bytes of marker
	// and length, then tables and their shapes at places of their own.
	messageHead = 8 + 96
	pairBytes   = 16 // a node is rows and nulls, a buffer is offset and bytes
)

// messageSize is the bytes of the metadata of a record.
func messageSize(fields, buffers int) int {
	return aligned(messageHead + 8 + pairBytes*(fields+buffers))
}

// message writes the metadata of the record, a flatbuffer of two tables and two
// vectors whose places are always the same.
func (t *Taker) message(dst []byte) {
	le := binary.LittleEndian
	clear(dst)
	le.PutUint32(dst, 0xffffffff)
	le.PutUint32(dst[4:], uint32(len(dst)-8))
	fb := dst[8:]
	const (
		messageShape, messageTable = 8, 24
		recordShape, recordTable   = 48, 64
		nodes                      = 92
	)
	le.PutUint32(fb, messageTable)
	// Message: version, kind of header, header, bytes of the body.
	for i, v := range []uint16{12, 24, 4, 6, 8, 16} {
		le.PutUint16(fb[messageShape+2*i:], v)
	}
	le.PutUint32(fb[messageTable:], messageTable-messageShape)
	le.PutUint16(fb[messageTable+4:], 4) // V5
	fb[messageTable+6] = 3               // RecordBatch
	le.PutUint32(fb[messageTable+8:], recordTable-messageTable-8)
	le.PutUint64(fb[messageTable+16:], uint64(t.bodyEnd-t.body))
	// RecordBatch: length, nodes, buffers.
	for i, v := range []uint16{10, 24, 8, 16, 20} {
		le.PutUint16(fb[recordShape+2*i:], v)
	}
	le.PutUint32(fb[recordTable:], recordTable-recordShape)
	le.PutUint64(fb[recordTable+8:], uint64(t.rows))
	le.PutUint32(fb[recordTable+16:], nodes-recordTable-16)
	at := putPairs(fb, nodes, t.fields)
	le.PutUint32(fb[recordTable+20:], uint32(at-recordTable-20))
	putPairs(fb, at, t.buffers)
}

// putPairs writes a vector of pairs, whose items lie at a multiple of 8, and
// says where the next may begin.
func putPairs(fb []byte, at int, pairs []int64) int {
	le := binary.LittleEndian
	le.PutUint32(fb[at:], uint32(len(pairs)/2))
	at += 4
	for _, v := range pairs {
		le.PutUint64(fb[at:], uint64(v))
		at += 8
	}
	return at + 4
}
