package stream

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// state counts what one thread did.
type state struct{ calls int }

func newState() *state { return &state{} }

func TestEachCallsEveryIndexOnce(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 3, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPool(threads, newState)
			defer p.Close()
			if want := max(1, threads); p.Threads() != want {
				t.Fatalf("%d threads, want %d", p.Threads(), want)
			}
			for _, n := range []int{0, 1, 2, 7, 500} {
				calls := make([]atomic.Int32, n)
				err := p.Each(n, func(i int, s *state) error {
					calls[i].Add(1)
					s.calls++ // the race detector sees a state with two owners
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				for i := range calls {
					if c := calls[i].Load(); c != 1 {
						t.Fatalf("threads %d: index %d of %d was called %d times", threads, i, n, c)
					}
				}
			}
		})
	}
}

func TestEachUsesAllThreads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(4, newState)
		defer p.Close()
		for range 20 {
			var here atomic.Int32
			all := make(chan struct{})
			// Nobody goes on before all four are there.
			_ = p.Each(4, func(int, *state) error {
				if here.Add(1) == 4 {
					close(all)
				}
				<-all
				return nil
			})
		}
	})
}

func TestEachReturnsTheErrorOfTheLowestIndex(t *testing.T) {
	for _, threads := range []int{1, 2, 8} {
		synctest.Test(t, func(t *testing.T) {
			p := NewPool(threads, newState)
			defer p.Close()
			for round := range 50 {
				var after atomic.Int32
				err := p.Each(1000, func(i int, _ *state) error {
					if i >= round {
						after.Add(1)
						return fmt.Errorf("index %d", i)
					}
					return nil
				})
				if err == nil || err.Error() != fmt.Sprintf("index %d", round) {
					t.Fatalf("threads %d: %v, want index %d", threads, err, round)
				}
				if n := int(after.Load()); n > threads {
					t.Fatalf("threads %d: work was handed out %d times after an error", threads, n)
				}
			}
			if err := p.Each(3, func(int, *state) error { return nil }); err != nil {
				t.Errorf("an error stayed: %v", err)
			}
		})
	}
}

func TestLaterRunsWhenAThreadIsIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(3, newState)
		var ran atomic.Int32
		accepted := 0
		for range 200 {
			if p.Later(func(*state) { ran.Add(1) }) {
				accepted++
			}
		}
		synctest.Wait()
		if accepted == 0 || int(ran.Load()) != accepted {
			t.Errorf("%d of %d calls ran", ran.Load(), accepted)
		}
		p.Close()
		if p.Later(func(*state) { t.Error("ran on a closed pool") }) {
			t.Error("a closed pool accepts work")
		}
		p.Close()
	})
}

func TestLaterIsRefusedByOneThread(t *testing.T) {
	p := NewPool(1, newState)
	defer p.Close()
	if p.Later(func(*state) { t.Error("ran") }) {
		t.Error("accepted")
	}
}

func TestLaterIsRefusedWhenTooMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(2, newState)
		gate := make(chan struct{})
		var ran atomic.Int32
		accepted := 0
		for p.Later(func(*state) { <-gate; ran.Add(1) }) {
			synctest.Wait()
			if accepted++; accepted > 1000 {
				t.Fatal("no end")
			}
		}
		close(gate)
		synctest.Wait()
		if int(ran.Load()) != accepted {
			t.Errorf("%d of %d calls ran", ran.Load(), accepted)
		}
		p.Close()
	})
}

func TestEachGoesBeforeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(2, newState)
		defer p.Close()
		gate := make(chan struct{})
		// The other thread is busy, and more is waiting for it.
		for range 5 {
			p.Later(func(*state) { <-gate })
		}
		synctest.Wait()
		n := 0
		if err := p.Each(10, func(int, *state) error { n++; return nil }); err != nil || n != 10 {
			t.Errorf("%d of 10 while the other thread is busy, %v", n, err)
		}
		close(gate)
	})
}

func TestCloseWaitsForCallsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := NewPool(2, newState)
		gate := make(chan struct{})
		ended, pending := false, 0
		p.Later(func(*state) { <-gate; ended = true })
		synctest.Wait()
		for range 3 {
			p.Later(func(*state) { pending++ })
		}
		closed := false
		go func() { p.Close(); closed = true }()
		synctest.Wait()
		if closed {
			t.Error("Close did not wait")
		}
		close(gate)
		synctest.Wait()
		if !closed || !ended {
			t.Errorf("closed %v, ended %v", closed, ended)
		}
		if pending > 3 {
			t.Errorf("%d calls of 3", pending)
		}
	})
}

func TestFutureReturnsTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		want := errors.New("no")
		f := Async(func() error { <-gate; return want })
		ok := Async(func() error { return nil })
		close(gate)
		for range 2 {
			if err := f.Wait(); err != want {
				t.Errorf("%v", err)
			}
			if err := ok.Wait(); err != nil {
				t.Errorf("%v", err)
			}
		}
	})
}
