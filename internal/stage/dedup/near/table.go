package near

import (
	"math/bits"
	"math/rand/v2"
)

// table knows for each hash of a partition its first row and its latest. Hashes
// lie where a function says whose numbers are drawn anew for every table, so that nobody
// can make data that is slow, or behind.
type table struct {
	slots [][2]uint64 // see slot
	used  int
	max   int // hashes; beyond it probing gets slow
	mul   uint64
	near  uint64 // keeps a loop that only reads from being left out
}

const slotBytes = 16

func newTable() *table { return &table{mul: rand.Uint64() | 1} }

// slotsFor is how many slots n hashes need.
func slotsFor(n int64) int64 { return n/3*4 + 256 }

// reset makes room for n hashes, as far as there is memory.
func (t *table) reset(memory [][2]uint64, n int64) {
	t.slots = memory[:min(int64(len(memory)), slotsFor(n))]
	t.max, t.used = len(t.slots)/4*3, 0
	clear(t.slots)
}

// A slot is 56 bits of hash, 36 of the first row and one more, so that no slot
// in use is 0, and 36 of the latest row.
func slot(hash, first, last uint64) [2]uint64 {
	return [2]uint64{hash | last<<hashBits, (last>>8)<<rowBits | (first + 1)}
}

func rowsOf(s [2]uint64) (first, last uint64) {
	return s[1]&rowMask - 1, s[0]>>hashBits | s[1]>>rowBits<<8
}

// ask sets spread to where in the order of the table n keys lie, 64 at most.
// Their slots are asked for before they are needed, many at a time.
func (t *table) ask(keys []byte, n int, spread *[64]uint64) {
	size := uint64(len(t.slots))
	var near uint64
	for i := range n {
		hash, _ := unpackKey(keys[i*keyBytes:])
		h := hash * t.mul
		spread[i&63] = h
		at, _ := bits.Mul64(bits.RotateLeft64(h, 32), size)
		near |= t.slots[at][0]
	}
	t.near = near
}

// see adds a row to its hash, whose spread is h, and is what rows that had
// before; seen: any. The table must not be full.
func (t *table) see(hash, h, row uint64) (first, last uint64, seen bool) {
	at, _ := bits.Mul64(bits.RotateLeft64(h, 32), uint64(len(t.slots)))
	for {
		s := &t.slots[at]
		if s[1] == 0 {
			*s = slot(hash, row, row)
			t.used++
			return 0, 0, false
		}
		if s[0]&hashMask == hash {
			first, last = rowsOf(*s)
			*s = slot(hash, first, row)
			return first, last, true
		}
		if at++; at == uint64(len(t.slots)) {
			at = 0
		}
	}
}
