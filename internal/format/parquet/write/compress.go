package write

import (
	"encoding/binary"
	"fmt"
	"io"
	"math/bits"
	"strconv"
	"strings"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// compression is a codec with its level.
type compression struct {
	name  string
	id    int32 // Parquet's number
	level int
}

// codecs by name: Parquet's number, the level where none is given, and the
// highest there is; 0: there are none.
var codecs = map[string]struct {
	id            int32
	level, lo, hi int
}{
	"none":    {0, 0, 0, 0},
	"snappy":  {1, 0, 0, 0},
	"gzip":    {2, 6, 1, 9},
	"brotli":  {4, 5, 0, 11},
	"zstd":    {6, 1, 1, 22},
	"lz4":     {7, 0, 0, 0}, // LZ4_RAW, which all readers agree on
	"lz4_raw": {7, 0, 0, 0},
}

// parseCodec reads what WriteOptions.Codec says; empty is snappy.
func parseCodec(s string) (compression, error) {
	if s == "" {
		s = "snappy"
	}
	name, level, leveled := strings.Cut(s, ":")
	c, ok := codecs[name]
	if !ok {
		return compression{}, format.Error(format.ErrUsage,
			"parquet: no compression %q; there are none, snappy, gzip, zstd, brotli and lz4", name)
	}
	out := compression{name: name, id: c.id, level: c.level}
	if !leveled {
		return out, nil
	}
	if c.hi == 0 {
		return out, format.Error(format.ErrUsage, "parquet: compression %s has no levels: leave out %q", name, level)
	}
	n, err := strconv.Atoi(level)
	if err != nil || n < c.lo || n > c.hi {
		return out, format.Error(format.ErrUsage, "parquet: compression %s: level %q is not one of %d to %d", name, level, c.lo, c.hi)
	}
	out.level = n
	return out, nil
}

// heap is the most that a compressor for pages of a size holds on the Go
// heap, measured.
func (c compression) heap(page int) int64 {
	switch c.name {
	case "gzip":
		return 3 << 19
	case "brotli":
		if c.level > 9 {
			return 24 << 20
		}
		return 6 << 20
	case "zstd":
		tables := map[zstd.EncoderLevel]int64{zstd.SpeedFastest: 640 << 10, zstd.SpeedDefault: 1700 << 10,
			zstd.SpeedBetterCompression: 5600 << 10, zstd.SpeedBestCompression: 37 << 20}
		return tables[zstd.EncoderLevelFromZstd(c.level)] + 4*int64(window(page)) + 1<<20
	case "snappy", "lz4", "lz4_raw":
		return 160 << 10 // a hash table
	}
	return 0
}

// window is how far back zstd looks in pages of a size.
func window(page int) int { return max(zstd.MinWindowSize, min(1<<bits.Len(uint(page-1)), 1<<20)) }

// brotliWindow, as a power of two, keeps what the encoder holds small.
const brotliWindow = 16

// compressor compresses pages, one at a time.
type compressor struct {
	compression
	zstd   *zstd.Encoder
	stream interface {
		io.WriteCloser
		Reset(io.Writer)
	}
	lz4  *lz4.Compressor
	sink sink
}

// newCompressor makes one for pages that are mostly of a size.
func newCompressor(c compression, page int) (*compressor, error) {
	out := &compressor{compression: c}
	var err error
	switch c.name {
	case "zstd":
		out.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(c.level)),
			zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(window(page)))
	case "lz4", "lz4_raw":
		out.lz4 = new(lz4.Compressor)
	case "gzip":
		out.stream, err = gzip.NewWriterLevel(&out.sink, c.level)
	case "brotli":
		out.stream = brotli.NewWriterOptions(&out.sink, brotli.WriterOptions{Quality: c.level, LGWin: brotliWindow})
	}
	return out, err
}

// bound is the room that n bytes need to be compressed.
func (c *compressor) bound(n int) int {
	switch c.name {
	case "none":
		return n
	case "snappy":
		// A length and a literal's header for each of the parts.
		return n + n/1024 + 64
	case "lz4", "lz4_raw":
		return lz4.CompressBlockBound(n)
	}
	return n + n/64 + 1024
}

// whole says that pack takes bytes that are in one piece only.
func (c *compressor) whole() bool { return c.id >= 6 }

// matchesOnly says that bytes are compressed by what they have in common with
// others before them, not by how often each is.
func (c *compressor) matchesOnly() bool { return c.id == 0 || c.id == 1 || c.id == 7 }

// uncompressed is for chunks that are not compressed, whatever the file's codec.
var uncompressed = compressor{compression: compression{name: "none"}}

// leastTried is a page whose values say what compression does to the chunk's.
const leastTried = 32 << 10

// vain says that the codec, one that is chosen to be fast, takes less than a
// twentieth from the first page of a chunk: the others are not tried. Of a
// dictionary's indices nothing follows for its values.
func (c *chunk) vain(comp *compressor, size, n int) bool {
	return c.count == 1 && comp.id != 0 && comp.matchesOnly() && size >= leastTried && n > size/20*19 && !c.has(meta.RLEDictionary)
}

// compressor is that of the chunk's pages.
func (t *thread) compressor(c *chunk) *compressor {
	if c.raw {
		return &uncompressed
	}
	return t.comp
}

// pack compresses a and b, one behind the other, to the beginning of dst, which
// has the room bound asks for. Where it takes one piece only, a is empty.
func (c *compressor) pack(dst, a, b []byte) (int, error) {
	switch c.name {
	case "none":
		n := copy(dst, a)
		return n + copy(dst[n:], b), nil
	case "snappy":
		return snappy(dst, a, b), nil
	case "zstd":
		out := c.zstd.EncodeAll(b, dst[:0:len(dst)])
		if len(out) > len(dst) {
			return 0, fmt.Errorf("zstd: %d bytes became %d", len(b), len(out))
		}
		return len(out), nil
	case "lz4", "lz4_raw":
		n, err := c.lz4.CompressBlock(b, dst)
		if err == nil && n == 0 {
			err = fmt.Errorf("lz4: no room for %d bytes in %d", len(b), len(dst))
		}
		return n, err
	}
	c.sink = sink{dst: dst}
	c.stream.Reset(&c.sink)
	_, err := c.stream.Write(a)
	if err == nil {
		_, err = c.stream.Write(b)
	}
	if err == nil {
		err = c.stream.Close()
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.name, err)
	}
	return c.sink.n, nil
}

// sink is memory to write to.
type sink struct {
	dst []byte
	n   int
}

func (s *sink) Write(p []byte) (int, error) {
	n := copy(s.dst[s.n:], p)
	s.n += n
	if n < len(p) {
		return n, io.ErrShortBuffer
	}
	return n, nil
}

const (
	// wholeBlock is the most bytes that are one block to snappy's matches.
	wholeBlock = 1 << 20
	// smallBlock is the size of blocks of what is larger: a reader then needs
	// no more than that to decompress a page of any size while it is read.
	smallBlock = 64 << 10
)

// snappy is one Snappy block of a and b.
func snappy(dst, a, b []byte) int {
	n := binary.PutUvarint(dst, uint64(len(a)+len(b)))
	if len(a) > 0 {
		n += literal(dst[n:], a)
	}
	size := len(b)
	if size > wholeBlock {
		size = smallBlock
	}
	for len(b) > 0 {
		part := b[:min(size, len(b))]
		n += snappyBody(dst, n, part)
		b = b[len(part):]
	}
	return n
}

// snappyBody writes the elements for src at dst[at:], without the length that
// stands before them: it is written over what comes before, which is put back.
// The length of the whole, at least, comes before and is no shorter.
func snappyBody(dst []byte, at int, src []byte) int {
	var length, before [binary.MaxVarintLen64]byte
	head := binary.PutUvarint(length[:], uint64(len(src)))
	copy(before[:head], dst[at-head:at])
	out := s2.EncodeSnappy(dst[at-head:], src)
	copy(dst[at-head:at], before[:head])
	return len(out) - head
}

// literal writes src as one literal.
func literal(dst, src []byte) int {
	n := len(src) - 1
	head := 1
	switch {
	case n < 60:
		dst[0] = byte(n << 2)
	default:
		for v := n; v > 0; v >>= 8 {
			dst[head] = byte(v)
			head++
		}
		dst[0] = byte((58 + head) << 2)
	}
	return head + copy(dst[head:], src)
}
