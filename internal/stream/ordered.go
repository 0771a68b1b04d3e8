package stream

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

// Task is a piece of work that gives results one after another. Step is called
// until it says that its result is the last, or fails; then, or when the task
// is given up before that, Drop is called once.
type Task[S, R any] interface {
	Step(ctx context.Context, s *S) (r R, last bool, err error)
	Drop()
}

// Ordered works on tasks side by side and gives their results in the order of
// the tasks.
//
// What is in flight is bounded: at most ahead tasks were begun and not all
// taken from; of a task whose turn has not come, one result at most is ready,
// and the next step is not taken before that was.
type Ordered[S, R any] struct {
	next  func(context.Context) (Task[S, R], error)
	drop  func(R)
	waits *Waits

	own  *S         // of the caller, when nothing runs beside it
	task Task[S, R] // the caller's

	cancel context.CancelFunc
	wg     sync.WaitGroup
	order  chan *turn[S, R]
	work   chan *turn[S, R]
	slots  chan struct{}
	turn   *turn[S, R] // that results are taken from
	err    error       // that ended it
}

// turn is a task in its place of the order.
type turn[S, R any] struct {
	task Task[S, R]
	more chan R         // results that are not the last
	end  chan ending[R] // how it ended
}

type ending[R any] struct {
	r   R
	ok  bool // r is a result
	err error
}

// NewOrdered takes tasks from next, which is called by one goroutine until it
// gives io.EOF, and works on them with n threads, each of which has a state.
// With one thread everything happens in the caller of Next. drop lets go of a
// result that nobody takes.
func NewOrdered[S, R any](n, ahead int, next func(context.Context) (Task[S, R], error), state func() *S, drop func(R), waits *Waits) *Ordered[S, R] {
	o := &Ordered[S, R]{next: next, drop: drop, waits: waits, cancel: func() {}}
	if n <= 1 {
		o.own = state()
		return o
	}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	o.order = make(chan *turn[S, R], ahead)
	o.work = make(chan *turn[S, R], ahead)
	o.slots = make(chan struct{}, ahead)
	o.wg.Go(func() { o.dispatch(ctx) })
	for range n {
		o.wg.Go(func() {
			s := state()
			for t := range o.work {
				o.run(ctx, s, t)
			}
		})
	}
	return o
}

// dispatch hands tasks out until there are no more.
func (o *Ordered[S, R]) dispatch(ctx context.Context) {
	defer close(o.work)
	for {
		begun := time.Now()
		select {
		case o.slots <- struct{}{}:
			o.waits.Consumer.Add(int64(time.Since(begun)))
		case <-ctx.Done():
			return
		}
		t := &turn[S, R]{more: make(chan R), end: make(chan ending[R], 1)}
		err := Guard(func() (err error) {
			t.task, err = o.next(ctx)
			return err
		})
		o.order <- t // there are as many places as slots
		if err != nil {
			t.end <- ending[R]{err: err}
			return
		}
		o.work <- t
	}
}

// run does one task.
func (o *Ordered[S, R]) run(ctx context.Context, s *S, t *turn[S, R]) {
	defer t.task.Drop()
	for {
		var r R
		var last bool
		err := ctx.Err()
		if err == nil {
			err = Guard(func() (err error) {
				r, last, err = t.task.Step(ctx, s)
				return err
			})
		}
		if err != nil || last {
			t.end <- ending[R]{r: r, ok: err == nil, err: err}
			return
		}
		select {
		case t.more <- r:
		case <-ctx.Done():
			o.drop(r)
			t.end <- ending[R]{err: ctx.Err()}
			return
		}
	}
}

// Next gives the next result, or io.EOF. After an error there is nothing but
// that error.
func (o *Ordered[S, R]) Next(ctx context.Context) (R, error) {
	var none R
	if o.err != nil {
		return none, o.err
	}
	r, err := none, error(nil)
	if o.own != nil {
		r, err = o.inline(ctx)
	} else {
		r, err = o.take(ctx)
	}
	if err != nil {
		o.err = err
		return none, err
	}
	return r, nil
}

// inline works in the caller.
func (o *Ordered[S, R]) inline(ctx context.Context) (r R, err error) {
	err = Guard(func() (err error) {
		if o.task == nil {
			if o.task, err = o.next(ctx); err != nil {
				o.task = nil
				return err
			}
		}
		var last bool
		r, last, err = o.task.Step(ctx, o.own)
		if err != nil || last {
			t := o.task
			o.task = nil
			t.Drop()
		}
		return err
	})
	return r, err
}

func (o *Ordered[S, R]) take(ctx context.Context) (R, error) {
	var none R
	if o.turn == nil {
		select {
		case o.turn = <-o.order:
		case <-ctx.Done():
			return none, ctx.Err()
		}
	}
	select {
	case r := <-o.turn.more:
		return r, nil
	case e := <-o.turn.end:
		o.turn = nil
		<-o.slots
		return e.r, e.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

var errEnded = errors.New("read of a closed stream")

// Close ends the work, waits for it, and drops what nobody took.
func (o *Ordered[S, R]) Close() {
	if o.err == nil || errors.Is(o.err, io.EOF) {
		o.err = errEnded
	}
	if o.task != nil {
		o.task.Drop()
		o.task = nil
	}
	o.cancel()
	o.wg.Wait()
	if o.order == nil {
		return
	}
	close(o.order)
	if o.turn != nil {
		o.let(o.turn)
	}
	for t := range o.order {
		o.let(t)
	}
	o.turn, o.order = nil, nil
}

// let drops what a turn still has.
func (o *Ordered[S, R]) let(t *turn[S, R]) {
	select {
	case e := <-t.end:
		if e.ok {
			o.drop(e.r)
		}
	default:
	}
}
