// Package dedup finds the rows that are the first of their kind, over any
// number of rows, in a fixed amount of memory.
//
// A Hasher makes 128-bit keys of rows. A Set deals the keys out to partitions
// in the order of the rows, and remembers in one byte a row which partition it
// went to; a partition takes 15 bytes a key, because the partition itself
// tells the sixteenth. Partitions that find no room in memory go to scratch
// space. In the end each one is solved alone, with a table that fits the
// processor's cache where there are few enough keys, and the partitions' answers are put together in
// the order of the rows.
package dedup

import "encoding/binary"

// Key stands for a row: rows with the same key are duplicates.
type Key [2]uint64

const (
	// parts is the number of partitions: as many as a byte tells apart.
	parts = 256
	// keyBytes is what a key takes in its partition.
	keyBytes = 15
	// spread is an odd number with no pattern (2^64 / golden ratio).
	spread = 0x9e3779b97f4a7c15
)

// part is the partition of k. Both halves of the key decide, so that keys that
// have one of them in common are dealt out as well.
func part(k Key) byte { return byte(k[0]>>56) ^ byte(k[1]*spread>>56) }

// pack writes what a partition has to keep of k.
func pack(dst []byte, k Key) {
	_ = dst[keyBytes-1]
	binary.LittleEndian.PutUint64(dst, k[0]&(1<<56-1)|k[1]<<56)
	binary.LittleEndian.PutUint64(dst[7:], k[1])
}

// unpack reads what pack wrote: the lower 56 bits of k[0], and k[1].
func unpack(src []byte) (low, high uint64) {
	_ = src[keyBytes-1]
	return binary.LittleEndian.Uint64(src) & (1<<56 - 1), binary.LittleEndian.Uint64(src[7:])
}

// whole is the key of which partition p keeps low and high.
func whole(p byte, low, high uint64) Key {
	return Key{low | uint64(p^byte(high*spread>>56))<<56, high}
}
