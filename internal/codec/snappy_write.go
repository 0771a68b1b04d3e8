package codec

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/snappy"
)

// snappyPiece is what is compressed at a time: the most the framing format
// allows, and what encoders of bare blocks work in, so that a stream with a
// window of 64 KiB reads them.
const snappyPiece = chunkMax

// snappyWriteCost is what the writers below hold.
const snappyWriteCost = streamBase + 2*snappyPiece + snappyPiece/6 + 64

// snappyPieces collects what is written and compresses it piece by piece.
type snappyPieces struct {
	w            io.Writer
	piece, block []byte
	err          error // the first; nothing is written after it
}

func newSnappyPieces(w io.Writer) snappyPieces {
	return snappyPieces{w: w, piece: make([]byte, 0, snappyPiece), block: make([]byte, snappy.MaxEncodedLen(snappyPiece))}
}

func (s *snappyPieces) put(b []byte) {
	if s.err == nil {
		_, s.err = s.w.Write(b)
	}
}

// add calls flush for every full piece.
func (s *snappyPieces) add(p []byte, flush func()) (int, error) {
	n := 0
	for n < len(p) && s.err == nil {
		k := min(snappyPiece-len(s.piece), len(p)-n)
		s.piece = append(s.piece, p[n:n+k]...)
		if n += k; len(s.piece) == snappyPiece {
			flush()
			s.piece = s.piece[:0]
		}
	}
	return n, s.err
}

// snappyFrameWriter writes the framing format.
type snappyFrameWriter struct {
	snappyPieces
	closed bool
}

func newSnappyFrameWriter(w io.Writer) io.WriteCloser {
	s := &snappyFrameWriter{snappyPieces: newSnappyPieces(w)}
	s.put([]byte(magicSnappy))
	return s
}

func (s *snappyFrameWriter) Write(p []byte) (int, error) { return s.add(p, s.flush) }

func (s *snappyFrameWriter) flush() {
	kind, body := byte(chunkCompressed), snappy.Encode(s.block, s.piece)
	if len(body) >= len(s.piece) {
		kind, body = chunkStored, s.piece
	}
	head := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+4)<<8|uint32(kind))
	s.put(binary.LittleEndian.AppendUint32(head, chunkSum(s.piece)))
	s.put(body)
}

func (s *snappyFrameWriter) Close() error {
	if !s.closed && len(s.piece) > 0 {
		s.flush()
	}
	s.closed = true
	return s.err
}

// SnappyBlockWriteCost is the bytes of memory a writer of
// NewSnappyBlockWriter holds.
const SnappyBlockWriteCost int64 = snappyWriteCost

// NewSnappyBlockWriter writes one bare snappy block of size bytes to w, which
// SnappyBlockFile and the snappy libraries' plain calls read. Writing another
// number of bytes is an error, at Close at the latest.
func NewSnappyBlockWriter(w io.Writer, size int64) (io.WriteCloser, error) {
	if size < 0 || size > 1<<32-1 {
		return nil, fmt.Errorf("snappy: a block cannot have %d bytes", size)
	}
	s := &snappyBlockWriter{snappyPieces: newSnappyPieces(w), size: size, left: size}
	s.put(binary.AppendUvarint(nil, uint64(size)))
	return s, s.err
}

type snappyBlockWriter struct {
	snappyPieces
	size, left int64
	closed     bool
}

func (s *snappyBlockWriter) Write(p []byte) (int, error) {
	if int64(len(p)) > s.left && s.err == nil {
		s.err = fmt.Errorf("snappy: more than the %d bytes the block should have", s.size)
	}
	n, err := s.add(p, s.flush)
	s.left -= int64(n)
	return n, err
}

func (s *snappyBlockWriter) flush() {
	block := snappy.Encode(s.block, s.piece)
	_, n := binary.Uvarint(block) // the piece's own size
	s.put(block[n:])
}

func (s *snappyBlockWriter) Close() error {
	if s.err == nil && s.left > 0 {
		s.err = fmt.Errorf("snappy: %d bytes, the block should have %d", s.size-s.left, s.size)
	}
	if !s.closed && len(s.piece) > 0 {
		s.flush()
	}
	s.closed = true
	return s.err
}

// chunkSum is the checksum of the framing format.
func chunkSum(b []byte) uint32 {
	sum := crc32.Checksum(b, castagnoli)
	return (sum>>15 | sum<<17) + 0xa282ead8
}
