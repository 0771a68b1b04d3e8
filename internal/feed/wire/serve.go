package wire

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"time"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

const (
	parentLook = time.Second            // how often the child looks who its parent is
	lastWork   = 500 * time.Millisecond // how long work may go on when the parent is gone
)

// Serve is the life of a child process: it takes over the socket fd, reads the
// configuration and calls work, whose context ends with cause ErrGone when the
// parent closes the socket or dies. What work returns is sent to the parent and
// returned, a panic too, except ErrGone, which is how a loader ends: nil.
//
// Ctrl-C is for the parent to act on: Serve makes the process ignore it. Work
// that goes on half a second after the parent is gone is ended with the
// process; nothing that a loader does needs to be finished.
func Serve(ctx context.Context, fd int, work func(ctx context.Context, c *Conn, config []byte) error) error {
	signal.Ignore(os.Interrupt)
	sock, err := adopt(fd)
	if err != nil {
		return err
	}
	late := func() { os.Exit(1) }
	return serve(ctx, sock, late, work)
}

// adopt makes a connection of an inherited descriptor.
func adopt(fd int) (*net.UnixConn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	if f == nil {
		return nil, format.Error(format.ErrUsage, "%d is not a descriptor", fd)
	}
	defer f.Close() // FileConn has one of its own
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, format.Error(format.ErrUsage, "descriptor %d is not a socket: %w", fd, err)
	}
	sock, ok := conn.(*net.UnixConn)
	if !ok {
		_ = conn.Close() // somebody else's
		return nil, format.Error(format.ErrUsage, "descriptor %d is not a Unix socket", fd)
	}
	return sock, nil
}

func serve(ctx context.Context, sock *net.UnixConn, late func(), work func(context.Context, *Conn, []byte) error) error {
	c := newConn(ctx, sock)
	defer c.end(ErrGone)
	c.last = time.AfterFunc(time.Hour, late)
	c.last.Stop()
	in := bufio.NewReader(&parentReader{sock: sock, parent: os.Getppid()})
	config, err := readStart(in)
	if err == nil {
		listening := stream.Async(func() error { return c.listen(in) })
		err = c.reason(stream.Guard(func() error { return work(c.ctx, c, config) }))
		c.close(err)
		_ = listening.Wait() // its error ended the context, if it had one
		c.last.Stop()
	} else {
		c.close(err)
	}
	if errors.Is(err, ErrGone) {
		return nil
	}
	return err
}

// reason is why work ended: a parent that is gone, or talks nonsense, explains
// whatever it returned.
func (c *Conn) reason(err error) error {
	if cause := context.Cause(c.ctx); errors.Is(cause, ErrGone) || errors.Is(cause, ErrProtocol) {
		return cause
	}
	return err
}

// close tells the parent how work ended, and hangs up.
func (c *Conn) close(err error) {
	if err != nil && !errors.Is(err, ErrGone) {
		_ = c.fail(kindOf(err), err.Error()) // a parent that is gone does not miss it
	}
	_ = c.sock.Close() // all was written
}

func readStart(in *bufio.Reader) ([]byte, error) {
	var buf bytes.Buffer
	kind, p, err := readFrame(in, &buf, startLimit)
	if err != nil {
		if !errors.Is(err, ErrProtocol) {
			err = fmt.Errorf("%w: %w", ErrGone, err)
		}
		return nil, err
	}
	return parseStart(kind, p)
}

// listen hears the parent until it is gone, and ends c's context then.
func (c *Conn) listen(in *bufio.Reader) error {
	var buf bytes.Buffer
	for {
		kind, p, err := readFrame(in, &buf, frameLimit)
		if err == nil {
			err = c.hear(kind, p)
		}
		if err == nil {
			continue
		}
		if errors.Is(err, net.ErrClosed) { // by serve: work has ended
			return nil
		}
		if errors.Is(err, ErrProtocol) {
			c.end(err)
			return err
		}
		// A write that nobody will read must not keep work from ending.
		c.end(fmt.Errorf("%w: %w", ErrGone, err))
		_ = c.sock.SetWriteDeadline(time.Now())
		c.last.Reset(lastWork)
		return err
	}
}

// parentReader reads the socket; it ends when the process has another parent
// than at first.
type parentReader struct {
	sock   *net.UnixConn
	parent int
}

func (r *parentReader) Read(p []byte) (int, error) {
	for {
		if err := r.sock.SetReadDeadline(time.Now().Add(parentLook)); err != nil {
			return 0, err
		}
		n, err := r.sock.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		if os.Getppid() != r.parent {
			return 0, io.EOF
		}
	}
}

// kindOf sorts errors for the parent, as exit codes do for a shell.
func kindOf(err error) string {
	var path *fs.PathError
	switch {
	case errors.Is(err, context.Canceled):
		return "interrupted"
	case errors.Is(err, format.ErrUsage):
		return "usage"
	case errors.Is(err, mem.ErrTooSmall):
		return "memory"
	case errors.Is(err, format.ErrData):
		return "data"
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, store.ErrNotFound):
		return "missing"
	case errors.Is(err, store.ErrStore), errors.Is(err, store.ErrChanged), errors.As(err, &path):
		return "store"
	}
	return "other"
}
