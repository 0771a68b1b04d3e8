package mem

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// mustAcquire leases n bytes that are free.
func mustAcquire(t *testing.T, b *Budget, n int64) *Lease {
	t.Helper()
	l, ok := b.TryAcquire(n)
	if !ok {
		t.Fatalf("%d bytes are not free; %d of %d used", n, b.Used(), b.Limit())
	}
	return l
}

// empty holds that nothing is leased and all of b can be had.
func empty(t *testing.T, b *Budget) {
	t.Helper()
	if b.Used() != 0 || b.Leased() != 0 {
		t.Fatalf("%d used, %d leased", b.Used(), b.Leased())
	}
	mustAcquire(t, b, b.Limit()).Release()
}

func TestAcquireIsFirstComeFirstServed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10)
		held := mustAcquire(t, b, 10)
		sizes := []int64{7, 1, 10, 2, 3, 5}
		var mu sync.Mutex // for those that are granted together
		var order []int
		for i, n := range sizes {
			go func() {
				l, err := b.Acquire(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				order = append(order, i)
				mu.Unlock()
				// The next in line runs only after this one's release.
				l.Release()
			}()
			synctest.Wait()
		}
		if len(order) != 0 {
			t.Fatalf("%v got memory that is not free", order)
		}
		// One byte is enough for the second in line, who must not pass the first.
		held.Shrink(9)
		synctest.Wait()
		if len(order) != 0 {
			t.Fatalf("%v jumped the queue", order)
		}
		held.Release()
		synctest.Wait()
		// 7 and 1 are granted together, so either may run first.
		slices.Sort(order[:2])
		slices.Sort(order[3:])
		if !slices.Equal(order, []int{0, 1, 2, 3, 4, 5}) {
			t.Errorf("order %v", order)
		}
		empty(t, b)
	})
}

func TestTryAcquireDoesNotJumpTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10)
		held := mustAcquire(t, b, 6)
		go func() {
			l, err := b.Acquire(t.Context(), 8)
			if err != nil {
				t.Error(err)
			}
			l.Release()
		}()
		synctest.Wait()
		if _, ok := b.TryAcquire(1); ok {
			t.Error("TryAcquire took what somebody waits for")
		}
		if held.TryGrow(1) {
			t.Error("TryGrow took what somebody waits for")
		}
		if _, ok := b.TryMap(1); ok {
			t.Error("TryMap took what somebody waits for")
		}
		held.Release()
		synctest.Wait()
		empty(t, b)
	})
}

func TestAcquireTooMuchFailsAtOnceWithTheNumbers(t *testing.T) {
	root := New(1 << 20)
	share, err := root.Carve("shuffle", 1<<19)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		err  error
		want TooSmallError
	}{
		{"share", second(share.Acquire(t.Context(), 1<<19+1)), TooSmallError{"shuffle", 1<<19 + 1, 1 << 19}},
		{"block", second(share.Map(t.Context(), 1<<20)), TooSmallError{"shuffle", 1 << 20, 1 << 19}},
		{"what a share took", second(root.Acquire(t.Context(), 1<<19+1)), TooSmallError{"weir", 1<<19 + 1, 1 << 19}},
		{"carve", second(root.Carve("sort", 1<<20)), TooSmallError{"sort", 1 << 20, 1 << 19}},
	} {
		var got *TooSmallError
		if !errors.As(c.err, &got) || !errors.Is(c.err, ErrTooSmall) || *got != c.want {
			t.Errorf("%s: %v, want %v", c.name, c.err, &c.want)
		}
	}
	want := "shuffle needs 640 MiB, its share of memory is 300 MiB"
	if got := (&TooSmallError{"shuffle", 640 << 20, 300 << 20}).Error(); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	share.Close()
	empty(t, root)
}

func second[T any](_ T, err error) error { return err }

func TestCancelledWaitLeavesNoLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := New(10)
		held := mustAcquire(t, b, 6)
		ctx, cancel := context.WithCancelCause(t.Context())
		var big, small error
		var l *Lease
		go func() { _, big = b.Acquire(ctx, 9) }()
		synctest.Wait()
		go func() { l, small = b.Acquire(t.Context(), 4) }()
		synctest.Wait()
		if l != nil {
			t.Fatal("the second in line passed the first")
		}
		cancel(errors.New("enough"))
		synctest.Wait()
		if !errors.Is(big, context.Canceled) {
			t.Errorf("cancelled: %v", big)
		}
		if small != nil || l == nil {
			t.Fatalf("who waited behind the cancelled one did not get what was free: %v", small)
		}
		l.Release()
		held.Release()
		empty(t, b)
	})
}

// TestCancelInTheMomentOfTheGrant: a waiter whose context ends while it is
// served either has the lease or has left nothing behind.
func TestCancelInTheMomentOfTheGrant(t *testing.T) {
	for range 500 {
		b := New(10)
		held := mustAcquire(t, b, 10)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			if l, err := b.Acquire(ctx, 7); err == nil {
				l.Release()
			}
		}()
		go cancel()
		held.Release()
		<-done
		empty(t, b)
	}
}

func TestLeaseGrowsShrinksAndIsReleasedOnce(t *testing.T) {
	b := New(100)
	l := mustAcquire(t, b, 10)
	if !l.TryGrow(90) || l.Size() != 100 || b.Used() != 100 || b.Leased() != 100 {
		t.Fatalf("grown to %d, %d used, %d leased", l.Size(), b.Used(), b.Leased())
	}
	if l.TryGrow(1) {
		t.Error("grown past the limit")
	}
	l.Shrink(200)
	if l.Size() != 100 {
		t.Error("Shrink grew the lease")
	}
	l.Shrink(30)
	if l.Size() != 30 || b.Used() != 30 || b.Leased() != 30 || b.Peak() != 100 {
		t.Fatalf("shrunk to %d, %d used, %d leased, peak %d", l.Size(), b.Used(), b.Leased(), b.Peak())
	}
	other := mustAcquire(t, b, 70)
	l.Release()
	l.Release()
	l.Shrink(0)
	if b.Used() != 70 {
		t.Errorf("%d used after a second Release", b.Used())
	}
	(*Lease)(nil).Release()
	other.Release()
	empty(t, b)
}
