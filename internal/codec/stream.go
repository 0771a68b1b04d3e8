package codec

import (
	"errors"
	"fmt"
	"io"
)

// Stream decompresses one block through a small window; it never holds the
// block whole. One goroutine at a time.
type Stream interface {
	// Read gives decompressed bytes and io.EOF after exactly the block's
	// size. The last byte is given only when the end of the block, its
	// checksums and the end of the source have been found in order. Errors
	// of the source come back unchanged; all others name the codec, and one
	// for a source that ends early wraps io.ErrUnexpectedEOF.
	io.Reader
	// Close gives pooled state back. It is idempotent and does not close
	// the source.
	Close() error
}

// headSize holds any zstd frame header, also behind a small skippable frame.
const headSize = 32

// streamBase covers the stream itself and the allocator's rounding.
const streamBase = 16 << 10

// StreamCost is the bytes of memory a Stream holds in all, from the first
// bytes of the block (32, or all there are) and its uncompressed size.
func (c Codec) StreamCost(head []byte, size int64) (int64, error) {
	switch c {
	case None:
		return streamBase, nil
	case Snappy, LZ4, LZ4Raw:
		return streamBase + windowCost, nil
	case Gzip:
		return streamBase + windowCost + gzipState, nil
	case Brotli:
		bits, err := brotliWindow(head)
		if err != nil {
			return 0, c.damage(err)
		}
		return streamBase + brotliCost(bits), nil
	case Zstd:
		window, err := zstdWindow(head)
		if err == nil {
			_, window, err = zstdClass(window)
		}
		if err != nil {
			return 0, c.damage(err)
		}
		return streamBase + zstdCost(window), nil
	}
	return 0, c.unsupported()
}

// NewStream decompresses a block of size bytes from src, which must end where
// the block does. It reads from src and may read ahead.
func (c Codec) NewStream(src io.Reader, size int64) (Stream, error) {
	if size < 0 {
		return nil, fmt.Errorf("%s: size %d", c, size)
	}
	s := &stream{codec: c, size: size, left: size}
	if err := s.src.open(src, headSize); err != nil {
		return nil, err
	}
	var err error
	switch {
	case c > LZ4Raw:
		return nil, c.unsupported()
	case c == None, size == 0 && s.src.n == 0:
		s.r = &s.src
	case c == Snappy:
		openWindow(&s.feed, &snappyElements{size: size})
	case c == Gzip:
		openGzip(&s.feed)
	case c == Brotli:
		err = openBrotli(&s.feed)
	case c == LZ4, c == LZ4Raw:
		openWindow(&s.feed, newLZ4Elements(c, s.src.peek(), size))
	case c == Zstd:
		err = openZstd(&s.feed, zstdWindow)
	}
	if err != nil {
		err = s.cause(err)
		s.Close()
		return nil, err
	}
	return s, nil
}

// feed is a decoder and what it decodes.
type feed struct {
	src  source
	r    io.Reader // io.EOF where the block or the file ends
	free func()    // gives r back to its pool
}

// cause prefers the source's own error to what a decoder made of it, and
// puts the codec's name in front of the latter.
func (f *feed) cause(name string, err error) error {
	if f.src.err != nil && f.src.err != io.EOF {
		return f.src.err
	}
	return damage(name, err)
}

func (f *feed) close() {
	if f.free != nil {
		f.free()
	}
	*f = feed{}
}

// stream holds a decoder to the size its block should have.
type stream struct {
	codec Codec
	feed
	size, left int64
	err        error
	tail       [1]byte
}

var errClosed = errors.New("read of a closed stream")

func (s *stream) Read(p []byte) (int, error) {
	if s.err != nil || (len(p) == 0 && s.left > 0) {
		return 0, s.err
	}
	if s.left == 0 {
		return 0, s.end()
	}
	p = p[:min(int64(len(p)), s.left)]
	n, err := s.r.Read(p)
	s.left -= int64(n)
	if s.left > 0 {
		if err == io.EOF {
			err = fmt.Errorf("%d bytes, want %d: %w", s.size-s.left, s.size, io.ErrUnexpectedEOF)
		}
		if err != nil {
			s.err = s.cause(err)
		}
		return n, s.err
	}
	if err != nil && err != io.EOF {
		s.err = s.cause(err)
		return 0, s.err
	}
	if s.end() != io.EOF {
		return 0, s.err
	}
	return n, nil
}

// end checks that the block ends here and settles what Read gives from now on.
func (s *stream) end() error {
	err := expectEnd(s.codec, s.r, s.tail[:], s.size)
	if err == nil {
		s.err = io.EOF
	} else {
		s.err = s.cause(err)
	}
	return s.err
}

func (s *stream) cause(err error) error { return s.feed.cause(s.codec.String(), err) }

func (s *stream) Close() error {
	s.close()
	s.err = errClosed
	return nil
}

// source is the compressed input with its first bytes looked at.
type source struct {
	src  io.Reader
	head [fileHead]byte
	r, n int
	err  error // the first that src gave
}

// open reads a head of so many bytes; only a failing reader is an error here.
func (s *source) open(src io.Reader, head int) error {
	s.src = src
	for empty := 0; s.n < head && s.err == nil; {
		var n int
		n, s.err = src.Read(s.head[s.n:head])
		s.n += n
		if n > 0 {
			empty = 0
		} else if empty++; empty == 100 && s.err == nil {
			s.err = io.ErrNoProgress
		}
	}
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

func (s *source) peek() []byte { return s.head[s.r:s.n] }

func (s *source) Read(p []byte) (int, error) {
	if s.r < s.n {
		n := copy(p, s.head[s.r:s.n])
		s.r += n
		return n, nil
	}
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.src.Read(p)
	s.err = err
	return n, err
}
