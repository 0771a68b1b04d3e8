package parquet

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// slab is the memory of one batch. Every Arrow buffer made from it holds a
// reference; the last one to be released gives the memory back.
type slab struct {
	blocks []*mem.Block
	giant  bool // some block is of what is set aside for giant rows
	refs   atomic.Int64
}

// newSlab holds one reference, the caller's.
func newSlab(b *mem.Block) *slab {
	s := &slab{blocks: []*mem.Block{b}}
	s.refs.Store(1)
	return s
}

// trim frees all blocks but the first, of which no buffer was made.
func (s *slab) trim() {
	for _, b := range s.blocks[1:] {
		b.Free()
	}
	s.blocks, s.giant = s.blocks[:1], false
}

// buffer wraps a part of the slab.
func (s *slab) buffer(b []byte) *memory.Buffer {
	s.refs.Add(1)
	return memory.NewBufferWithAllocator(b, s)
}

// release drops one reference.
func (s *slab) release() {
	if s.refs.Add(-1) == 0 {
		for _, b := range s.blocks {
			b.Free()
		}
		s.blocks = nil
	}
}

// Free is called by Arrow when a buffer's last reference goes.
func (s *slab) Free([]byte) { s.release() }

// Allocate and Reallocate exist for the interface only: buffers of a slab are
// never resized.
func (s *slab) Allocate(int) []byte { panic("parquet: bug: a batch's buffer was resized") }

// Reallocate is never called; see Allocate.
func (s *slab) Reallocate(int, []byte) []byte { return s.Allocate(0) }
