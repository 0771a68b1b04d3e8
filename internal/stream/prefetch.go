package stream

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

// Prefetch pulls in in a goroutine of its own and keeps up to n batches ready,
// so that producer and consumer work at the same time. Closing it closes in.
func Prefetch(in Stream, n int, waits *Waits) Stream {
	ctx, cancel := context.WithCancel(context.Background())
	p := &prefetch{in: in, cursor: in.Cursor(), waits: waits, cancel: cancel, out: make(chan *Batch, n)}
	p.done.Go(func() { p.pull(ctx) })
	return p
}

type prefetch struct {
	in     Stream
	cursor Cursor
	waits  *Waits
	cancel context.CancelFunc
	done   sync.WaitGroup
	out    chan *Batch // closed after the last batch or err
	err    error       // valid when out is closed
	closed bool
}

// pull runs until in ends, fails, or Close is called.
func (p *prefetch) pull(ctx context.Context) {
	defer close(p.out)
	for {
		var b *Batch
		err := Guard(func() (err error) {
			b, err = p.in.Next(ctx)
			return err
		})
		if err != nil {
			p.err = err
			return
		}
		start := time.Now()
		select {
		case p.out <- b:
			p.waits.Consumer.Add(int64(time.Since(start)))
		case <-ctx.Done():
			b.Release()
			p.err = ctx.Err()
			return
		}
	}
}

func (p *prefetch) Schema() *arrow.Schema { return p.in.Schema() }

func (p *prefetch) Cursor() Cursor { return p.cursor }

func (p *prefetch) Next(ctx context.Context) (*Batch, error) {
	if p.closed {
		return nil, io.ErrClosedPipe
	}
	start := time.Now()
	defer func() { p.waits.Decode.Add(int64(time.Since(start))) }()
	select {
	case b, ok := <-p.out:
		if !ok {
			return nil, p.err
		}
		p.cursor = b.After
		return b, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (p *prefetch) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	p.cancel()
	for b := range p.out {
		b.Release()
	}
	p.done.Wait()
	return p.in.Close()
}
