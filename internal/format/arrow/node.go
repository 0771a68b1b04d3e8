package arrow

import (
	"github.com/weir-data/weir/internal/codec"
)

// rowsMost is the most rows of a batch: so many that no sum or product of
// lengths overflows, and that no disk holds.
const rowsMost = 1 << 48

// part is one buffer of a record batch.
type part struct {
	off, n int64  // stored bytes in the file
	size   int64  // bytes when decompressed
	raw    bool   // stored as it is
	mem    []byte // the decompressed bytes, where they were read
}

// node is a field in one record batch, and what was loaded of it.
type node struct {
	*field
	rows  int64
	nulls int64 // as claimed; less than 0: not known
	parts []part
	kids  []node

	have  int64    // rows loaded
	empty int      // nulls among them
	data  [][]byte // buffers, validity first where the shape has one; nil: none
}

// batch is the description of one record batch.
type batch struct {
	rows  int64
	codec codec.Codec
	cols  []node  // of the chosen columns
	parts []*part // of all of them, in the order of the file
	size  int64   // of all parts, stored

	spans  []span // the reads that bring all parts
	stored int64  // memory that those take
}

// nodeReader takes a RecordBatch table apart.
type nodeReader struct {
	nodes, buffers, views vector
	node, buffer, view    int
	version               int16
	body, bodyLen         int64
	b                     *batch
}

// parse reads a RecordBatch table into b. All are its fields, want says which
// to describe; nil: all.
func (b *batch) parse(m *message, t table, all []*field, want []int) error {
	r := &nodeReader{nodes: t.vector(1, 16), buffers: t.vector(2, 16), views: t.vector(4, 8),
		version: m.version, body: m.body, bodyLen: m.bodyLen, b: b}
	b.rows, b.parts, b.size, b.codec = t.int64(0), b.parts[:0], 0, codec.None
	if c := t.table(3); c.there() {
		switch {
		case c.byte(1) != 0:
			return damaged("its compression is not known")
		case c.byte(0) == 0:
			b.codec = codec.LZ4
		case c.byte(0) == 1:
			b.codec = codec.Zstd
		default:
			return damaged("compression %d is not known", c.byte(0))
		}
	}
	if m.flat.bad || b.rows < 0 || b.rows > rowsMost {
		return damaged("its description is damaged")
	}
	if want == nil {
		want = make([]int, len(all))
		for i := range want {
			want[i] = i
		}
	}
	if len(b.cols) != len(want) {
		b.cols = make([]node, len(want))
	}
	return r.columns(all, want)
}

// columns reads the wanted ones, in the order of the file.
func (r *nodeReader) columns(all []*field, want []int) error {
	place := make([]int, len(all))
	for i, w := range want {
		place[w] = i + 1
	}
	for i, f := range all {
		if place[i] == 0 {
			r.skip(f)
			continue
		}
		n := &r.b.cols[place[i]-1]
		if err := r.read(f, n); err != nil {
			return damaged("column %q: %w", f.Name, err)
		}
		if n.rows != r.b.rows {
			return damaged("column %q has %d rows, the batch %d", f.Name, n.rows, r.b.rows)
		}
	}
	for i := range r.b.cols {
		r.b.cols[i].collect(r.b)
	}
	if r.nodes.f != nil && r.nodes.f.bad {
		return damaged("its description is damaged")
	}
	return nil
}

// collect lists the parts of n and all below.
func (n *node) collect(b *batch) {
	for i := range n.parts {
		b.parts = append(b.parts, &n.parts[i])
		b.size += n.parts[i].n
	}
	for i := range n.kids {
		n.kids[i].collect(b)
	}
}

// skip passes over a column.
func (r *nodeReader) skip(f *field) {
	r.node += f.nodes
	r.buffer += f.buffers
	if r.version < version5 {
		r.buffer += f.bare
	}
	for range f.views {
		if n := r.viewCount(); n > 0 {
			r.buffer += n
		}
	}
}

// viewCount is the number of data buffers of the next field of views, less
// than 0 if it is not told.
func (r *nodeReader) viewCount() int {
	if r.view++; r.view > r.views.n {
		return -1
	}
	n := r.views.int64(r.view-1, 0)
	if n < 0 || n > int64(r.buffers.n) {
		return -1
	}
	return int(n)
}

// read describes f in n.
func (r *nodeReader) read(f *field, n *node) error {
	if r.node >= r.nodes.n {
		return damaged("the batch has fewer columns than the schema")
	}
	n.field, n.rows, n.nulls = f, r.nodes.int64(r.node, 0), r.nodes.int64(r.node, 8)
	r.node++
	if n.rows < 0 || n.rows > rowsMost {
		return damaged("%d rows", n.rows)
	}
	count := buffers[f.shape]
	if f.shape == viewShape {
		more := r.viewCount()
		if more < 0 {
			return damaged("the number of its buffers is missing")
		}
		count += more
	}
	if bare := f.shape == sparseShape || f.shape == denseShape || f.shape == runShape; bare && r.version < version5 {
		if r.buffer++; n.nulls != 0 {
			return damaged("a union or run that has nulls of its own is not read; write it with metadata of version 5")
		}
	}
	n.parts = n.parts[:0]
	for range count {
		p, err := r.part()
		if err != nil {
			return err
		}
		n.parts = append(n.parts, p)
	}
	if len(n.kids) != len(f.children) {
		n.kids = make([]node, len(f.children))
	}
	for i, c := range f.children {
		if err := r.read(c, &n.kids[i]); err != nil {
			return err
		}
	}
	return nil
}

// part describes the next buffer.
func (r *nodeReader) part() (part, error) {
	if r.buffer >= r.buffers.n {
		return part{}, damaged("the batch has fewer buffers than its columns need")
	}
	off, n := r.buffers.int64(r.buffer, 0), r.buffers.int64(r.buffer, 8)
	r.buffer++
	if off < 0 || n < 0 || off > r.bodyLen || n > r.bodyLen-off {
		return part{}, damaged("a buffer of %d bytes at %d of a body of %d", n, off, r.bodyLen)
	}
	return part{off: r.body + off, n: n, size: n, raw: true}, nil
}
