package scale

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

// table counts keys in one block of memory. An entry is a count, the length of
// the key, and the key, padded to eight bytes; they lie in the order in which
// they came.
type table struct {
	block *mem.Block
	seed  maphash.Seed
	slots []uint64 // upper half of the hash, and the entry's place in units of 8 bytes and 1
	arena []byte
	used  int
	n     int
}

// tableBytes is a block that holds n keys of a few dozen bytes.
func tableBytes(n int) int64 { return max(64<<10, 128*int64(n)) }

// newTable takes block over.
func newTable(block *mem.Block) *table {
	raw := block.Bytes()
	slots := 1 << (bits.Len(uint(len(raw)/32)) - 1)
	t := &table{block: block, seed: maphash.MakeSeed(), slots: arrow.GetData[uint64](raw[:8*slots]), arena: raw[8*slots:]}
	t.arena = t.arena[:min(len(t.arena), 1<<34)]
	clear(t.slots)
	return t
}

// find is the place of key's entry; -1: it has none, and slot is where it would
// be known from.
func (t *table) find(key []byte) (at int, slot int, tag uint64) {
	h := maphash.Bytes(t.seed, key)
	tag = h &^ (1<<32 - 1)
	mask := len(t.slots) - 1
	for slot = int(h) & mask; ; slot = (slot + 1) & mask {
		s := t.slots[slot]
		if s == 0 {
			return -1, slot, tag
		}
		if s&^(1<<32-1) == tag {
			at = int(uint32(s)-1) * 8
			if bytes.Equal(t.key(at), key) {
				return at, slot, tag
			}
		}
	}
}

func (t *table) key(at int) []byte {
	n := int(binary.LittleEndian.Uint32(t.arena[at+8:]))
	return t.arena[at+12 : at+12+n]
}

// add counts key by more; false: there is no room.
func (t *table) add(key []byte, by uint64) bool {
	at, slot, tag := t.find(key)
	if at >= 0 {
		p := t.arena[at : at+8]
		binary.LittleEndian.PutUint64(p, binary.LittleEndian.Uint64(p)+by)
		return true
	}
	size := (12 + len(key) + 7) &^ 7
	if size > len(t.arena)-t.used || t.n >= len(t.slots)/4*3 {
		return false
	}
	p := t.arena[t.used:]
	binary.LittleEndian.PutUint64(p, by)
	binary.LittleEndian.PutUint32(p[8:], uint32(len(key)))
	copy(p[12:], key)
	t.slots[slot] = tag | uint64(t.used/8+1)
	t.used += size
	t.n++
	return true
}

// get is key's count; false: it has none.
func (t *table) get(key []byte) (uint64, bool) {
	at, _, _ := t.find(key)
	if at < 0 {
		return 0, false
	}
	return binary.LittleEndian.Uint64(t.arena[at:]), true
}

// each calls f with all keys and counts in the order in which they came.
func (t *table) each(f func(key []byte, count uint64)) {
	for at := 0; at < t.used; {
		key := t.key(at)
		f(key, binary.LittleEndian.Uint64(t.arena[at:]))
		at += (12 + len(key) + 7) &^ 7
	}
}
