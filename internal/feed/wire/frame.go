package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kinds of frames; doc.go says what is in them.
const (
	kindStart = 'S'
	kindBegin = 'G'
	kindAck   = 'A'
	kindAsk   = 'Q'

	kindHello   = 'H'
	kindLayout  = 'L'
	kindBatch   = 'B'
	kindEnd     = 'E'
	kindFull    = 'F'
	kindError   = 'X'
	kindMessage = 'M'
	kindReport  = 'R'
)

const (
	startLimit = 4 << 20  // bytes of a start frame: a configuration may list many files
	frameLimit = 64 << 10 // bytes of any other frame from the parent
)

// ErrProtocol is wrapped by errors about what the other end sent: a bug, or
// another program at the other end.
var ErrProtocol = errors.New("the loader's two processes do not understand each other")

// frame appends a frame whose payload body appends.
func frame(dst []byte, kind byte, body func([]byte) []byte) []byte {
	at := len(dst)
	dst = body(append(dst, 0, 0, 0, 0, kind))
	binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
	return dst
}

// readFrame reads the next frame into buf's memory, which grows with what
// really arrives. io.EOF: the stream ended between two frames.
func readFrame(r *bufio.Reader, buf *bytes.Buffer, limit int64) (kind byte, payload []byte, err error) {
	var head [5]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := int64(binary.LittleEndian.Uint32(head[:]))
	if size < 1 || size > limit {
		return 0, nil, fmt.Errorf("%w: a frame of %d bytes", ErrProtocol, size)
	}
	buf.Reset()
	if n, err := buf.ReadFrom(io.LimitReader(r, size-1)); err != nil {
		return 0, nil, err
	} else if n < size-1 {
		return 0, nil, io.ErrUnexpectedEOF
	}
	return head[4], buf.Bytes(), nil
}

// begin is what a begin frame says.
type begin struct {
	run, ahead      uint32
	epoch, position int64
}

func parseBegin(p []byte) (begin, error) {
	if len(p) != 24 {
		return begin{}, fmt.Errorf("%w: a begin frame of %d bytes", ErrProtocol, len(p))
	}
	b := begin{
		run: binary.LittleEndian.Uint32(p), ahead: binary.LittleEndian.Uint32(p[4:]),
		epoch: int64(binary.LittleEndian.Uint64(p[8:])), position: int64(binary.LittleEndian.Uint64(p[16:])),
	}
	if b.ahead == 0 || b.epoch < 0 || b.position < 0 {
		return begin{}, fmt.Errorf("%w: begin at epoch %d, position %d, %d ahead", ErrProtocol, b.epoch, b.position, b.ahead)
	}
	return b, nil
}

// parseAck returns the number of batches taken and the ids released, eight
// bytes each.
func parseAck(p []byte) (taken uint64, ids []byte, err error) {
	if len(p) < 8 || len(p)%8 != 0 {
		return 0, nil, fmt.Errorf("%w: an ack frame of %d bytes", ErrProtocol, len(p))
	}
	return binary.LittleEndian.Uint64(p), p[8:], nil
}

// parseStart returns the configuration of a start frame.
func parseStart(kind byte, p []byte) ([]byte, error) {
	if kind != kindStart || len(p) < 4 {
		return nil, fmt.Errorf("%w: a frame of kind %q and %d bytes before the start", ErrProtocol, kind, len(p))
	}
	if v := binary.LittleEndian.Uint32(p); v != Version {
		return nil, fmt.Errorf("%w: the package speaks protocol %d, this weir %d; install the same version of both",
			ErrProtocol, v, Version)
	}
	return p[4:], nil
}

func appendU32(b []byte, v ...uint32) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, x)
	}
	return b
}

func appendU64(b []byte, v ...uint64) []byte {
	for _, x := range v {
		b = binary.LittleEndian.AppendUint64(b, x)
	}
	return b
}
