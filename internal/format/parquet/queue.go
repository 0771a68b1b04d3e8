package parquet

import (
	"context"
	"sync/atomic"

	"github.com/weir-data/weir/internal/stream"
)

// pageQueue loads a leaf's pages, some of them ahead of need on other threads.
type pageQueue struct {
	pool  *stream.Pool[worker]
	depth int // pages ahead; 0: none
	ctx   context.Context
	tasks []*pageTask
	ended bool
}

// pageTask is a page that is loaded by whoever claims it first.
type pageTask struct {
	l       *leaf
	ref     pageRef
	claimed atomic.Bool
	done    chan struct{}
	page    *page
	err     error
}

func (t *pageTask) run(ctx context.Context, w *worker) {
	defer close(t.done)
	t.err = stream.Guard(func() (err error) {
		t.page, err = t.l.load(ctx, w, t.ref)
		return err
	})
}

// next returns the next page, or nil at the end of the chunk.
func (q *pageQueue) next(ctx context.Context, l *leaf, w *worker) (*page, error) {
	if q.depth == 0 {
		ref, ok, err := l.walk(ctx, w)
		if err != nil || !ok {
			return nil, err
		}
		return l.load(ctx, w, ref)
	}
	if err := q.fill(ctx, l, w); err != nil || len(q.tasks) == 0 {
		return nil, err
	}
	t := q.tasks[0]
	q.tasks = q.tasks[1:]
	if t.claimed.CompareAndSwap(false, true) {
		close(t.done)
	}
	q.help(t, w)
	<-t.done
	if t.page != nil || t.err != nil {
		return t.page, t.err
	}
	// Nobody had the time, or the memory, to load it ahead.
	t.ref.ahead = false
	return l.load(ctx, w, t.ref)
}

// help loads the pages behind t while another thread is at it.
func (q *pageQueue) help(t *pageTask, w *worker) {
	for _, other := range q.tasks {
		select {
		case <-t.done:
			return
		default:
		}
		if other.claimed.CompareAndSwap(false, true) {
			other.run(q.ctx, w)
		}
	}
}

// fill begins to load pages ahead.
func (q *pageQueue) fill(ctx context.Context, l *leaf, w *worker) error {
	for len(q.tasks) <= q.depth && !q.ended {
		ref, ok, err := l.walk(ctx, w)
		if err != nil {
			return err
		}
		if !ok {
			q.ended = true
			return nil
		}
		ref.ahead = true
		t := &pageTask{l: l, ref: ref, done: make(chan struct{})}
		q.tasks = append(q.tasks, t)
		if len(q.tasks) > 1 {
			q.pool.Later(func(w *worker) {
				if t.claimed.CompareAndSwap(false, true) {
					t.run(q.ctx, w)
				}
			})
		}
	}
	return nil
}

// usesDict says that a page in the queue needs the dictionary.
func (q *pageQueue) usesDict() bool {
	for _, t := range q.tasks {
		if t.ref.usesDict() {
			return true
		}
	}
	return false
}

// close waits for the loads under way and frees their pages.
func (q *pageQueue) close() {
	for _, t := range q.tasks {
		if !t.claimed.CompareAndSwap(false, true) {
			<-t.done
			t.page.free()
		}
	}
	q.tasks = nil
}
