package codec

import (
	"bytes"
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// Decoder decompresses whole blocks and keeps its state for the next one.
// The zero value is ready; a Decoder serves one goroutine at a time and needs
// no closing. It holds at most Codec.Heap bytes for each codec it has met.
type Decoder struct {
	in     bytes.Reader
	tail   [1]byte
	zstd   *zstd.Decoder
	gzip   *gzipElements
	brotli *brotli.Reader
	input  snappyInput
}

// Slack is how many bytes behind dst Decompress may use.
const Slack = 16

// Decompress fills dst exactly from src; a block of another size, or a
// damaged one, is an error and leaves dst undefined. It never writes outside
// dst[:len(dst)], but for Slack bytes behind it where dst has the capacity: that
// makes it faster. It keeps neither slice. An empty src is an empty block.
func (d *Decoder) Decompress(c Codec, dst, src []byte) error {
	if len(src) == 0 {
		if len(dst) == 0 {
			return nil
		}
		return c.damage(io.ErrUnexpectedEOF)
	}
	dst = dst[:len(dst):min(cap(dst), len(dst)+Slack)]
	switch c {
	case None:
		if len(src) != len(dst) {
			return wrongSize(c, len(src), len(dst))
		}
		copy(dst, src)
		return nil
	case Snappy:
		return snappyBlock(dst, src)
	case Gzip:
		return d.gunzip(dst, src)
	case Brotli:
		return d.unbrotli(dst, src)
	case LZ4:
		return lz4Any(dst, src)
	case Zstd:
		return d.unzstd(dst, src)
	case LZ4Raw:
		return lz4Whole(LZ4Raw, dst, src)
	}
	return c.unsupported()
}

// readWhole fills dst from r, which must end there.
func (d *Decoder) readWhole(c Codec, dst []byte, r io.Reader) error {
	if n, err := io.ReadFull(r, dst); err != nil {
		if err == io.ErrUnexpectedEOF || err == io.EOF {
			return fmt.Errorf("%s: %d bytes, want %d: %w", c, n, len(dst), io.ErrUnexpectedEOF)
		}
		return c.damage(err)
	}
	return expectEnd(c, r, d.tail[:], int64(len(dst)))
}

// expectEnd checks that r, which has given want bytes, has no more, and has
// found its checksums right.
func expectEnd(c Codec, r io.Reader, tail []byte, want int64) error {
	for range 100 {
		n, err := r.Read(tail[:1])
		if n > 0 {
			return fmt.Errorf("%s: more than %d bytes", c, want)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return c.damage(err)
		}
	}
	return io.ErrNoProgress
}

func wrongSize(c Codec, got, want int) error {
	return fmt.Errorf("%s: %d bytes, want %d", c, got, want)
}
