package stream

import (
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/weir-data/weir/internal/mem"
)

// Slab is the memory of one batch. Every Arrow buffer made from it holds a
// reference; the last one to be released gives the memory back.
type Slab struct {
	blocks []*mem.Block
	refs   atomic.Int64
}

// NewSlab takes b over. It holds one reference, the caller's.
func NewSlab(b *mem.Block) *Slab {
	s := &Slab{blocks: []*mem.Block{b}}
	s.refs.Store(1)
	return s
}

// Add takes over one more block.
func (s *Slab) Add(b *mem.Block) { s.blocks = append(s.blocks, b) }

// Trim frees all blocks but the first, of which no buffer was made.
func (s *Slab) Trim() {
	for _, b := range s.blocks[1:] {
		b.Free()
	}
	s.blocks = s.blocks[:1]
}

// Buffer wraps a part of the slab.
func (s *Slab) Buffer(b []byte) *memory.Buffer {
	s.refs.Add(1)
	return memory.NewBufferWithAllocator(b, s)
}

// Release drops one reference.
func (s *Slab) Release() {
	if s.refs.Add(-1) == 0 {
		for _, b := range s.blocks {
			b.Free()
		}
		s.blocks = nil
	}
}

// Free is called by Arrow when a buffer's last reference goes.
func (s *Slab) Free([]byte) { s.Release() }

// Allocate and Reallocate exist for the interface only: buffers of a slab are
// never resized.
func (s *Slab) Allocate(int) []byte { panic("stream: bug: a batch's buffer was resized") }

// Reallocate is never called; see Allocate.
func (s *Slab) Reallocate(int, []byte) []byte { return s.Allocate(0) }
