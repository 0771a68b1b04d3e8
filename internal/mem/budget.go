// Package mem owns every byte: the Budget that hands out leases, the off-heap
// blocks that leases pay for, and the container's limit.
//
// A Budget counts; it does not allocate. Go-heap memory is paid for with a
// Lease and allocated as usual; bulk data lives in Blocks, which are mapped
// outside the Go heap so that the collector never sees them and the system
// gets them back.
package mem

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// ErrTooSmall is wrapped by every error that says a budget can never hold what
// was asked of it; the way out is a larger --memory.
var ErrTooSmall = errors.New("memory budget too small")

// TooSmallError says how much was asked and how much could ever be had.
type TooSmallError struct {
	Share string // the share that was asked
	Need  int64  // bytes asked
	Limit int64  // bytes the share holds in all
}

func (e *TooSmallError) Error() string {
	return fmt.Sprintf("%s needs %s, its share of memory is %s", e.Share, Format(e.Need), Format(e.Limit))
}

// Unwrap makes errors.Is(err, ErrTooSmall) hold.
func (e *TooSmallError) Unwrap() error { return ErrTooSmall }

// Budget is a number of bytes that leases draw from. The zero value is of no
// use; make the first one with New and the others with Carve. All methods are
// safe for concurrent use.
type Budget struct {
	name  string
	limit int64
	root  *root
	up    *Budget

	mu     sync.Mutex
	used   int64
	peak   int64
	queue  []*waiter // first in, first out
	carved int64
	closed bool
}

// waiter is one blocked Acquire.
type waiter struct {
	n     int64
	ready chan struct{}
	err   error // valid when ready is closed
}

// errClosed is a bug of the caller: a share is closed when nobody uses it.
var errClosed = errors.New("the share of memory is closed")

// New makes a root budget of n bytes.
func New(n int64) *Budget {
	return &Budget{name: "weir", limit: n, root: &root{limit: n}}
}

// Carve takes n bytes out of b for good and returns them as a budget of their
// own. It is meant for plan time: two shares never wait for each other.
func (b *Budget) Carve(name string, n int64) (*Budget, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, fmt.Errorf("%s: %w", b.name, errClosed)
	}
	if b.used+n > b.limit {
		return nil, &TooSmallError{Share: name, Need: n, Limit: b.limit - b.used}
	}
	b.used += n
	b.carved += n
	if b.used > b.peak {
		b.peak = b.used
	}
	return &Budget{name: name, limit: n, root: b.root, up: b}, nil
}

// Close returns a carved share to the budget it came from: what is free at
// once, what is under lease as it is released. Whoever waits for it, or asks it
// later, gets an error. A nil budget and a second call do nothing.
func (b *Budget) Close() {
	if b == nil || b.up == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.closed = true
	for _, w := range b.queue {
		w.err = fmt.Errorf("%s: %w", b.name, errClosed)
		close(w.ready)
	}
	b.queue = nil
	b.up.mu.Lock()
	b.up.carved -= b.limit
	b.up.mu.Unlock()
	b.up.release(b.limit - b.used)
}

// Limit is the number of bytes the budget was made with.
func (b *Budget) Limit() int64 { return b.limit }

// Used is the number of bytes under lease, carved shares included.
func (b *Budget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Free is the number of bytes not under lease.
func (b *Budget) Free() int64 { return b.limit - b.Used() }

// Peak is the largest value Used has had.
func (b *Budget) Peak() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.peak
}

// Acquire waits, first come first served, until n bytes are free and leases
// them. It fails at once with ErrTooSmall when n is more than the budget will
// ever have, and with the context's error when that ends first.
func (b *Budget) Acquire(ctx context.Context, n int64) (*Lease, error) {
	l, err := b.acquire(ctx, n)
	if err == nil {
		l.heap = true
		b.root.admit(n)
	}
	return l, err
}

// acquire is Acquire without telling the root.
func (b *Budget) acquire(ctx context.Context, n int64) (*Lease, error) {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil, fmt.Errorf("%s: %w", b.name, errClosed)
	}
	if n > b.limit-b.carved {
		free := b.limit - b.carved
		b.mu.Unlock()
		return nil, &TooSmallError{Share: b.name, Need: n, Limit: free}
	}
	if len(b.queue) == 0 && b.used+n <= b.limit {
		b.take(n)
		b.mu.Unlock()
		return &Lease{b: b, n: n}, nil
	}
	w := &waiter{n: n, ready: make(chan struct{})}
	b.queue = append(b.queue, w)
	b.mu.Unlock()
	select {
	case <-w.ready:
		if w.err != nil {
			return nil, w.err
		}
		return &Lease{b: b, n: n}, nil
	case <-ctx.Done():
		return nil, b.abandon(w, ctx.Err())
	}
}

// abandon takes w out of the queue, or gives back what it was granted in the
// moment its context ended.
func (b *Budget) abandon(w *waiter, err error) error {
	b.mu.Lock()
	for i, q := range b.queue {
		if q == w {
			b.queue = append(b.queue[:i], b.queue[i+1:]...)
			b.grant()
			b.mu.Unlock()
			return err
		}
	}
	b.mu.Unlock()
	if w.err == nil {
		b.release(w.n)
	}
	return err
}

// TryAcquire leases n bytes if they are free now and nobody waits for them.
func (b *Budget) TryAcquire(n int64) (*Lease, bool) {
	l, ok := b.tryAcquire(n)
	if ok {
		l.heap = true
		b.root.admit(n)
	}
	return l, ok
}

// tryAcquire is TryAcquire without telling the root.
func (b *Budget) tryAcquire(n int64) (*Lease, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed || len(b.queue) > 0 || b.used+n > b.limit {
		return nil, false
	}
	b.take(n)
	return &Lease{b: b, n: n}, true
}

// take counts n bytes as used; the caller holds mu.
func (b *Budget) take(n int64) {
	b.used += n
	if b.used > b.peak {
		b.peak = b.used
	}
}

func (b *Budget) release(n int64) {
	b.mu.Lock()
	b.used -= n
	if b.used < 0 {
		b.mu.Unlock()
		panic("mem: a lease was released twice")
	}
	b.grant()
	closed := b.closed
	b.mu.Unlock()
	if closed {
		b.up.release(n)
	}
}

// grant serves the queue from its head; the caller holds mu.
func (b *Budget) grant() {
	for len(b.queue) > 0 && b.used+b.queue[0].n <= b.limit {
		w := b.queue[0]
		b.queue = b.queue[1:]
		b.take(w.n)
		close(w.ready)
	}
}

// Lease is the right to use a number of bytes. It is released exactly once.
type Lease struct {
	b    *Budget
	n    int64
	heap bool // for memory on the Go heap, not for a block
}

// Size is the number of bytes the lease pays for.
func (l *Lease) Size() int64 { return l.n }

// Release gives the bytes back. A nil lease and a second call do nothing.
func (l *Lease) Release() {
	if l == nil || l.b == nil {
		return
	}
	b, n := l.b, l.n
	l.b, l.n = nil, 0
	b.root.dismiss(n, l.heap)
	b.release(n)
}

// Shrink gives back all but n bytes; it does nothing when n is not smaller.
func (l *Lease) Shrink(n int64) {
	if n >= l.n {
		return
	}
	give := l.n - n
	l.n = n
	l.b.root.dismiss(give, l.heap)
	l.b.release(give)
}

// TryGrow adds n bytes to the lease if they are free now.
func (l *Lease) TryGrow(n int64) bool {
	more, ok := l.b.TryAcquire(n)
	if ok {
		l.n += more.n
	}
	return ok
}
