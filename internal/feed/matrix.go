package feed

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/feed/order"
	"github.com/weir-data/weir/internal/feed/tensor"
	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// rows is a window as rows of numbers.
type rows struct {
	store *tensor.Store
	block *mem.Block
}

func (r *rows) free() { r.block.Free() }

// copyBytes is what one thread copies at a time: less is sooner done by one.
const copyBytes = 1 << 20

// matrices makes batches of a matrix and labels.
type matrices struct {
	layout *tensor.Layout
	known  map[int]wire.Layout // by rows of a batch
	pool   *stream.Pool[struct{}]
}

func (m *matrices) hold(share *mem.Budget, _ []order.Piece, n int64) (held, error) {
	size := max(8, m.layout.StoreSize(int(n)))
	block, ok := share.TryMap(size)
	if !ok {
		return nil, noRoom(share, size)
	}
	store, err := m.layout.NewStore(block.Bytes(), int(n))
	if err != nil {
		block.Free()
		return nil, err
	}
	return &rows{store, block}, nil
}

func (m *matrices) put(h held, _, at int, rec arrow.RecordBatch) error {
	return m.layout.Fill(h.(*rows).store, at, rec)
}

func (m *matrices) ready(held) error { return nil }

// windowBytes is the memory of a window of so many rows.
func (m *matrices) windowBytes(n int64) int64 {
	return int64(mem.BlockSize(max(8, m.layout.StoreSize(int(n)))))
}

// batchBytes is the most of a batch.
func (m *matrices) batchBytes(n int) int64 { return int64(m.layout.BatchSize(n)) }

// make copies rows of one window after the other.
func (m *matrices) make(out outlet, n int, next func() (picked, bool, error), letGo func()) (slot, wire.Layout, error) {
	layout, err := m.describe(n)
	if err != nil {
		return nil, layout, err
	}
	s, err := out.Reserve(m.layout.BatchSize(n))
	if err != nil {
		return nil, layout, err
	}
	if err := m.fill(s, n, next, letGo); err != nil {
		out.Discard(s)
		return nil, layout, err
	}
	return s, layout, nil
}

func (m *matrices) fill(s slot, n int, next func() (picked, bool, error), letGo func()) error {
	b, err := m.layout.NewBatch(s.Bytes(), n)
	if err != nil {
		return err
	}
	for at := 0; ; {
		r, ok, err := next()
		if err != nil || !ok {
			return err
		}
		if err := m.copy(b, at, r); err != nil {
			return err
		}
		letGo()
		at += len(r.rows)
	}
}

// copy makes rows of a batch of those of a window.
func (m *matrices) copy(b *tensor.Batch, at int, r picked) error {
	store := r.w.rows.(*rows).store
	first, consecutive := r.consecutive()
	n := len(r.rows)
	step := max(1, copyBytes/m.layout.BatchSize(1))
	return m.pool.Each((n+step-1)/step, func(i int, _ *struct{}) error {
		from, to := i*step, min((i+1)*step, n)
		if consecutive {
			return m.layout.Range(b, at+from, store, first+from, to-from)
		}
		return m.layout.Gather(b, at+from, store, r.rows[from:to])
	})
}

// describe is the layout of a batch of n rows.
func (m *matrices) describe(n int) (wire.Layout, error) {
	if l, ok := m.known[n]; ok {
		return l, nil
	}
	l, err := wire.Tensors(described(m.layout.Tensors(n)))
	if err == nil {
		m.known[n] = l
	}
	return l, err
}

// described is tensors as the parent is told of them.
func described(list []tensor.Tensor) []wire.Tensor {
	out := make([]wire.Tensor, len(list))
	for i, t := range list {
		out[i] = wire.Tensor{Name: t.Name, Part: t.Part, Dtype: t.Dtype.String(), Shape: t.Shape, Offset: t.Offset}
	}
	return out
}
