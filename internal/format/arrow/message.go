package arrow

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Kinds of messages, as the format numbers them.
const (
	schemaMessage = 1
	dictMessage   = 2
	batchMessage  = 3
)

// Versions of the metadata. Before version 5 unions and
// runs had a validity bitmap.
const (
	version4 = 3
	version5 = 4
)

const (
	// metaMost is the most metadata a message or a footer may have: a batch
	// of 100,000 columns has 10 MiB.
	metaMost = 64 << 20
	// localPiece and remotePiece are how much is read where some hundred
	// bytes are wanted: a page, or what a round trip gives for free.
	localPiece  = 4 << 10
	remotePiece = 64 << 10
)

// direct reads and counts the time it takes.
type direct struct {
	store.Reader
	waits *stream.Waits
}

func (d direct) ReadAt(ctx context.Context, p []byte, off int64) error {
	start := time.Now()
	err := d.Reader.ReadAt(ctx, p, off)
	d.waits.Store.Add(int64(time.Since(start)))
	if err != nil {
		return &readError{err}
	}
	return nil
}

// readError marks what the store said, which names its place itself.
type readError struct{ err error }

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// inFile says which file an error is of.
func inFile(name string, err error) error {
	var r *readError
	if errors.As(err, &r) {
		return r.err
	}
	return fmt.Errorf("arrow: %s: %w", name, err)
}

// peeker reads short ranges through a buffer. It holds the larger of a piece
// and the longest range that was asked for.
type peeker struct {
	r   direct
	buf []byte
	at  int64 // where buf begins in the file
}

// piece is how much is read at once.
func (p *peeker) piece() int64 {
	if p.r.Remote() {
		return remotePiece
	}
	return localPiece
}

// bytes are n bytes at off, valid until the next call.
func (p *peeker) bytes(ctx context.Context, off int64, n int) ([]byte, error) {
	if off < p.at || off+int64(n) > p.at+int64(len(p.buf)) {
		if off < 0 || int64(n) > p.r.Size()-off {
			return nil, damaged("bytes %d to %d of %d: %w", off, off+int64(n), p.r.Size(), io.ErrUnexpectedEOF)
		}
		size := int(min(max(int64(n), p.piece()), p.r.Size()-off))
		if size > cap(p.buf) {
			p.buf = make([]byte, size)
		}
		p.buf, p.at = p.buf[:size], off
		if err := p.r.ReadAt(ctx, p.buf, off); err != nil {
			p.buf = p.buf[:0]
			return nil, err
		}
	}
	return p.buf[off-p.at:][:n:n], nil
}

// message is one message's description.
type message struct {
	flat    flat
	kind    byte
	version int16
	head    table
	body    int64 // where its buffers lie
	bodyLen int64
}

// end is where the next message of a stream begins.
func (m *message) end() int64 { return m.body + m.bodyLen }

// message reads the message at at; io.EOF is the end of a stream. Its tables
// are valid until p is used again.
func (p *peeker) message(ctx context.Context, at int64, m *message) error {
	left := p.r.Size() - at
	if left == 0 {
		return io.EOF
	}
	b, err := p.bytes(ctx, at, int(min(8, max(left, 4))))
	if err != nil {
		return err
	}
	prefix, n := int64(4), binary.LittleEndian.Uint32(b)
	if n == 1<<32-1 {
		if len(b) < 8 {
			return damaged("the message at byte %d: %w", at, io.ErrUnexpectedEOF)
		}
		prefix, n = 8, binary.LittleEndian.Uint32(b[4:])
	}
	if n == 0 {
		return p.checkEnd(ctx, at+prefix)
	}
	if n > metaMost {
		return damaged("the message at byte %d has %d bytes of metadata", at, n)
	}
	if b, err = p.bytes(ctx, at+prefix, int(n)); err != nil {
		return err
	}
	if err := m.parse(b); err != nil {
		return damaged("the message at byte %d: %w", at, err)
	}
	m.body = at + prefix + int64(n)
	if m.bodyLen < 0 || m.bodyLen > p.r.Size()-m.body {
		return damaged("the message at byte %d has %d bytes, %d are left: %w", at, m.bodyLen, p.r.Size()-m.body, io.ErrUnexpectedEOF)
	}
	return nil
}

// checkEnd holds that nothing follows the end of a stream: of streams put one
// behind another only the first would be read.
func (p *peeker) checkEnd(ctx context.Context, at int64) error {
	n := min(8, p.r.Size()-at)
	b, err := p.bytes(ctx, at, int(n))
	if err != nil {
		return err
	}
	for _, c := range b {
		if c != 0 {
			return damaged("%d bytes follow the end of the stream at byte %d", p.r.Size()-at, at)
		}
	}
	return io.EOF
}

// parse reads a Message table.
func (m *message) parse(b []byte) error {
	m.flat = flat{b: b}
	t := m.flat.root()
	m.version, m.kind, m.head, m.bodyLen = t.int16(0, 0), t.byte(1), t.table(2), t.int64(3)
	switch {
	case m.flat.bad || !m.head.there():
		return damaged("its metadata is damaged")
	case m.version < version4 || m.version > version5:
		return damaged("metadata of version %d is not read", m.version+1)
	}
	return nil
}
