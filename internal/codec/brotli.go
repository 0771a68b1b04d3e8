package codec

import (
	"bytes"
	"errors"
	"io"
	"sync"

	"github.com/andybalholm/brotli"
)

const (
	brotliMaxWindow = 24 // bits
	// brotliState covers a reader, its 32 KiB input buffer, and the most
	// code tables a block may declare: 256 for literals, 256 for commands,
	// 256 for distances, about 4 KiB each.
	brotliState = 4 << 20
	// Larger windows are not worth holding unpaid between streams.
	brotliPoolWindow = 22
)

var errBrotliHeader = errors.New("brotli: header of no known window")

// brotliCost is what a reader with a window of the given bits holds. The
// ring grows by copying, so half of it may exist a second time.
func brotliCost(bits int) int64 {
	return brotliState + 3<<bits/2
}

// brotliWindow reads the window's bits from the first byte of a block.
func brotliWindow(head []byte) (int, error) {
	if len(head) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := int(head[0])
	switch {
	case b&1 == 0:
		return 16, nil
	case b>>1&7 != 0:
		return 17 + b>>1&7, nil
	case b>>4&7 == 0:
		return 17, nil
	case b>>4&7 == 1:
		return 0, errBrotliHeader
	}
	return 8 + b>>4&7, nil
}

func (d *Decoder) unbrotli(dst, src []byte) (err error) {
	defer func() {
		d.in.Reset(nil)
		if recover() != nil {
			d.brotli, err = nil, errBrotliPanic
		}
	}()
	d.in.Reset(src)
	if d.brotli == nil {
		d.brotli = brotli.NewReader(&d.in)
	} else {
		d.brotli.Reset(&d.in)
	}
	return d.readWhole(Brotli, dst, d.brotli)
}

// errBrotliPanic stands for an index out of range inside the library, a
// translation from C that relies on the bounds checks of Go.
var errBrotliPanic = errors.New("brotli: damaged block")

// brotliStream turns the library's panics into errors.
type brotliStream struct {
	*brotli.Reader
	broken bool
}

func (b *brotliStream) Read(p []byte) (n int, err error) {
	if b.broken {
		return 0, errBrotliPanic
	}
	defer func() {
		if recover() != nil {
			b.broken = true
			n, err = 0, errBrotliPanic
		}
	}()
	return b.Reader.Read(p)
}

// brotliPools has readers by the bits of their window, so that a reader
// never holds more than the cost of the stream it serves.
var brotliPools [brotliPoolWindow + 1]sync.Pool

func openBrotli(f *feed) error {
	bits, err := brotliWindow(f.src.peek())
	if err != nil {
		return err
	}
	b := &brotliStream{}
	if bits <= brotliPoolWindow {
		b.Reader, _ = brotliPools[bits].Get().(*brotli.Reader)
	}
	if b.Reader == nil {
		b.Reader = new(brotli.Reader)
	}
	b.Reset(&f.src)
	f.r = b
	f.free = func() {
		if bits <= brotliPoolWindow && !b.broken {
			b.Reset(bytes.NewReader(nil))
			brotliPools[bits].Put(b.Reader)
		}
	}
	return nil
}
