package stream

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// counting is a task that gives results*1000+0, 1, … and takes a while.
type counting struct {
	task, results int
	slow          time.Duration
	fail          error
	dropped, made *atomic.Int64
}

func (c *counting) Step(ctx context.Context, s *state) (int, bool, error) {
	s.calls++ // the race detector sees a state with two owners
	select {
	case <-time.After(c.slow):
	case <-ctx.Done():
		return 0, false, ctx.Err()
	}
	r := c.task*1000 + c.results - 1
	if c.results--; c.results == 0 && c.fail != nil {
		return 0, false, c.fail
	}
	if c.made != nil {
		c.made.Add(1)
	}
	return r, c.results == 0, nil
}

func (c *counting) Drop() { c.dropped.Add(1) }

// counts makes n tasks; the later ones are done sooner.
func counts(n int, dropped, begun *atomic.Int64) func(context.Context) (Task[state, int], error) {
	i := 0
	return func(context.Context) (Task[state, int], error) {
		if i == n {
			return nil, io.EOF
		}
		i++
		begun.Add(1)
		return &counting{task: i, results: 1 + i%3, slow: time.Duration(10-i%7) * time.Second, dropped: dropped}, nil
	}
}

func TestOrderedGivesResultsInTheOrderOfTheTasks(t *testing.T) {
	for _, threads := range []int{1, 2, 5} {
		synctest.Test(t, func(t *testing.T) {
			var dropped, begun atomic.Int64
			o := NewOrdered(threads, threads+1, counts(40, &dropped, &begun), newState, func(int) {}, new(Waits))
			defer o.Close()
			for i := 1; i <= 40; i++ {
				for left := 1 + i%3; left > 0; left-- {
					r, err := o.Next(t.Context())
					if err != nil || r != i*1000+left-1 {
						t.Fatalf("%d, %v, want %d", r, err, i*1000+left-1)
					}
					if ahead := int(begun.Load()) - i; threads > 1 && ahead > threads+1 {
						t.Fatalf("%d tasks ahead with %d threads", ahead, threads)
					}
				}
			}
			for range 2 {
				if _, err := o.Next(t.Context()); err != io.EOF {
					t.Fatalf("at the end: %v", err)
				}
			}
			if dropped.Load() != 40 {
				t.Errorf("%d of 40 tasks were dropped", dropped.Load())
			}
		})
	}
}

func TestOrderedClosedEarlyDropsEverything(t *testing.T) {
	for _, threads := range []int{1, 3} {
		for taken := range 12 {
			synctest.Test(t, func(t *testing.T) {
				var dropped, begun, made, let atomic.Int64
				o := NewOrdered(threads, 4, func(ctx context.Context) (Task[state, int], error) {
					begun.Add(1)
					return &counting{results: 2, slow: time.Second, dropped: &dropped, made: &made}, nil
				}, newState, func(int) { let.Add(1) }, new(Waits))
				for range taken {
					if _, err := o.Next(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				synctest.Wait()
				o.Close()
				o.Close()
				if made.Load() != int64(taken)+let.Load() {
					t.Errorf("%d results, %d taken, %d let go", made.Load(), taken, let.Load())
				}
				if begun.Load() != dropped.Load() {
					t.Errorf("%d tasks, %d dropped", begun.Load(), dropped.Load())
				}
				if _, err := o.Next(t.Context()); err == nil {
					t.Error("a result after Close")
				}
			})
		}
	}
}

func TestOrderedErrorsHaveTheirTurn(t *testing.T) {
	for _, threads := range []int{1, 4} {
		synctest.Test(t, func(t *testing.T) {
			var dropped atomic.Int64
			no, i := errors.New("no"), 0
			o := NewOrdered(threads, 5, func(context.Context) (Task[state, int], error) {
				i++
				c := &counting{task: i, results: 1, slow: time.Duration(20-i) * time.Second, dropped: &dropped}
				if i == 7 {
					c.fail = no
				}
				if i == 9 {
					return nil, errors.New("later")
				}
				return c, nil
			}, newState, func(int) {}, new(Waits))
			for k := 1; k < 7; k++ {
				if r, err := o.Next(t.Context()); err != nil || r != k*1000 {
					t.Fatal(r, err)
				}
			}
			for range 2 {
				if _, err := o.Next(t.Context()); err != no {
					t.Fatalf("%v", err)
				}
			}
			o.Close()
		})
	}
}

func TestOrderedEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dropped, begun atomic.Int64
		o := NewOrdered(2, 3, counts(10, &dropped, &begun), newState, func(int) {}, new(Waits))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := o.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		o.Close()
	})
}

func TestOrderedMakesErrorsOfPanics(t *testing.T) {
	for _, threads := range []int{1, 2} {
		o := NewOrdered(threads, 3, func(context.Context) (Task[state, int], error) { panic("at once") }, newState, func(int) {}, new(Waits))
		if _, err := o.Next(t.Context()); err == nil {
			t.Error("no error")
		}
		o.Close()
	}
}
