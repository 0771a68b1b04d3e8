package rows

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/layout"
)

// part is the array of a node. Its rows are counted from the first of those
// that the array of the parent refers to.
type part struct {
	n      int
	first  int    // of lists: the element of the child that its rows are counted from
	off    int    // bits before the first row in valid, and in values where those are bits
	valid  []byte // nil: no nulls
	values []byte // from the first row on; of text: the bytes
	ends   []byte // offsets from the first row on
	far    *far   // nil: the values are where the node expects them
}

// Encoder makes rows of a record, which it borrows until the next Open.
type Encoder struct {
	f     *Form
	parts []part // of each node
	rows  int
}

// NewEncoder makes one. On the Go heap it takes about 100 bytes a node.
func (f *Form) NewEncoder() *Encoder { return &Encoder{f: f, parts: make([]part, len(f.nodes))} }

// Open looks at a record of the schema that was planned for, and checks what it
// points to: damage is ErrData.
func (e *Encoder) Open(rec arrow.RecordBatch) error {
	clear(e.parts)
	if int(rec.NumCols()) != len(e.f.in) {
		return format.Error(format.ErrData, "the batch has %d columns, not %d", rec.NumCols(), len(e.f.in))
	}
	for i, root := range e.f.roots {
		name, col := e.f.out.Field(i).Name, rec.Column(i)
		if !arrow.TypeEqual(col.DataType(), e.f.in[i]) || int64(col.Len()) != rec.NumRows() {
			return format.Error(format.ErrData, "column %q: the batch is of another schema", name)
		}
		if !e.bind(root, col.Data(), col.Data().Offset(), col.Len()) {
			return format.Error(format.ErrData, "column %q: the batch points outside itself", name)
		}
	}
	e.rows = int(rec.NumRows())
	return nil
}

// bufferOf is a buffer of an array, nil if it has none.
func bufferOf(d arrow.ArrayData, i int) []byte {
	if i >= len(d.Buffers()) || d.Buffers()[i] == nil {
		return nil
	}
	return d.Buffers()[i].Bytes()
}

// bind finds n rows of an array and of those below it, from the array's element
// off on, its offset counted; false: they are damaged.
func (e *Encoder) bind(nd *node, d arrow.ArrayData, off, n int) bool {
	if off < 0 || n < 0 || off > math.MaxInt32-n || off+n > d.Offset()+d.Len() {
		return false
	}
	p := &e.parts[nd.id]
	*p = part{n: n, off: off}
	if !p.bind(nd, d) {
		return false
	}
	kids := d.Children()
	if len(nd.kids) == 0 {
		return true
	}
	if len(kids) != len(nd.kids) {
		return false
	}
	for i, k := range kids {
		from, count := off, n
		switch nd.kind {
		case vector:
			if nd.width > 0 && off+n > math.MaxInt32/nd.width {
				return false
			}
			from, count = off*nd.width, n*nd.width
		case list:
			p.first = p.end(nd.width, 0)
			from, count = p.first, p.end(nd.width, n)-p.first
		}
		if !e.bind(nd.kids[i], k, k.Offset()+from, count) {
			return false
		}
	}
	return true
}

// bind finds the buffers of one array.
func (p *part) bind(nd *node, d arrow.ArrayData) bool {
	if p.n == 0 || nd.kind == nulls {
		return true
	}
	if d.NullN() != 0 {
		p.valid = bufferOf(d, 0)
		if p.valid != nil && len(p.valid)*8 < p.off+p.n {
			return false
		}
	}
	switch t := layout.Storage(d.DataType()).(type) {
	case *arrow.DictionaryType:
		return p.bindDictionary(nd, d, t)
	case arrow.BinaryViewDataType:
		return p.bindViews(d)
	}
	values := bufferOf(d, 1)
	switch nd.kind {
	case bools:
		p.values = values
		return len(values)*8 >= p.off+p.n
	case plain:
		if len(values)/nd.width < p.off+p.n {
			return false
		}
		p.values = values[p.off*nd.width : (p.off+p.n)*nd.width]
	case text:
		p.values = bufferOf(d, 2)
		return p.bindEnds(nd.width, values) && p.end(nd.width, p.n) <= len(p.values)
	case list:
		return p.bindEnds(nd.width, values)
	}
	return true
}

// bindEnds finds offsets, which must ascend from zero or more.
func (p *part) bindEnds(width int, raw []byte) bool {
	if len(raw)/width < p.off+p.n+1 {
		return false
	}
	p.ends = raw[p.off*width : (p.off+p.n+1)*width]
	if width == 4 {
		return ascend(arrow.GetData[int32](p.ends))
	}
	return ascend(arrow.GetData[int64](p.ends))
}

func ascend[T int32 | int64](v []T) bool {
	last, ok := T(0), true
	for _, x := range v {
		ok = ok && x >= last
		last = x
	}
	return ok
}

// end is where row i-1 ends.
func (p *part) end(width, i int) int {
	switch {
	case p.ends == nil:
		return 0
	case width == 4:
		return int(arrow.GetData[int32](p.ends)[i])
	}
	return int(arrow.GetData[int64](p.ends)[i])
}

// below is where in the child the values of n lists from i on are.
func (p *part) below(width, i, n int) (from, count int) {
	if n == 0 {
		return 0, 0
	}
	from = p.end(width, i)
	return from - p.first, p.end(width, i+n) - from
}

// null says that row i is.
func (p *part) null(i int) bool {
	return p.valid != nil && !bitutil.BitIsSet(p.valid, p.off+i)
}
