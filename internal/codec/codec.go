// Package codec decompresses Parquet blocks, whole into memory the caller
// owns or as a stream, and whole files, which it also compresses. A stream
// goes through a small window whose cost is known beforehand. The package
// starts no goroutines and trusts no input.
package codec

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Codec names a compression format. The zero value is None.
type Codec uint8

const (
	None Codec = iota
	Snappy
	Gzip
	Brotli
	// LZ4 is Parquet's deprecated LZ4. Writers never agreed on what it is:
	// Hadoop's framing, a bare block and an LZ4 frame are all read.
	LZ4
	Zstd
	// LZ4Raw is one bare LZ4 block.
	LZ4Raw
)

var names = [...]string{"none", "snappy", "gzip", "brotli", "lz4", "zstd", "lz4_raw"}

// String gives the name that also begins every error of the codec.
func (c Codec) String() string {
	if int(c) < len(names) {
		return names[c]
	}
	return fmt.Sprintf("codec %d", uint8(c))
}

// ErrWindow says that a block refers back further than its stream's window.
// The data may be sound: decompress the block whole instead. Snappy gives it
// for distances over 64 KiB, zstd when a later frame of the block needs a
// larger window than the first, or when the window exceeds 2 GiB.
var ErrWindow = errors.New("block refers back past the stream's window")

// Heap is an upper bound of the Go-heap bytes a Decoder holds for c beside
// dst and src. A Decoder that has served several codecs holds their sum.
func (c Codec) Heap() int64 {
	switch c {
	case Snappy:
		return fromBuffer
	case Gzip:
		return gzipState
	case Brotli:
		return brotliCost(brotliMaxWindow)
	case Zstd:
		return zstdState
	}
	return 0
}

func (c Codec) damage(err error) error { return damage(c.String(), err) }

// damage puts a codec's name in front of err, once. The end of the input
// inside a block is unexpected, whatever the decoder called it.
func damage(name string, err error) error {
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if strings.HasPrefix(err.Error(), name+": ") {
		return err
	}
	return fmt.Errorf("%s: %w", name, err)
}

func (c Codec) unsupported() error {
	return fmt.Errorf("%s is not supported", c)
}
