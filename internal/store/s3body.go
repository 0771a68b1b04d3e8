package store

import (
	"errors"
	"fmt"
	"io"
	"sync"
)

// sentBody is the body of a request whose bytes lie outside the Go heap. The
// HTTP client may read a body after the request has returned; detach makes
// that an error instead of a read of memory that is someone else's.
type sentBody struct {
	mu   sync.Mutex
	data []byte
	at   int
	gone bool
	sent func() // called with every piece read
}

var errDetached = errors.New("the request is over")

// Read copies, so that nobody holds the memory between two calls.
func (b *sentBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.gone:
		return 0, errDetached
	case b.at == len(b.data):
		return 0, io.EOF
	}
	n := copy(p, b.data[b.at:])
	b.at += n
	b.sent()
	return n, nil
}

// Seek serves the client, which reads a body twice: for its digest, and to
// send it.
func (b *sentBody) Seek(off int64, whence int) (int64, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch whence {
	case io.SeekCurrent:
		off += int64(b.at)
	case io.SeekEnd:
		off += int64(len(b.data))
	}
	if off < 0 || off > int64(len(b.data)) {
		return 0, fmt.Errorf("seek to %d of %d", off, len(b.data))
	}
	b.at = int(off)
	return off, nil
}

// detach waits for a Read under way; there are none after it.
func (b *sentBody) detach() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.data, b.at, b.gone = nil, 0, true
}
