package bpe

import (
	"encoding/binary"
	"math/bits"
)

const (
	// shortest is the most bytes of a piece that is remembered: 15 and their
	// number are two words.
	shortest = 15
	// inside marks the key of a part of a piece, where that is not encoded as a
	// piece of its own would be.
	inside = 1 << 63

	idBits = 21
	idMask = 1<<idBits - 1
	mostID = 6 // ids in an entry
)

// key is a short piece, exactly: its bytes and, in the highest byte, how many.
type key struct{ low, high uint64 }

// keyOf packs up to shortest bytes.
func keyOf(piece []byte, place uint64) key {
	n := len(piece)
	high := uint64(n)<<56 | place
	if cap(piece) > shortest { // what lies behind is read and masked out
		p := piece[:shortest+1]
		low, rest := binary.LittleEndian.Uint64(p), binary.LittleEndian.Uint64(p[8:])
		if n < 8 {
			return key{low & (1<<(8*n) - 1), high}
		}
		return key{low, rest&(1<<(8*(n-8))-1) | high}
	}
	k := key{high: high}
	for i, b := range piece {
		if i < 8 {
			k.low |= uint64(b) << (8 * i)
		} else {
			k.high |= uint64(b) << (8 * (i - 8))
		}
	}
	return k
}

// entry is a piece and its ids, each plus one and 21 bits wide, from the
// lowest bits up; 0: no more.
type entry struct {
	key
	first, rest uint64
}

// cache remembers the ids of short pieces: sets of two entries, one cache line,
// of which the one used longer ago is replaced.
type cache struct {
	sets  [][2]entry
	shift uint
}

// newCache makes a cache of at most size bytes; below one set it is none.
func newCache(size int) cache {
	sets := size / 64
	if sets < 1 {
		return cache{}
	}
	sets = 1 << (bits.Len(uint(sets)) - 1)
	return cache{sets: make([][2]entry, sets), shift: uint(64 - bits.TrailingZeros(uint(sets)))}
}

func (c *cache) set(k key) *[2]entry {
	h := (k.low ^ bits.RotateLeft64(k.high*0x9E3779B97F4A7C15, 32)) * 0xD6E8FEB86659FD93
	return &c.sets[h>>c.shift&uint64(len(c.sets)-1)]
}

// append appends the ids of a piece, if they are known.
func (c *cache) append(k key, ids []uint32) ([]uint32, bool) {
	if len(c.sets) == 0 {
		return ids, false
	}
	set := c.set(k)
	e := &set[0]
	if e.key != k {
		if set[1].key != k {
			return ids, false
		}
		set[0], set[1] = set[1], set[0]
	}
	ids = append(ids, uint32(e.first&idMask)-1)
	if e.first>>idBits == 0 {
		return ids, true
	}
	for word := e.first >> idBits; word != 0; word >>= idBits {
		ids = append(ids, uint32(word&idMask)-1)
	}
	for word := e.rest; word != 0; word >>= idBits {
		ids = append(ids, uint32(word&idMask)-1)
	}
	return ids, true
}

// put remembers the ids of a piece, if they are few.
func (c *cache) put(k key, ids []uint32) {
	if len(c.sets) == 0 || len(ids) == 0 || len(ids) > mostID {
		return
	}
	e := entry{key: k}
	for i, id := range ids {
		if i < mostID/2 {
			e.first |= uint64(id+1) << (idBits * i)
		} else {
			e.rest |= uint64(id+1) << (idBits * (i - mostID/2))
		}
	}
	set := c.set(k)
	set[0], set[1] = e, set[0]
}
