package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
)

// Chunks of snappy's framing format: a byte of kind, three of length.
const (
	chunkCompressed = 0x00
	chunkStored     = 0x01
	chunkSkippable  = 0x80 // and all above, but for the next
	chunkIdentifier = 0xff

	// chunkMax is the most a chunk decompresses to, by the format.
	chunkMax = 64 << 10
	// chunkInput holds the longest chunk an encoder can make of that.
	chunkInput = 32 + chunkMax + chunkMax/6 + 8

	snappyFrameCost = chunkInput + chunkMax + slack
)

var (
	errSnappySum   = errors.New("checksum differs")
	errSnappyChunk = errors.New("chunk longer than the format allows")
	castagnoli     = crc32.MakeTable(crc32.Castagnoli)
)

// snappyFrames decodes chunk by chunk; the window's buffer holds one.
type snappyFrames struct {
	window
	begun  bool
	failed error
}

func (s *snappyFrames) Read(p []byte) (int, error) {
	for s.out == s.wr {
		if s.failed != nil {
			return 0, s.failed
		}
		s.out, s.wr = 0, 0
		s.failed = s.chunk()
	}
	n := copy(p, s.buf[s.out:s.wr])
	s.out += n
	return n, nil
}

// chunk reads the next chunk; io.EOF comes behind the last.
func (s *snappyFrames) chunk() error {
	have, err := s.need(4)
	if err != nil {
		return err
	}
	if have == 0 && s.begun {
		return io.EOF
	}
	head, err := s.le32()
	if err != nil {
		return err
	}
	kind, n := byte(head), int(head>>8)
	if !s.begun && kind != chunkIdentifier {
		return errors.New("no stream identifier")
	}
	switch {
	case kind == chunkIdentifier:
		return s.identifier(n)
	case kind == chunkCompressed || kind == chunkStored:
		return s.data(kind, n)
	case kind >= chunkSkippable:
		return s.skip(int64(n))
	}
	return fmt.Errorf("chunk of unknown kind %#02x", kind)
}

func (s *snappyFrames) identifier(n int) error {
	want := magicSnappy[4:]
	have, err := s.need(len(want))
	if err != nil {
		return err
	}
	if n != len(want) || string(s.in[s.r:s.r+min(have, n)]) != want[:min(have, n)] {
		return errors.New("unknown stream identifier")
	}
	if have < n {
		return io.ErrUnexpectedEOF
	}
	s.r += n
	s.begun = true
	return nil
}

func (s *snappyFrames) data(kind byte, n int) error {
	if n < 4 || n > chunkInput {
		return errSnappyChunk
	}
	have, err := s.need(n)
	if err != nil {
		return err
	}
	if have < n {
		return io.ErrUnexpectedEOF
	}
	sum := binary.LittleEndian.Uint32(s.in[s.r:])
	body := s.in[s.r+4 : s.r+n]
	s.r += n
	size := len(body)
	if kind == chunkCompressed {
		told, used := binary.Uvarint(body)
		if used <= 0 || told > chunkMax {
			return errSnappyChunk
		}
		size = int(told)
	}
	if size > chunkMax {
		return errSnappyChunk
	}
	if kind == chunkStored {
		copy(s.buf, body)
	} else if err := snappyBlock(s.buf[:size:size+Slack], body); err != nil {
		return err
	}
	if sum != chunkSum(s.buf[:size]) {
		return errSnappySum
	}
	s.wr = size
	return nil
}

var snappyFramesPool = sync.Pool{New: func() any {
	s := &snappyFrames{}
	s.in = make([]byte, chunkInput)
	s.buf = make([]byte, chunkMax+slack)
	return s
}}

func openSnappyFrames(f *feed) {
	s := snappyFramesPool.Get().(*snappyFrames)
	*s = snappyFrames{window: window{src: &f.src, in: s.in, buf: s.buf}}
	f.r = s
	f.free = func() {
		*s = snappyFrames{window: window{in: s.in, buf: s.buf}}
		snappyFramesPool.Put(s)
	}
}
