package shuffle

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/rows"
)

// A partition's file is blocks of rows:
//
//	8 bytes  mark
//	8 bytes  size of the block
//	8 bytes  rows
//	8 bytes  checksum (xxh3) of all that follows
//	         rows: the key, in 8 bytes, and the row
const (
	mark      = 0x316675_6853726965 // "eirShuf1"
	headBytes = 32
	keyBytes  = 8
)

var errDamaged = format.Error(format.ErrData, "rows on scratch disk are damaged; remove the scratch directory and run again")

// seal writes the head of a block, whose rows are there.
func seal(b []byte, n int) {
	le := binary.LittleEndian
	le.PutUint64(b, mark)
	le.PutUint64(b[8:], uint64(len(b)))
	le.PutUint64(b[16:], uint64(n))
	le.PutUint64(b[24:], xxh3.Hash(b[headBytes:]))
}

// blockSize is the size that the head of a block gives; room is what the file
// has from there on.
func blockSize(head []byte, room int64) (int64, error) {
	le := binary.LittleEndian
	if len(head) < headBytes || le.Uint64(head) != mark {
		return 0, errDamaged
	}
	size := le.Uint64(head[8:])
	if size > uint64(room) || size < headBytes {
		return 0, errDamaged
	}
	return int64(size), nil
}

// eachRow calls row with the place and the size, keys included, of every row of a
// block that was read, and returns their number. What lies before a row is the
// caller's to change.
func eachRow(f *rows.Form, b []byte, row func(at, size int)) (int64, error) {
	le := binary.LittleEndian
	if le.Uint64(b[24:]) != xxh3.Hash(b[headBytes:]) {
		return 0, errDamaged
	}
	want, n := le.Uint64(b[16:]), uint64(0) // before row may change the head
	for at := headBytes; at < len(b); n++ {
		if len(b)-at < keyBytes {
			return 0, errDamaged
		}
		size, ok := f.Size(b[at+keyBytes:])
		if !ok {
			return 0, errDamaged
		}
		row(at, keyBytes+size)
		at += keyBytes + size
	}
	if n != want {
		return 0, errDamaged
	}
	return int64(n), nil
}

// partitionName is the file of a partition.
func partitionName(prefix string, p int) string { return fmt.Sprintf("%s-%05d", prefix, p) }
