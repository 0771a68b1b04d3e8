package stream

import (
	"sync"
	"sync/atomic"
)

// Pool runs work on a fixed number of threads, each with a state of its own.
// The goroutine that calls Each is one of them.
type Pool[S any] struct {
	own   *S
	each  chan *job[S]
	later chan func(*S)
	quit  chan struct{}
	wg    sync.WaitGroup
	n     int
}

// NewPool starts a pool of n threads; with one, everything runs in the caller.
func NewPool[S any](n int, state func() *S) *Pool[S] {
	p := &Pool[S]{own: state(), n: max(n, 1)}
	if p.n == 1 {
		return p
	}
	p.each = make(chan *job[S], n)
	p.later = make(chan func(*S), 4*n)
	p.quit = make(chan struct{})
	for range n - 1 {
		p.wg.Go(func() { p.serve(state()) })
	}
	return p
}

// Threads is the number of threads, the caller's included.
func (p *Pool[S]) Threads() int { return p.n }

// Own is the state of the goroutine that calls Each.
func (p *Pool[S]) Own() *S { return p.own }

// serve prefers what a caller of Each waits for.
func (p *Pool[S]) serve(s *S) {
	for {
		select {
		case j := <-p.each:
			j.join(s)
			continue
		case <-p.quit:
			return
		default:
		}
		select {
		case j := <-p.each:
			j.join(s)
		case f := <-p.later:
			f(s)
		case <-p.quit:
			return
		}
	}
}

// Each calls f for 0 to n-1, in no order, and returns when all calls have. It
// stops handing out work after an error and returns the one of the lowest
// index. One goroutine at a time.
func (p *Pool[S]) Each(n int, f func(i int, s *S) error) error {
	if p.n == 1 || n == 1 {
		for i := range n {
			if err := f(i, p.own); err != nil {
				return err
			}
		}
		return nil
	}
	var next atomic.Int64
	var mu sync.Mutex
	var first error
	at := n
	work := func(s *S) {
		for {
			i := int(next.Add(1) - 1)
			if i >= n {
				return
			}
			if err := Guard(func() error { return f(i, s) }); err != nil {
				mu.Lock()
				if i < at {
					at, first = i, err
				}
				mu.Unlock()
				next.Store(int64(n))
			}
		}
	}
	j := &job[S]{work: work, left: make(chan struct{})}
	p.drain()
	for range min(p.n, n) - 1 {
		p.each <- j
	}
	work(p.own)
	j.close()
	p.help(j)
	return first
}

// help does work for later until all threads have left j.
func (p *Pool[S]) help(j *job[S]) {
	for {
		select {
		case <-j.left:
			return
		default:
		}
		select {
		case <-j.left:
			return
		case f := <-p.later:
			f(p.own)
		}
	}
}

// job is one call of Each that threads may join while it lasts.
type job[S any] struct {
	work func(*S)
	mu   sync.Mutex
	in   int // threads at work
	over bool
	left chan struct{} // closed when it is over and nobody is at work
}

func (j *job[S]) join(s *S) {
	j.mu.Lock()
	if j.over {
		j.mu.Unlock()
		return
	}
	j.in++
	j.mu.Unlock()
	j.work(s)
	j.mu.Lock()
	if j.in--; j.over && j.in == 0 {
		close(j.left)
	}
	j.mu.Unlock()
}

// close lets nobody join any more.
func (j *job[S]) close() {
	j.mu.Lock()
	if j.over = true; j.in == 0 {
		close(j.left)
	}
	j.mu.Unlock()
}

// drain takes out jobs that ended before a thread had time for them.
func (p *Pool[S]) drain() {
	for {
		select {
		case <-p.each:
		default:
			return
		}
	}
}

// Later runs f on another thread when one has nothing better to do. It is
// false when there is no such thread or too much is waiting already; a pool
// that is closed first never runs f.
func (p *Pool[S]) Later(f func(*S)) bool {
	if p.n == 1 {
		return false
	}
	select {
	case p.later <- f:
		return true
	default:
		return false
	}
}

// Close ends the threads and waits for the calls that are under way.
func (p *Pool[S]) Close() {
	if p.n > 1 {
		close(p.quit)
		p.wg.Wait()
		p.n = 1
	}
}
