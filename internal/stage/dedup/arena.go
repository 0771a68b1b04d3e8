package dedup

import (
	"math/bits"
	"sync"

	"github.com/weir-data/weir/internal/mem"
)

// arena is memory in chunks of one size, mapped as it is needed. It is safe
// for concurrent use.
type arena struct {
	share *mem.Budget
	chunk int // bytes
	slab  int // bytes that are mapped at a time, a power of two
	limit int // slabs

	mu    sync.Mutex
	slabs []*mem.Block
	free  []uint32
}

const (
	leastChunk = 4 << 10
	// stagger keeps chunks that are filled at the same pace from fighting for
	// the same lines of the cache.
	stagger = 192
)

// newArena may take size bytes of the share. The number of chunks is bounded
// whatever the size, and with it what is needed to keep account of them.
func newArena(share *mem.Budget, size int) *arena {
	a := &arena{share: share, chunk: max(leastChunk, floorPower(size/4096)) - stagger, slab: max(64<<10, floorPower(size)/16)}
	a.limit = size / a.slab
	return a
}

func floorPower(n int) int { return 1 << (bits.Len(uint(n)|1) - 1) }

// get is a free chunk, or false when there is none and there may be no more.
func (a *arena) get() (uint32, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.free) == 0 && !a.grow() {
		return 0, false
	}
	id := a.free[len(a.free)-1]
	a.free = a.free[:len(a.free)-1]
	return id, true
}

func (a *arena) grow() bool {
	if len(a.slabs) >= a.limit {
		return false
	}
	block, ok := a.share.TryMap(a.slab)
	if !ok {
		return false
	}
	each := a.slab / a.chunk
	for i := range each {
		a.free = append(a.free, uint32(len(a.slabs)*each+each-1-i))
	}
	a.slabs = append(a.slabs, block)
	return true
}

// put gives a chunk back.
func (a *arena) put(id uint32) {
	a.mu.Lock()
	a.free = append(a.free, id)
	a.mu.Unlock()
}

// bytes is the memory of a chunk.
func (a *arena) bytes(id uint32) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	each := uint32(a.slab / a.chunk)
	from := int(id%each) * a.chunk
	return a.slabs[id/each].Bytes()[from : from+a.chunk : from+a.chunk]
}

// room is the number of chunks that get can still give.
func (a *arena) room() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.free) + (a.limit-len(a.slabs))*(a.slab/a.chunk)
}

// most is the number of bytes that it may take.
func (a *arena) most() int64 { return int64(a.limit) * int64(a.slab) }

// clear gives all memory back and may take size bytes from then on; no chunk
// may be in use.
func (a *arena) clear(size int) {
	for _, s := range a.slabs {
		s.Free()
	}
	a.slabs, a.free, a.limit = nil, nil, size/a.slab
}
