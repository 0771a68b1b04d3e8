package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/weir-data/weir/internal/stream"
)

var (
	// ErrGone is the end of everything: the parent closed the loader or died.
	ErrGone = errors.New("the process that reads this loader is gone")
	// ErrAbandoned is the end of a run: the parent began another.
	ErrAbandoned = errors.New("the run was abandoned")
)

// Conn is the child's end of the socket and the account of who has which part
// of the arena. Its methods are safe for concurrent use.
type Conn struct {
	sock  *net.UnixConn
	ctx   context.Context
	end   context.CancelCauseFunc
	arena *Arena
	ask   func() []byte // makes a report
	last  *time.Timer   // ends the process

	// writing is held while frames are written; mu may be taken inside it, never
	// the other way round.
	writing sync.Mutex
	out     []byte
	layouts layouts

	mu       sync.Mutex
	changed  sync.Cond // any of the following, or the end of a context
	begun    *begin    // not yet taken by Begin
	run      *Run
	lent     map[uint64]*Slot // with the parent, by id
	lentCost int64
	reserved uint64 // slots that are being filled
	sent     uint64 // batches; also the last id
	taken    uint64 // batches
	freed    uint64 // releases
	told     bool   // the parent has heard full, and nothing has moved since
}

func newConn(ctx context.Context, sock *net.UnixConn) *Conn {
	c := &Conn{sock: sock, lent: map[uint64]*Slot{}}
	c.changed.L = &c.mu
	c.ctx, c.end = context.WithCancelCause(ctx)
	context.AfterFunc(c.ctx, c.wake)
	return c
}

// wake lets everybody who waits look again.
func (c *Conn) wake() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changed.Broadcast()
}

// Hello announces the arena, which stays the caller's, and a description in
// JSON. report, which may be nil, makes the JSON of a report whenever the
// parent asks; it is called on a goroutine of the connection's. Hello comes
// once, before Begin.
func (c *Conn) Hello(a *Arena, description []byte, report func() []byte) error {
	c.mu.Lock()
	c.arena, c.ask = a, report
	c.mu.Unlock()
	c.writing.Lock()
	defer c.writing.Unlock()
	hello := frame(nil, kindHello, func(b []byte) []byte {
		return append(appendU64(appendU32(b, Version), uint64(a.Size())), description...)
	})
	n, _, err := c.sock.WriteMsgUnix(hello, unix.UnixRights(int(a.file.Fd())), nil)
	if err == nil && n < len(hello) {
		_, err = c.sock.Write(hello[n:])
	}
	return c.lost(err)
}

// Log sends a line for the parent's log; levels are those of Python's logging:
// 10 debug, 20 info, 30 warning, 40 error.
func (c *Conn) Log(level byte, text string) error {
	return c.send(kindMessage, func(b []byte) []byte { return append(append(b, level), text...) })
}

// fail tells the parent why the child ends.
func (c *Conn) fail(kind string, text string) error {
	return c.send(kindError, func(b []byte) []byte {
		return append(append(append(b, byte(len(kind))), kind...), text...)
	})
}

func (c *Conn) send(kind byte, body func([]byte) []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	return c.write(frame(c.out[:0], kind, body))
}

// write sends frames that were made in c.out; the caller holds writing.
func (c *Conn) write(frames []byte) error {
	if c.out = frames[:0]; cap(frames) > frameLimit {
		c.out = nil
	}
	_, err := c.sock.Write(frames)
	return c.lost(err)
}

// lost makes ErrGone of an error of the socket: nothing else can be wrong with
// one of its kind.
func (c *Conn) lost(err error) error {
	if err == nil {
		return nil
	}
	c.end(fmt.Errorf("%w: %w", ErrGone, err))
	return context.Cause(c.ctx)
}

// hear does what a frame of the parent says.
func (c *Conn) hear(kind byte, p []byte) error {
	switch kind {
	case kindBegin:
		b, err := parseBegin(p)
		if err == nil {
			c.hearBegin(b)
		}
		return err
	case kindAck:
		return c.hearAck(p)
	case kindAsk:
		return c.hearAsk()
	}
	return fmt.Errorf("%w: a frame of kind %q", ErrProtocol, kind)
}

func (c *Conn) hearBegin(b begin) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun = &b
	if c.run != nil {
		c.run.abandon()
	}
	c.changed.Broadcast()
}

func (c *Conn) hearAck(p []byte) error {
	taken, ids, err := parseAck(p)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if taken < c.taken || taken > c.sent {
		return fmt.Errorf("%w: %d batches taken, %d before, %d sent", ErrProtocol, taken, c.taken, c.sent)
	}
	c.taken = taken
	for ; len(ids) > 0; ids = ids[8:] {
		id := binary.LittleEndian.Uint64(ids)
		slot, ok := c.lent[id]
		if !ok {
			return fmt.Errorf("%w: batch %d was released and is not out", ErrProtocol, id)
		}
		delete(c.lent, id)
		c.lentCost -= slot.cost()
		c.arena.free(slot)
		c.freed++
		c.told = false
	}
	c.changed.Broadcast()
	return nil
}

func (c *Conn) hearAsk() error {
	c.mu.Lock()
	ask := c.ask
	c.mu.Unlock()
	text := []byte("{}")
	err := stream.Guard(func() error {
		if ask != nil {
			text = ask()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return c.send(kindReport, func(b []byte) []byte { return append(b, text...) })
}
