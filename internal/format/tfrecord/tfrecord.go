// Package tfrecord reads TFRecord files of tf.train.Example messages.
//
// A feature that has exactly one value in every record of the sample that has
// it becomes a column of that value, any other a column of lists; a record
// without it has null. Integers are int64, floats float32, bytes binary, or
// string where all that were sampled are UTF-8. Columns come in the order of
// their names. A record that does not fit what the sample showed is an error
// that names the feature; so is a feature that the sample did not have, unless
// columns were picked or a schema was given. Both checksums of every record
// are verified.
package tfrecord

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/records"
)

// Format reads TFRecord files, compressed or not.
func Format() format.Format {
	return format.Format{Name: "tfrecord", Inline: true, Sniff: sniff, Plan: Plan}
}

const (
	head = 12 // a length and its checksum, before the data
	foot = 4  // the data's checksum, behind it
	// recordMost is what protocol buffers can hold.
	recordMost = 1<<31 - 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum is a CRC-32C, masked as it is stored: a sum of data with sums in it
// would be weak.
func checksum(p []byte) uint32 {
	c := crc32.Update(0, castagnoli, p)
	return (c>>15 | c<<17) + 0xa282ead8
}

func sniff(c format.Clue) bool {
	_, err := length(c.Head)
	return len(c.Head) >= head && err == nil
}

var (
	errLength = errors.New("the checksum of a record's length is wrong: this is no TFRecord file, or it is damaged")
	errData   = errors.New("the checksum of the record is wrong")
)

// length is the bytes of the record that p begins with, checksums included; 0:
// p is too short to tell.
func length(p []byte) (int, error) {
	if len(p) < head {
		return 0, nil
	}
	if checksum(p[:8]) != binary.LittleEndian.Uint32(p[8:]) {
		return 0, errLength
	}
	n := binary.LittleEndian.Uint64(p)
	if n > recordMost {
		return 0, fmt.Errorf("a record of %d bytes", n)
	}
	return head + int(n) + foot, nil
}

// data is what a whole record holds.
func data(record []byte) ([]byte, error) {
	end := len(record) - foot
	d := record[head:end]
	if checksum(d) != binary.LittleEndian.Uint32(record[end:]) {
		return nil, errData
	}
	return d, nil
}

// cutter finds records by their lengths.
type cutter struct{}

func (cutter) Resume() {}

func (cutter) Cut(p []byte, final bool) (from, to int, err error) {
	for to < len(p) {
		n, err := length(p[to:])
		if err != nil {
			if to > 0 && !final {
				break // it has its turn when those before it were read
			}
			return 0, 0, &records.Bad{At: to, Line: -1, Err: err}
		}
		if n == 0 || n > len(p)-to {
			if final {
				return 0, 0, &records.Bad{At: to, Line: -1, Err: fmt.Errorf("a record ends early: %w", io.ErrUnexpectedEOF)}
			}
			break
		}
		to += n
	}
	return 0, to, nil
}
