// Package build makes record batches row by row in a fixed amount of memory.
//
// A Batch has one block, in which all its columns grow. When a value finds no
// room the batch is full: the row it belongs to is undone, and begins the next
// batch. What a column needed in one batch is set aside for it in the next, so
// that columns rarely move.
package build

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// align is Arrow's alignment of buffers.
const align = 64

// Slack is how many bytes behind what Room gives may be written, so that wide
// copies need not look at every byte.
const Slack = 32

// Most is the largest block a batch can use: offsets are 32 bits.
const Most = 1 << 30

// Batch is a record batch being built. One goroutine at a time; the same Batch
// is used for one batch after another.
type Batch struct {
	schema  *arrow.Schema
	columns []*Column

	block *mem.Block
	ram   []byte
	used  int
	last  int // where the newest buffer begins; it can be enlarged in place

	rows, most int
	full       bool
}

// New makes a batch for a schema. A type that cannot be built is an error.
func New(schema *arrow.Schema) (*Batch, error) {
	b := &Batch{schema: schema}
	for _, f := range schema.Fields() {
		c, err := newColumn(b, f)
		if err != nil {
			return nil, fmt.Errorf("column %q: %w", f.Name, err)
		}
		b.columns = append(b.columns, c)
	}
	return b, nil
}

// Least is the smallest block that holds a row whose strings and lists are
// empty.
func (b *Batch) Least() int {
	n := 0
	for _, c := range b.columns {
		n += c.least(1)
	}
	return n
}

// Reset begins a batch of up to most rows (0: any number) in block, which the
// batch owns from now on.
func (b *Batch) Reset(block *mem.Block, most int) {
	b.block, b.ram, b.used, b.last = block, block.Bytes(), 0, 0
	if len(b.ram) > Most {
		b.ram = b.ram[:Most]
	}
	b.rows, b.most = 0, most
	want := 0
	for _, c := range b.columns {
		want += c.wanted()
	}
	scale := 1.0
	if want > len(b.ram)*7/8 {
		scale = float64(len(b.ram)) * 7 / 8 / float64(want)
	}
	for _, c := range b.columns {
		c.reset(scale)
	}
	b.full = false
}

// Forget makes the next Reset set nothing aside: what it is for is not like what
// was built before.
func (b *Batch) Forget() {
	for _, c := range b.columns {
		c.forget()
	}
}

// Column is the i-th.
func (b *Batch) Column(i int) *Column { return b.columns[i] }

// Columns is all of them.
func (b *Batch) Columns() []*Column { return b.columns }

// Rows is the number of rows that are whole.
func (b *Batch) Rows() int { return b.rows }

// Full says that nothing more can be added: a value found no room, or the
// batch has as many rows as it may.
func (b *Batch) Full() bool { return b.full || b.most > 0 && b.rows >= b.most }

// EndRow ends a row: columns that got no value get null. When a value found no
// room the row is undone, and EndRow is false.
func (b *Batch) EndRow() bool {
	n := b.rows + 1
	for _, c := range b.columns {
		if c.n < n {
			c.Null()
		}
	}
	if b.full {
		b.Undo()
		return false
	}
	b.rows = n
	return true
}

// EndRows ends n rows of which every column has its values.
func (b *Batch) EndRows(n int) bool {
	for range n {
		if !b.EndRow() {
			return false
		}
	}
	return true
}

// Undo forgets the values of the row begun.
func (b *Batch) Undo() {
	for _, c := range b.columns {
		c.Cut(b.rows)
	}
}

// Finish makes the record, which owns the block.
func (b *Batch) Finish() arrow.RecordBatch {
	slab := stream.NewSlab(b.block)
	defer slab.Release()
	b.block = nil
	cols := make([]arrow.Array, len(b.columns))
	for i, c := range b.columns {
		d := c.array(slab)
		cols[i] = array.MakeFromData(d)
		d.Release()
		defer cols[i].Release()
	}
	return array.NewRecordBatch(b.schema, cols, int64(b.rows))
}

// Discard gives the block back.
func (b *Batch) Discard() {
	b.block.Free()
	b.block = nil
}

// Scratch takes n bytes of the block that no column gets; they are the caller's
// until the batch ends. Nil: there is no room.
func (b *Batch) Scratch(n int) []byte {
	if n > len(b.ram)-b.used {
		b.full = true
		return nil
	}
	at := len(b.ram) - n
	out := b.ram[at:]
	b.ram = b.ram[:at:at]
	return out
}

// take finds room for n bytes; nil: there is none.
func (b *Batch) take(n int) []byte {
	n = (n + align - 1) &^ (align - 1)
	if n > len(b.ram)-b.used {
		return nil
	}
	b.last = b.used
	b.used += n
	return b.ram[b.last:b.used:b.used]
}

// extend makes buf, if it is the newest buffer, n bytes long where it lies.
func (b *Batch) extend(buf []byte, n int) []byte {
	n = (n + align - 1) &^ (align - 1)
	if cap(buf) == 0 || b.used-b.last != cap(buf) || n > len(b.ram)-b.last || &buf[:1][0] != &b.ram[b.last] {
		return nil
	}
	b.used = b.last + n
	return b.ram[b.last:b.used:b.used]
}

// larger is buf, the first keep bytes of which count, in at least least bytes
// and in want if there is room for them; nil: there is none.
func (b *Batch) larger(buf []byte, keep, least, want int) []byte {
	for _, n := range [...]int{want, (least + want) / 2, least} {
		if out := b.extend(buf, n); out != nil {
			return out
		}
		if out := b.take(n); out != nil {
			copy(out, buf[:min(keep, len(buf))])
			return out
		}
	}
	b.full = true
	return nil
}
