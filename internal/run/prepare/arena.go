package prepare

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/layout"
	"github.com/weir-data/weir/internal/mem"
)

// arena is an Arrow allocator over one block, which goes back with the last of
// what was taken of it. What does not fit, a few small buffers of rare types,
// lies on the Go heap.
type arena struct {
	block *mem.Block
	free  []byte
	refs  atomic.Int64 // outstanding, and the maker's
}

// arenaAlign is what Arrow wants of buffers.
const arenaAlign = 64

func newArena(b *mem.Block) *arena {
	a := &arena{block: b, free: b.Bytes()}
	a.refs.Store(1)
	return a
}

// Allocate makes arena a memory.Allocator.
func (a *arena) Allocate(n int) []byte {
	a.refs.Add(1)
	size := (n + arenaAlign - 1) &^ (arenaAlign - 1)
	if size > len(a.free) {
		return make([]byte, n)
	}
	out := a.free[:n:n]
	a.free = a.free[size:]
	if n <= batchRows/8+arenaAlign {
		clear(out) // it may be a bitmap, of which the last bits are not set
	}
	return out
}

// Reallocate makes arena a memory.Allocator.
func (a *arena) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	out := a.Allocate(n)
	copy(out, b)
	a.release()
	return out
}

// Free makes arena a memory.Allocator.
func (a *arena) Free([]byte) { a.release() }

func (a *arena) release() {
	if a.refs.Add(-1) == 0 {
		a.block.Free()
	}
}

// join makes one record of several, in memory of share.
func join(pieces []arrow.RecordBatch, share *mem.Budget) (arrow.RecordBatch, error) {
	schema := pieces[0].Schema()
	size, rows := int64(0), int64(0)
	for _, p := range pieces {
		size += layout.Size(p)
		rows += p.NumRows()
	}
	for _, f := range schema.Fields() {
		size += joinExtra(f.Type)
	}
	block, ok := share.TryMap(int(size))
	if !ok {
		return nil, tooSmall("a batch", size, share.Limit())
	}
	a := newArena(block)
	defer a.release()
	cols := make([]arrow.Array, 0, schema.NumFields())
	defer func() {
		for _, c := range cols {
			c.Release()
		}
	}()
	parts := make([]arrow.Array, len(pieces))
	for i := range schema.NumFields() {
		for k, p := range pieces {
			parts[k] = p.Column(i)
		}
		c, err := array.Concatenate(parts, a)
		if err != nil {
			return nil, err
		}
		cols = append(cols, c)
	}
	return array.NewRecordBatch(schema, cols, rows), nil
}

// joinExtra is what the buffers of a column are rounded up by, and a bitmap of
// more rows than any batch has.
func joinExtra(t arrow.DataType) int64 {
	n := int64(3*arenaAlign + batchRows/8)
	if nested, ok := t.(arrow.NestedType); ok {
		for _, f := range nested.Fields() {
			n += joinExtra(f.Type)
		}
	}
	return n
}
