package wire

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stream"
)

// parent is the other end of the wire, driven by a test.
type parent struct {
	t     *testing.T
	sock  *net.UnixConn
	in    *bufio.Reader
	buf   bytes.Buffer
	child *stream.Future
	late  chan struct{} // gets a value instead of the process's end
}

type worker = func(ctx context.Context, c *Conn, config []byte) error

// begins starts work at the other end of a socketpair and sends it a
// configuration.
func begins(t *testing.T, work worker) *parent {
	t.Helper()
	p := unstarted(t, work)
	p.send(kindStart, append(appendU32(nil, Version), "{}"...))
	return p
}

func unstarted(t *testing.T, work worker) *parent {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := adopt(fds[0])
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := adopt(fds[1])
	if err != nil {
		t.Fatal(err)
	}
	p := &parent{t: t, sock: ours, in: bufio.NewReader(ours), late: make(chan struct{}, 1)}
	p.child = stream.Async(func() error {
		return serve(context.Background(), theirs, func() { p.late <- struct{}{} }, work)
	})
	t.Cleanup(func() { ours.Close() })
	return p
}

func (p *parent) send(kind byte, payload []byte) {
	p.t.Helper()
	_, err := p.sock.Write(frame(nil, kind, func(b []byte) []byte { return append(b, payload...) }))
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *parent) begin(run, ahead uint32, epoch, position uint64) {
	p.send(kindBegin, appendU64(appendU32(nil, run, ahead), epoch, position))
}

func (p *parent) ack(taken uint64, ids ...uint64) {
	p.send(kindAck, appendU64(nil, append([]uint64{taken}, ids...)...))
}

// next is the next frame, which must be of this kind.
func (p *parent) next(kind byte) []byte {
	p.t.Helper()
	got, payload, err := readFrame(p.in, &p.buf, 1<<20)
	if err != nil || got != kind {
		p.t.Fatalf("frame %q %v (%q), want %q", got, err, payload, kind)
	}
	return bytes.Clone(payload)
}

// batch is the id and run of the next batch frame.
func (p *parent) batch() (id uint64, run uint32) {
	p.t.Helper()
	b := p.next(kindBatch)
	return binary.LittleEndian.Uint64(b[4:]), binary.LittleEndian.Uint32(b)
}

// leave hangs up and returns how the child ended.
func (p *parent) leave() error {
	p.sock.Close()
	return p.child.Wait()
}

// batches is work that sends empty batches of a size for ever, in an arena of
// so many of them.
func batches(t *testing.T, size, room int) worker {
	return func(ctx context.Context, c *Conn, _ []byte) error {
		b := mem.New(int64(size*room) + 1<<20)
		a, err := NewArena(ctx, b, int64(size*room))
		if err != nil {
			return err
		}
		defer func() {
			if a.Close(); b.Leased() != 0 {
				t.Errorf("%d bytes leased after the arena was closed", b.Leased())
			}
		}()
		if err := c.Hello(a, []byte("{}"), nil); err != nil {
			return err
		}
		for {
			run, err := c.Begin()
			if err != nil {
				return err
			}
			for err == nil {
				var s *Slot
				if s, err = run.Reserve(size); err == nil {
					err = run.Send(s, Batch{Rows: 1, Layout: Layout{'t', "[]"}, Epoch: run.Epoch, Position: run.Position})
				}
			}
			if context.Cause(run.Context()) != ErrAbandoned {
				return err
			}
		}
	}
}

// received takes the descriptor that came with hello.
func (p *parent) received() *os.File {
	p.t.Helper()
	buf, oob := make([]byte, 1<<16), make([]byte, 64)
	n, oobn, _, _, err := p.sock.ReadMsgUnix(buf, oob)
	if err != nil || n < 5 || buf[4] != kindHello {
		p.t.Fatalf("%q %v instead of hello", buf[:n], err)
	}
	msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
	if err != nil || len(msgs) != 1 {
		p.t.Fatal("no descriptor with hello", err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil || len(fds) != 1 {
		p.t.Fatal("not one descriptor with hello", fds, err)
	}
	p.in = bufio.NewReader(p.sock)
	return os.NewFile(uintptr(fds[0]), "arena")
}
