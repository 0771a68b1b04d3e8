package codec

import (
	"fmt"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/dsnet/compress/bzip2"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// Lowest is the level a format calls 0, where it has one: gzip and brotli. A
// level of 0 means the compression's own choice.
const Lowest = -1

const (
	// writeWindow is how far back zstd and brotli look: little enough to be
	// paid for beside everything else, and decoders pay the same.
	writeWindow     = 1 << writeWindowBits
	writeWindowBits = 20

	zstdLevel  = 3 // as the zstd command
	bzip2Level = 9 // as the bzip2 command
)

// levels gives the levels of a compression; two zeros when it has none.
func (f File) levels() (lowest, highest int) {
	switch f {
	case GzipFile:
		return Lowest, 9
	case ZstdFile:
		return 1, 22
	case Bzip2File, LZ4File:
		return 1, 9
	case BrotliFile:
		return Lowest, 11
	}
	return 0, 0
}

func (f File) noLevel(level string) error {
	lo, hi := f.levels()
	if hi == 0 {
		return fmt.Errorf("compression %s has no levels: leave out %q", f, level)
	}
	if lo == Lowest {
		lo = 0
	}
	return fmt.Errorf("compression %s: level %q is not one of %d to %d", f, level, lo, hi)
}

// NewWriter compresses to w what is written to it, in the calling goroutine.
// Level 0 is the compression's own choice. Close writes what is left, and
// does not close w. xz is only read; SnappyBlockFile begins with its size and
// has NewSnappyBlockWriter.
func (f File) NewWriter(w io.Writer, level int) (io.WriteCloser, error) {
	if lo, hi := f.levels(); level != 0 && (level < lo || level > hi) {
		return nil, f.noLevel(fmt.Sprint(level))
	}
	switch f {
	case PlainFile:
		return plainWriter{w}, nil
	case GzipFile:
		return gzip.NewWriterLevel(w, own(level, gzip.DefaultCompression))
	case ZstdFile:
		return zstd.NewWriter(w,
			zstd.WithEncoderConcurrency(1),
			zstd.WithLowerEncoderMem(true),
			zstd.WithWindowSize(writeWindow),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(own(level, zstdLevel))))
	case Bzip2File:
		return bzip2.NewWriter(w, &bzip2.WriterConfig{Level: own(level, bzip2Level)})
	case LZ4File:
		return newLZ4Writer(w, level)
	case SnappyFile:
		return newSnappyFrameWriter(w), nil
	case BrotliFile:
		return brotli.NewWriterOptions(w, brotli.WriterOptions{
			Quality: own(level, brotli.DefaultCompression), LGWin: writeWindowBits}), nil
	}
	return nil, fmt.Errorf("%s cannot be written", f)
}

// own turns a level of this package into one of a format.
func own(level, byDefault int) int {
	switch level {
	case 0:
		return byDefault
	case Lowest:
		return 0
	}
	return level
}

// newLZ4Writer writes linked-free blocks of 256 KiB and a sum of the content.
func newLZ4Writer(w io.Writer, level int) (io.WriteCloser, error) {
	z := lz4.NewWriter(w)
	speed := lz4.Fast
	if level > 0 {
		speed = lz4.Level1 << (level - 1)
	}
	err := z.Apply(lz4.BlockSizeOption(lz4.Block256Kb), lz4.ConcurrencyOption(1),
		lz4.CompressionLevelOption(speed), lz4.ChecksumOption(true))
	return z, err
}

type plainWriter struct{ io.Writer }

func (plainWriter) Close() error { return nil }

// WriteCost is the bytes of memory a writer of NewWriter holds in all.
func (f File) WriteCost(level int) int64 {
	switch f {
	case GzipFile:
		return 3 << 19
	case ZstdFile:
		switch zstd.EncoderLevelFromZstd(own(level, zstdLevel)) {
		case zstd.SpeedFastest:
			return 3 << 20
		case zstd.SpeedDefault:
			return 4 << 20
		case zstd.SpeedBetterCompression:
			return 8 << 20
		}
		return 40 << 20
	case Bzip2File:
		// A suffix array of two words a byte, and what sorting it takes.
		return int64(own(level, bzip2Level)) * 3 << 20
	case LZ4File:
		return 2 << 20
	case SnappyFile:
		return snappyWriteCost
	case BrotliFile:
		return brotliWriteCosts[own(level, brotli.DefaultCompression)]
	}
	return streamBase
}

// brotliWriteCosts has what a writer of each level holds: its input of a
// window, and hash tables.
var brotliWriteCosts = [...]int64{
	1 << 20, 3 << 20, 6 << 20, 6 << 20, 12 << 20, 14 << 20, 14 << 20,
	24 << 20, 32 << 20, 48 << 20, 40 << 20, 40 << 20,
}
