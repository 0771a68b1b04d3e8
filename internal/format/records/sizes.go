package records

import (
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/input"
	"github.com/weir-data/weir/internal/mem"
)

const (
	pieceLeast = 64 << 10
	// pieceMost is where larger pieces no longer make it faster: what a core
	// works on should stay in its cache.
	pieceMost = 512 << 10
	// pieceRecords is how many of the largest known records a piece should
	// hold, memory permitting.
	pieceRecords = 4
	// batchLeast is the smallest block for a batch.
	batchLeast = 64 << 10
)

// sizes is how the memory of one reading is divided.
type sizes struct {
	threads int
	piece   int // bytes of a piece
	batch   int // bytes of a batch
	before  int // bytes read ahead of the pieces
}

// ahead is the number of pieces in flight.
func (s sizes) ahead() int {
	if s.threads == 1 {
		return 1
	}
	return s.threads + 1
}

// spare is set aside for the batches of a piece that needs more than one: one
// that is built, one that the consumer has.
func (s sizes) spare() int64 { return 2 * int64(mem.BlockSize(s.batch)) }

// plan divides memory for pieces of a size.
func (d *dataset) plan(threads, piece int) sizes {
	ratio := d.Ratio
	if ratio == 0 {
		ratio = 1.5
	}
	ratio = min(max(ratio, 0.5), 8)
	batch := max(int(float64(piece)*ratio*1.25), d.least, batchLeast)
	before := min(max(2*piece, input.Least), 4<<20)
	return sizes{threads: threads, piece: piece, batch: min(batch, build.Most), before: before}
}

// need is the bytes that sizes take in all. Beside the pieces in flight there
// is one that is being filled, and one whose rest is to be copied; beside
// their batches one that the consumer has.
func (d *dataset) need(s sizes) int64 {
	piece, batch := int64(mem.BlockSize(s.piece+Slack)), int64(mem.BlockSize(s.batch))
	n := d.fixed(s) + int64(s.ahead()+1)*(piece+batch) + piece
	if s.threads > 1 {
		return n + s.spare()
	}
	// The largest known record as a piece of its own.
	return max(n, d.fixed(s)+piece+d.alone(d.Largest))
}

// fixed is what stays for the whole reading.
func (d *dataset) fixed(s sizes) int64 { return d.Window + input.Cost(d.Remote, s.before) }

// alone is the memory for one record of n bytes: while its piece grows, or
// with the batch that it becomes.
func (d *dataset) alone(n int64) int64 {
	if n == 0 {
		return 0
	}
	return int64(mem.BlockSize(int(2*n)+Slack)) + int64(mem.BlockSize(int(n+n/4)+d.least))
}

// fit finds the largest sizes for a share; false: there are none.
func (d *dataset) fit(share int64) (sizes, bool) {
	most := pieceMost
	for int64(most) < pieceRecords*d.Largest && most < 64<<20 {
		most *= 2
	}
	for threads := max(1, d.Options.Threads); threads >= 1; threads-- {
		least := pieceLeast
		if threads > 1 {
			// Many small pieces are slower than few large ones.
			least = 2 * pieceLeast
		}
		for piece := most; piece >= least; piece = piece * 3 / 4 &^ 4095 {
			if s := d.plan(threads, piece); d.need(s) <= share {
				return s, true
			}
		}
	}
	s := d.plan(1, pieceLeast)
	return s, d.need(s) <= share
}
