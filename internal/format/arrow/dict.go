package arrow

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// dictionary is the values that indices stand for. Batches that use it hold
// its memory after it was replaced.
type dictionary struct {
	data *array.Data
	room int64 // bytes it takes
}

// concatRoom is what the buffers of two arrays put together take beside those
// of the arrays: each is rounded up.
func concatRoom(f *field) int64 { return 2 * align * int64(f.buffers+f.nodes) }

// dictBatch describes a DictionaryBatch message; b has its values.
func (s *schema) dictBatch(m *message, b *batch) (id int64, delta bool, err error) {
	id, delta = m.head.int64(0), m.head.bool(2)
	values := s.dicts[id]
	if values == nil {
		return id, delta, damaged("dictionary %d is not in the schema", id)
	}
	data := m.head.table(1)
	if !data.there() {
		return id, delta, damaged("dictionary %d has no values", id)
	}
	return id, delta, inDictionary(id, b.parse(m, data, []*field{values}, nil))
}

// dictReader loads dictionaries.
type dictReader struct {
	bodies *bodies
	budget *mem.Budget
	batch  batch
}

// load takes the dictionary that m describes to dicts.
func (r *dictReader) load(ctx context.Context, s *schema, m *message, dicts map[int64]*dictionary) error {
	id, delta, err := s.dictBatch(m, &r.batch)
	if err != nil {
		return err
	}
	next, err := r.values(ctx, dicts)
	if err != nil {
		return inDictionary(id, err)
	}
	old := dicts[id]
	if delta && old == nil {
		next.data.Release()
		return damaged("dictionary %d is added to before it has begun", id)
	}
	if delta {
		part := next
		next, err = r.append(ctx, old, part, s.dicts[id])
		part.data.Release()
		if err != nil {
			return inDictionary(id, err)
		}
	}
	if old != nil {
		old.data.Release()
	}
	dicts[id] = next
	return nil
}

// values loads what r.batch describes.
func (r *dictReader) values(ctx context.Context, dicts map[int64]*dictionary) (*dictionary, error) {
	if err := r.bodies.measure(ctx, &r.batch); err != nil {
		return nil, err
	}
	room := r.batch.room()
	block, err := mapBlock(ctx, r.budget, room)
	if err != nil {
		return nil, err
	}
	slab := stream.NewSlab(block)
	defer slab.Release()
	if err := r.bodies.fill(ctx, &r.batch, block.Bytes()); err != nil {
		return nil, err
	}
	l := &loader{ctx: ctx, whole: true, dicts: dicts}
	n := &r.batch.cols[0]
	if err := l.load(n, 0, r.batch.rows); err != nil {
		return nil, err
	}
	return &dictionary{data: l.build(n, slab), room: room}, nil
}

// append makes one dictionary of two.
func (r *dictReader) append(ctx context.Context, a, b *dictionary, f *field) (*dictionary, error) {
	room := a.room + b.room + concatRoom(f)
	block, err := mapBlock(ctx, r.budget, room)
	if err != nil {
		return nil, err
	}
	to := &concatMemory{block: block, room: block.Bytes()}
	to.refs.Store(1)
	defer to.Free(nil)
	x, y := array.MakeFromData(a.data), array.MakeFromData(b.data)
	defer x.Release()
	defer y.Release()
	both, err := array.Concatenate([]arrow.Array{x, y}, to)
	if err != nil {
		return nil, damaged("%w", err)
	}
	defer both.Release()
	data := both.Data().(*array.Data)
	data.Retain()
	return &dictionary{data: data, room: room}, nil
}

// concatMemory gives out a block piece by piece; the last one that is freed
// frees it.
type concatMemory struct {
	block *mem.Block
	room  []byte
	refs  atomic.Int64
}

// Allocate cannot refuse; what finds no room, though it was reckoned to, lies
// on the Go heap.
func (c *concatMemory) Allocate(n int) []byte {
	c.refs.Add(1)
	size := int(rounded(int64(n)))
	if size > len(c.room) {
		return make([]byte, n)
	}
	b := c.room[:n:size]
	c.room = c.room[size:]
	clear(b)
	return b
}

// Reallocate moves.
func (c *concatMemory) Reallocate(n int, b []byte) []byte {
	if n <= cap(b) {
		return b[:n]
	}
	out := c.Allocate(n)
	copy(out, b)
	c.Free(b)
	return out
}

// Free counts.
func (c *concatMemory) Free([]byte) {
	if c.refs.Add(-1) == 0 {
		c.block.Free()
	}
}

// mapBlock maps room bytes, of which there may be none or too many.
func mapBlock(ctx context.Context, b *mem.Budget, room int64) (*mem.Block, error) {
	if room > b.Limit() {
		return nil, &mem.TooSmallError{Share: "reading", Need: room, Limit: b.Limit()}
	}
	return b.Map(ctx, int(max(room, 1)))
}

// inDictionary and inColumn say where, and leave alone what is not damage.
func inDictionary(id int64, err error) error { return within(fmt.Sprintf("dictionary %d", id), err) }
func inColumn(name string, err error) error  { return within(fmt.Sprintf("column %q", name), err) }

func within(place string, err error) error {
	if err == nil || errors.Is(err, errRoom) {
		return err
	}
	if errors.Is(err, errShort) {
		return damaged("%s: %w", place, err)
	}
	return fmt.Errorf("%s: %w", place, err)
}
