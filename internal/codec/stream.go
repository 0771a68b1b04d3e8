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
		return streamBase + gzipState + gzipInput, nil
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
	if err := s.src.open(src); err != nil {
		return nil, err
	}
	var err error
	switch {
	case c > LZ4Raw:
		return nil, c.unsupported()
	case c == None, size == 0 && s.src.n == 0:
		s.r = &s.src
	case c == Snappy:
		openWindow(s, &snappyElements{size: size})
	case c == Gzip:
		err = openGzip(s)
	case c == Brotli:
		err = openBrotli(s)
	case c == LZ4, c == LZ4Raw:
		openWindow(s, newLZ4Elements(c, s.src.peek(), size))
	case c == Zstd:
		err = openZstd(s)
	}
	if err != nil {
		err = s.cause(err)
		s.Close()
		return nil, err
	}
	return s, nil
}

// stream holds a decoder to the size its block should have.
type stream struct {
	codec      Codec
	src        source
	r          io.Reader // io.EOF where the block ends
	free       func()    // gives r back to its pool
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

// cause prefers the source's own error to what a decoder made of it.
func (s *stream) cause(err error) error {
	if s.src.err != nil && s.src.err != io.EOF {
		return s.src.err
	}
	return s.codec.damage(err)
}

func (s *stream) Close() error {
	if s.free != nil {
		s.free()
		s.free = nil
	}
	s.r, s.src, s.err = nil, source{}, errClosed
	return nil
}

// source is the compressed input with its first bytes looked at.
type source struct {
	src  io.Reader
	head [headSize]byte
	r, n int
	err  error // the first that src gave
}

// open reads the head; only a failing reader is an error here.
func (s *source) open(src io.Reader) error {
	s.src = src
	for s.n < headSize && s.err == nil {
		var n int
		n, s.err = src.Read(s.head[s.n:])
		s.n += n
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
