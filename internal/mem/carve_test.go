package mem

import (
	"testing"
	"testing/synctest"
)

func mustCarve(t *testing.T, b *Budget, name string, n int64) *Budget {
	t.Helper()
	s, err := b.Carve(name, n)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCarvedShareIsOutOfTheRest(t *testing.T) {
	root := New(100)
	a := mustCarve(t, root, "a", 60)
	b := mustCarve(t, root, "b", 40)
	if _, err := root.Carve("c", 1); err == nil {
		t.Error("carved more than there is")
	}
	if _, ok := root.TryAcquire(1); ok {
		t.Error("the root leased what was carved")
	}
	la, lb := mustAcquire(t, a, 60), mustAcquire(t, b, 40)
	if root.Used() != 100 || root.Leased() != 100 || root.Peak() != 100 {
		t.Errorf("%d used, %d leased, peak %d", root.Used(), root.Leased(), root.Peak())
	}
	la.Release()
	if _, ok := b.TryAcquire(1); ok {
		t.Error("a share used what another one gave back")
	}
	lb.Release()
	a.Close()
	a.Close()
	b.Close()
	(*Budget)(nil).Close()
	root.Close()
	empty(t, root)
}

func TestCloseReturnsWhatIsLeasedAsItIsReleased(t *testing.T) {
	root := New(100)
	share := mustCarve(t, root, "a", 60)
	inner := mustCarve(t, share, "b", 50)
	l, m := mustAcquire(t, inner, 30), mustAcquire(t, inner, 10)
	inner.Close()
	share.Close()
	if root.Used() != 40 {
		t.Errorf("%d used with 40 under lease", root.Used())
	}
	rest := mustAcquire(t, root, 60)
	l.Shrink(20)
	if root.Used() != 90 {
		t.Errorf("%d used after a lease of a closed share shrank", root.Used())
	}
	l.Release()
	m.Release()
	if root.Used() != 60 {
		t.Errorf("%d used after the closed share's leases ended", root.Used())
	}
	rest.Release()
	empty(t, root)
}

func TestBlockOutlivesItsShare(t *testing.T) {
	root := New(1 << 20)
	share := mustCarve(t, root, "a", 1<<19)
	block, err := share.Map(t.Context(), 100<<10)
	if err != nil {
		t.Fatal(err)
	}
	share.Close()
	for i := range block.Bytes() {
		block.Bytes()[i] = byte(i)
	}
	block.Free()
	block.Free()
	empty(t, root)
	root.Trim()
}

// TestClosedShareGivesNothing: its bytes belong to the budget above it again.
func TestClosedShareGivesNothing(t *testing.T) {
	root := New(100)
	share := mustCarve(t, root, "a", 60)
	share.Close()
	if l, ok := share.TryAcquire(10); ok {
		t.Errorf("leased %d of a closed share", l.Size())
	}
	if _, err := share.Acquire(t.Context(), 10); err == nil {
		t.Error("leased from a closed share")
	}
	if _, err := share.Carve("b", 10); err == nil {
		t.Error("carved a closed share")
	}
	empty(t, root)
}

// TestCloseEndsWaits: nobody waits for a share that is gone, and nobody is
// served with bytes that went back.
func TestCloseEndsWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		root := New(100)
		share := mustCarve(t, root, "a", 60)
		held := mustAcquire(t, share, 60)
		var err error
		go func() {
			var l *Lease
			if l, err = share.Acquire(t.Context(), 50); err == nil {
				l.Release()
			}
		}()
		synctest.Wait()
		share.Close()
		synctest.Wait()
		held.Release()
		synctest.Wait()
		if err == nil {
			t.Error("a closed share served a waiter")
		}
		empty(t, root)
	})
}
