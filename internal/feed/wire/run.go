package wire

import (
	"context"

	"github.com/weir-data/weir/internal/mem"
)

// Run is what the parent asked for with one begin: batches from a place on. It
// ends when its context does.
type Run struct {
	Epoch    int64
	Position int64 // samples of the epoch that lie before

	c       *Conn
	ctx     context.Context
	abandon context.CancelFunc
	id      uint32
	ahead   uint64
}

// Batch is what the parent is told about a slot.
type Batch struct {
	Rows     int64
	Layout   Layout
	Epoch    int64
	Position int64  // samples of the epoch that lie before the next batch
	Extra    []byte // JSON; empty: that of the batch before in the run
}

// Begin waits until the parent begins a run, the one before it having ended by
// whatever end. The error is ErrGone, or that of the context of Serve.
func (c *Conn) Begin() (*Run, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run != nil {
		c.run.abandon()
		c.changed.Broadcast()
	}
	for c.begun == nil {
		if c.ctx.Err() != nil {
			return nil, context.Cause(c.ctx)
		}
		c.changed.Wait()
	}
	b := c.begun
	c.begun, c.told = nil, false
	r := &Run{Epoch: b.epoch, Position: b.position, c: c, id: b.run, ahead: uint64(b.ahead)}
	ctx, cancel := context.WithCancelCause(c.ctx)
	r.ctx, r.abandon = ctx, func() { cancel(ErrAbandoned) }
	c.run = r
	return r, nil
}

// Context ends with cause ErrAbandoned when the parent begins another run, and
// with cause ErrGone when it is gone.
func (r *Run) Context() context.Context { return r.ctx }

// over is why the run has ended, nil if it has not. The connection's context is
// asked first: when it ends, whoever waits is woken, which may be before the
// run's own has ended too.
func (r *Run) over() error {
	for _, ctx := range []context.Context{r.c.ctx, r.ctx} {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

// Reserve waits for room for a batch of n bytes. Slots are sent in the order in
// which they were reserved, and filling one must not wait for another. The
// error is mem.ErrTooSmall for a batch that the arena will never hold, else the
// cause for which the run's context ended. The slot is for Send or Discard.
func (r *Run) Reserve(n int) (*Slot, error) {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	if int64(n) > c.arena.Size() {
		return nil, &mem.TooSmallError{Share: "a batch", Need: int64(n), Limit: c.arena.Size()}
	}
	for {
		if err := r.over(); err != nil {
			return nil, err
		}
		if c.sent+c.reserved-c.taken < r.ahead {
			if slot, ok := c.arena.alloc(n); ok {
				c.reserved++
				return slot, nil
			}
			if c.reserved == 0 && !c.told {
				if err := r.full(n); err != nil {
					return nil, err
				}
				continue
			}
		}
		c.changed.Wait()
	}
}

// full tells the parent that nothing goes on without releases. The caller holds
// mu and looks again, for it is let go meanwhile.
func (r *Run) full(need int) error {
	c := r.c
	c.told = true
	freed, batches, bytes := c.freed, uint64(len(c.lent)), uint64(c.lentCost)
	c.mu.Unlock()
	defer c.mu.Lock()
	return c.send(kindFull, func(b []byte) []byte {
		return appendU64(appendU32(b, r.id), freed, batches, bytes, uint64(need))
	})
}

// Discard gives back a slot that will not be sent.
func (r *Run) Discard(s *Slot) {
	c := r.c
	c.mu.Lock()
	defer c.mu.Unlock()
	c.arena.free(s)
	c.reserved--
	c.changed.Broadcast()
}

// Send hands a filled slot to the parent. The slot is the caller's no more,
// whatever Send returns: the run's end, if it came first.
func (r *Run) Send(s *Slot, b Batch) error {
	c := r.c
	if err := r.over(); err != nil {
		r.Discard(s)
		return err
	}
	c.writing.Lock()
	defer c.writing.Unlock()
	out := c.out[:0]
	layout, fresh := c.layouts.number(b.Layout)
	if fresh {
		out = frame(out, kindLayout, func(p []byte) []byte {
			return append(append(appendU32(p, layout), b.Layout.kind), b.Layout.text...)
		})
	}
	c.mu.Lock()
	c.sent++
	c.told = false
	id := c.sent
	c.lent[id] = s
	c.lentCost += s.cost()
	c.mu.Unlock()
	err := c.write(frame(out, kindBatch, func(p []byte) []byte {
		p = appendU32(p, r.id)
		p = appendU64(p, id, uint64(s.at.from)*step, uint64(len(s.bytes)), uint64(b.Rows))
		p = appendU64(appendU32(p, layout), uint64(b.Epoch), uint64(b.Position))
		return append(p, b.Extra...)
	}))
	// Only now: who finds no slot reserved may say full, which must not
	// overtake the batch.
	c.mu.Lock()
	c.reserved--
	c.mu.Unlock()
	c.changed.Broadcast()
	return err
}

// End tells the parent that an epoch has no more batches. Position is that
// behind its last sample; extra is JSON, or empty.
func (r *Run) End(epoch, position int64, extra []byte) error {
	if err := r.over(); err != nil {
		return err
	}
	return r.c.send(kindEnd, func(b []byte) []byte {
		return append(appendU64(appendU32(b, r.id), uint64(epoch), uint64(position)), extra...)
	})
}
