package feed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/weir-data/weir/internal/feed/wire"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
)

// Serve is the child process of a loader: the socket is descriptor fd.
func Serve(ctx context.Context, fd int, env Env) error {
	return wire.Serve(ctx, fd, func(ctx context.Context, c *wire.Conn, text []byte) error {
		cfg, err := parse(text)
		if err != nil {
			return err
		}
		l := &loader{Config: cfg, env: env}
		defer l.close()
		feed, err := l.prepare(ctx)
		if err != nil {
			return err
		}
		arena, err := wire.NewArena(ctx, l.arena, l.arena.Limit())
		if err != nil {
			return err
		}
		defer arena.Close()
		if err := c.Hello(arena, l.describe(), l.report); err != nil {
			return err
		}
		for {
			r, err := c.Begin()
			if err != nil {
				return err
			}
			if err := feed(ctx, wired{r}, r.Epoch, r.Position); err != nil && !errors.Is(err, wire.ErrAbandoned) {
				return err
			}
		}
	})
}

// wired is a run as an outlet.
type wired struct{ *wire.Run }

func (w wired) Reserve(n int) (slot, error) {
	s, err := w.Run.Reserve(n)
	if err != nil {
		return nil, err
	}
	return s, nil
}

func (w wired) Discard(s slot)                  { w.Run.Discard(s.(*wire.Slot)) }
func (w wired) Send(s slot, b wire.Batch) error { return w.Run.Send(s.(*wire.Slot), b) }
func (w wired) End(epoch, position int64) error { return w.Run.End(epoch, position, nil) }

// feeder makes the batches of an epoch from a position on.
type feeder func(ctx context.Context, out outlet, epoch, position int64) error

// prepare plans everything and divides the memory.
func (l *loader) prepare(ctx context.Context) (feeder, error) {
	var err error
	if l.memory, err = l.env.Memory(l.Memory); err != nil {
		return nil, err
	}
	l.budget = l.env.Setup(l.memory)
	if l.threads = l.Threads; l.threads == 0 {
		l.threads = l.env.Threads()
	}
	if l.Mode == scanning {
		return l.prepareScan(ctx)
	}
	return l.prepareOrder(ctx)
}

// describe is what the parent is told at first.
func (l *loader) describe() []byte {
	batches := int64(-1)
	if l.Mode != scanning {
		share := l.share()
		steps := share.Steps(l.total, 0)
		batches = 0
		if first := share.Next(0); first < steps {
			batches = (steps-1-first)/int64(max(1, l.Workers)) + 1
		}
	}
	d := map[string]any{"rows": l.total, "batches": batches, "digest": fmt.Sprintf("%016x", l.digest), "version": l.env.Version,
		"memory": map[string]int64{"limit": l.memory, "arena": l.arena.Limit(), "window": l.windows}}
	if l.Mode == matrix {
		d["features"], d["label"] = l.names, l.Label
	} else {
		d["columns"] = l.names
	}
	text, err := json.Marshal(d)
	if err != nil {
		return []byte("{}")
	}
	return text
}

// close gives all memory back.
func (l *loader) close() {
	for _, t := range l.tracks {
		t.reset()
		t.pool.Close()
	}
	for _, r := range l.readers {
		r.close()
	}
	if l.copying != nil {
		l.copying.Close()
	}
}

// leastArena is that of small batches: some dozens of them are ready ahead.
const leastArena = 16 << 20

// pageBytes is what batches are rounded up to.
const pageBytes = 4096

// arenaBytes is the shared memory for batches of so many bytes.
func (l *loader) arenaBytes(batch int64) int64 {
	batch = (batch + pageBytes - 1) / pageBytes * pageBytes
	if l.Buffer > 0 {
		return max(l.Buffer, 2*batch)
	}
	return max(leastArena, 8*batch)
}

// tooSmall refuses a memory.
func (l *loader) tooSmall(reading, windows, batches, heap int64) error {
	need := run.Base + reading + windows + batches + heap
	return format.Error(mem.ErrTooSmall, "memory %s is too small: reading needs %s, windows %s, batches %s, the program %s; try memory=%q",
		mem.Format(l.memory), mem.Format(reading), mem.Format(windows), mem.Format(batches), mem.Format(run.Base+heap), mem.Flag(need))
}
