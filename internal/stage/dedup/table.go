package dedup

import (
	"math/bits"
	"math/rand/v2"
)

// table is a set of the keys of one partition. Keys lie where their hash says,
// or behind; the numbers in the hash are drawn anew for every table, so that
// nobody can make data that is slow.
type table struct {
	slots  [][2]uint64 // of a key: its low half with taken set, its high half; 0: free
	used   int
	max    int // keys; beyond it probing gets slow
	s0, s1 uint64
	near   uint64 // keeps a loop that only reads from being left out
}

const (
	// taken is a bit that no low half has.
	taken = 1 << 56
	// slotBytes is what a slot takes.
	slotBytes = 16
)

func newTable() *table {
	// The upper byte of s0 keeps both factors of the hash from being 0 at once
	// for many keys.
	return &table{s0: rand.Uint64() &^ (0xff << 56), s1: rand.Uint64()}
}

// slotsFor is how many slots n keys need.
func slotsFor(n int64) int64 { return n/3*4 + 256 }

// reset makes room for n keys, as far as there is memory.
func (t *table) reset(memory [][2]uint64, n int64) {
	t.slots = memory[:min(int64(len(memory)), slotsFor(n))]
	t.max, t.used = len(t.slots)/4*3, 0
	clear(t.slots)
}

// word looks at n keys, 64 at most, whose hash is between lo and hi, and adds
// those that are not there: their bits are set in first. Those below lo have
// their bits set in below. False: no room for so many.
func (t *table) word(keys []byte, n int, lo, hi uint64) (first, below uint64, ok bool) {
	if t.used+n > t.max {
		return 0, 0, false
	}
	slots := t.slots
	size := uint64(len(slots))
	var hash [64]uint64
	var near uint64
	for i := range n {
		low, high := unpack(keys[i*keyBytes:])
		a, b := bits.Mul64(low^t.s0|taken, high^t.s1)
		hash[i&63] = a ^ b
		// The slots are asked for before they are needed, many at a time.
		at, _ := bits.Mul64(bits.RotateLeft64(a^b, 32), size)
		near |= slots[at][0]
	}
	t.near = near
	for i := range n {
		h := hash[i&63]
		if h < lo {
			below |= 1 << i
			continue
		}
		if h > hi {
			continue
		}
		low, high := unpack(keys[i*keyBytes:])
		at, _ := bits.Mul64(bits.RotateLeft64(h, 32), size)
		first |= put(slots, at, low|taken, high) << i
	}
	t.used += bits.OnesCount64(first)
	return first, below, true
}

// put adds a key, and is 1 when it was not there. Whether a slot is free or
// has the key already is no branch: the key is written in both cases, because
// which one it is cannot be foretold.
func put(slots [][2]uint64, at, low, high uint64) uint64 {
	for {
		s := &slots[at]
		other := (s[0] ^ low) | (s[1] ^ high)
		used := (s[0] | -s[0]) >> 63
		if (other|-other)>>63&used == 0 {
			s[0], s[1] = low, high
			return used ^ 1
		}
		if at++; at == uint64(len(slots)) {
			at = 0
		}
	}
}
