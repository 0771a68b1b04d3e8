package near

import "encoding/binary"

const (
	// parts is the number of partitions: hashes with the same upper byte.
	parts = 256
	// keyBytes is what a row takes in the partition of each of its bands: the
	// lower 7 bytes of the hash and 5 of the row's number.
	keyBytes = 12
	hashBits = 56
	hashMask = 1<<hashBits - 1
	// rowBits is what the number of a row has; mostRows fit, and one number is
	// left for no row.
	rowBits  = 36
	rowMask  = 1<<rowBits - 1
	mostRows = 1<<rowBits - 1
)

// packKey writes what a partition keeps.
func packKey(dst []byte, hash, row uint64) {
	_ = dst[keyBytes-1]
	binary.LittleEndian.PutUint64(dst, hash&hashMask|row<<hashBits)
	binary.LittleEndian.PutUint32(dst[8:], uint32(row>>8))
}

// unpackKey reads what packKey wrote: the hash without its upper byte.
func unpackKey(src []byte) (hash, row uint64) {
	_ = src[keyBytes-1]
	low := binary.LittleEndian.Uint64(src)
	return low & hashMask, low>>hashBits | uint64(binary.LittleEndian.Uint32(src[8:]))<<8
}

// A pair is a row and an earlier one. In the file of the later one's window it
// takes 8 bytes: the earlier row, and where in the window the later one is.
const (
	pairBytes  = 8
	windowBits = 64 - rowBits
	windowMask = 1<<windowBits - 1
)
