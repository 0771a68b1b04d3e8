package mem

import (
	"context"
	"math/bits"
	"sync"
)

// Block is leased memory outside the Go heap. Its bytes are not zeroed: a
// block may have been used before. Free it exactly once.
type Block struct {
	lease *Lease
	root  *root
	buf   []byte // the whole mapping
	size  int    // bytes asked for
}

// Bytes is the memory, of exactly the length asked for.
func (m *Block) Bytes() []byte { return m.buf[:m.size] }

// Cap is the number of bytes the block really has and pays for.
func (m *Block) Cap() int { return len(m.buf) }

// Free gives the memory back. A nil block and a second call do nothing.
func (m *Block) Free() {
	if m == nil || m.buf == nil {
		return
	}
	buf := m.buf
	m.buf = nil
	// Cached before the lease ends: whoever gets the freed budget finds the
	// bytes there, to use or to evict.
	m.root.put(buf)
	m.lease.Release()
}

// Map waits for n bytes and returns them as a block.
func (b *Budget) Map(ctx context.Context, n int) (*Block, error) {
	lease, err := b.acquire(ctx, int64(BlockSize(n)))
	if err != nil {
		return nil, err
	}
	return b.root.get(lease, n)
}

// TryMap is Map for those who can do without: false when the bytes are not
// free now.
func (b *Budget) TryMap(n int) (*Block, bool) {
	lease, ok := b.tryAcquire(int64(BlockSize(n)))
	if !ok {
		return nil, false
	}
	m, err := b.root.get(lease, n)
	return m, err == nil
}

const pageSize = 4096

// BlockSize is what a block of n bytes costs: n rounded up to a page, and
// above 128 KiB to one of sixteen steps to the next power of two, so that freed
// blocks fit later requests.
func BlockSize(n int) int {
	if n <= pageSize {
		return pageSize
	}
	step := pageSize
	if n > 128<<10 {
		step = 1 << (bits.Len(uint(n-1)) - 5)
	}
	return (n + step - 1) / step * step
}

// root is what all shares of one budget have in common: the freed blocks kept
// for reuse. Resident memory is at most leased plus cached; the cache is
// emptied before the sum could pass the limit.
type root struct {
	limit int64

	mu     sync.Mutex
	leased int64 // bytes under lease, in blocks and on the Go heap
	heap   int64 // the part of leased that is on the Go heap
	cached int64 // bytes in free
	free   map[int][][]byte
	sizes  []int // sizes with a free list, most recently freed last
}

// get finds or maps the memory for a lease of BlockSize(n) bytes.
func (r *root) get(lease *Lease, n int) (*Block, error) {
	size := int(lease.n)
	r.mu.Lock()
	r.leased += int64(size)
	if list := r.free[size]; len(list) > 0 {
		buf := list[len(list)-1]
		r.free[size] = list[:len(list)-1]
		r.cached -= int64(size)
		r.mu.Unlock()
		return &Block{lease: lease, root: r, buf: buf, size: n}, nil
	}
	evicted := r.evict()
	r.mu.Unlock()
	unmapAll(evicted)
	buf, err := mapBytes(size)
	if err != nil {
		lease.Release()
		return nil, err
	}
	return &Block{lease: lease, root: r, buf: buf, size: n}, nil
}

// admit counts a lease that no block pays for.
func (r *root) admit(n int64) {
	r.mu.Lock()
	r.leased += n
	r.heap += n
	evicted := r.evict()
	r.mu.Unlock()
	unmapAll(evicted)
}

// dismiss ends what get or admit counted.
func (r *root) dismiss(n int64, heap bool) {
	r.mu.Lock()
	r.leased -= n
	if heap {
		r.heap -= n
	}
	r.mu.Unlock()
}

// put keeps buf for the next request of its size, as far as the limit allows.
func (r *root) put(buf []byte) {
	r.mu.Lock()
	r.cached += int64(len(buf))
	if r.free == nil {
		r.free = make(map[int][][]byte)
	}
	list, known := r.free[len(buf)]
	if !known {
		r.sizes = append(r.sizes, len(buf))
	}
	r.free[len(buf)] = append(list, buf)
	r.mu.Unlock()
}

// evict takes cached buffers out until leased and cached fit the limit; the
// caller holds mu and unmaps them.
func (r *root) evict() [][]byte {
	var out [][]byte
	for i := 0; i < len(r.sizes) && r.leased+r.cached > r.limit; {
		size := r.sizes[i]
		list := r.free[size]
		for len(list) > 0 && r.leased+r.cached > r.limit {
			out = append(out, list[len(list)-1])
			list = list[:len(list)-1]
			r.cached -= int64(size)
		}
		r.free[size] = list
		if len(list) > 0 {
			break
		}
		delete(r.free, size)
		r.sizes = append(r.sizes[:i], r.sizes[i+1:]...)
	}
	return out
}

// Trim gives all cached memory back to the system.
func (b *Budget) Trim() {
	r := b.root
	r.mu.Lock()
	var out [][]byte
	for _, list := range r.free {
		out = append(out, list...)
	}
	r.free, r.sizes, r.cached = nil, nil, 0
	r.mu.Unlock()
	unmapAll(out)
}

// HeapLeased is the part of Leased that lies on the Go heap.
func (b *Budget) HeapLeased() int64 {
	b.root.mu.Lock()
	defer b.root.mu.Unlock()
	return b.root.heap
}

// Leased is the number of bytes under lease in b and all its relatives. It is
// zero when every stream has been closed and every batch released.
func (b *Budget) Leased() int64 {
	b.root.mu.Lock()
	defer b.root.mu.Unlock()
	return b.root.leased
}

func unmapAll(bufs [][]byte) {
	for _, buf := range bufs {
		unmapBytes(buf)
	}
}
