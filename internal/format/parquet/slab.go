package parquet

import "github.com/weir-data/weir/internal/stream"

// slab is the memory of one batch.
type slab struct {
	*stream.Slab
	giant bool // some block is of what is set aside for giant rows
}

// trim frees all blocks but the first, of which no buffer was made.
func (s *slab) trim() {
	s.Slab.Trim()
	s.giant = false
}
