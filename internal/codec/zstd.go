package codec

import (
	"bufio"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	zstdBlock = 128 << 10 // the format's largest block
	zstdInput = 8 << 10   // a block header and its data: two reads of the source
	// zstdTables covers Huffman and FSE tables and the decoder itself.
	zstdTables = 64 << 10
	// zstdSequences is what arm64 adds for far matches: the format's most
	// sequences of a block, 24 bytes each.
	zstdSequences = 98047 * 24
	// zstdMaxWindow is the reference decoder's own limit.
	zstdMaxWindow = 2 << 30
	// Larger windows are not worth holding unpaid between streams.
	zstdPoolWindow = 8 << 20
)

// zstdState is what a decoder holds beside its window: one block of output
// and one of literals, or of output alone.
var zstdState = func() int64 {
	n := int64(2*zstdBlock + zstdTables)
	if runtime.GOARCH == "arm64" {
		n += zstdSequences
	}
	return n
}()

func (d *Decoder) unzstd(dst, src []byte) error {
	if d.zstd == nil {
		dec, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(1<<40), // dst is the window: only its capacity limits
			zstd.WithDecoderMaxWindow(1<<40),
			zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return err
		}
		d.zstd = dec
	}
	out, err := d.zstd.DecodeAll(src, dst[:0])
	switch {
	case errors.Is(err, zstd.ErrDecoderSizeExceeded):
		return fmt.Errorf("zstd: more than %d bytes", len(dst))
	case err != nil:
		return Zstd.damage(err)
	case len(out) != len(dst):
		return wrongSize(Zstd, len(out), len(dst))
	}
	return nil
}

// zstdWindow finds the window of the first frame in head. When a skippable
// frame reaches past head it gives the least there is, and a stream will end
// in ErrWindow if that was too little.
func zstdWindow(head []byte) (uint64, error) {
	var h zstd.Header
	for {
		err := h.Decode(head)
		switch {
		case err != nil:
			return 0, err
		case h.Skippable:
			skip := int64(h.HeaderSize) + int64(h.SkippableSize)
			if skip >= int64(len(head)) {
				return zstd.MinWindowSize, nil
			}
			head = head[skip:]
		case h.SingleSegment:
			return max(h.FrameContentSize, zstd.MinWindowSize), nil
		default:
			return h.WindowSize, nil
		}
	}
}

// zstdClass rounds a window up to the next size the format's window byte can
// say, at most an eighth more.
func zstdClass(window uint64) (class int, size uint64, err error) {
	for class = range 256 {
		base := uint64(1) << (10 + class>>3)
		size = base + base/8*uint64(class&7)
		if size >= window {
			return class, size, nil
		}
	}
	return 0, 0, fmt.Errorf("zstd: window of %d bytes", window)
}

// zstdCost is what a stream with a window of the given size holds: a ring of
// the window and two blocks, a block of input, and the state.
func zstdCost(window uint64) int64 {
	block := min(int64(window), zstdBlock)
	return int64(window) + 2*block + zstdBlock + zstdInput + zstdState
}

type zstdStream struct {
	in *bufio.Reader
	*zstd.Decoder
}

// zstdPools has decoders by the class of their window, so that a decoder
// never holds more than the cost of the stream it serves.
var zstdPools [256]sync.Pool

// openZstd decodes with the window that find sees in the first bytes.
func openZstd(f *feed, find func(head []byte) (uint64, error)) error {
	window, err := find(f.src.peek())
	if err != nil {
		return err
	}
	class, window, err := zstdClass(window)
	if err != nil {
		return err
	}
	if window > zstdMaxWindow {
		return fmt.Errorf("zstd: window of %d bytes: %w", window, ErrWindow)
	}
	z, _ := zstdPools[class].Get().(*zstdStream)
	if z == nil {
		dec, err := zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1),
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(window),
			zstd.WithDecoderMaxWindow(window))
		if err != nil {
			return err
		}
		z = &zstdStream{bufio.NewReaderSize(nil, zstdInput), dec}
	}
	z.in.Reset(&f.src)
	f.r = z
	f.free = func() {
		z.in.Reset(nil)
		if z.Reset(nil) == nil && window <= zstdPoolWindow {
			zstdPools[class].Put(z)
		}
	}
	return z.Reset(z.in)
}

func (z *zstdStream) Read(p []byte) (int, error) {
	n, err := z.Decoder.Read(p)
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || errors.Is(err, zstd.ErrWindowSizeExceeded) {
		err = fmt.Errorf("zstd: %w", ErrWindow)
	}
	return n, err
}
