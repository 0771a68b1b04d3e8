package mem

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// resident is what the root counts as in memory.
func (b *Budget) resident() (leased, cached int64) {
	b.root.mu.Lock()
	defer b.root.mu.Unlock()
	return b.root.leased, b.root.cached
}

// checkCache holds the cache's bookkeeping against the buffers it has.
func checkCache(t *testing.T, b *Budget) {
	t.Helper()
	r := b.root
	r.mu.Lock()
	defer r.mu.Unlock()
	var sum int64
	for size, list := range r.free {
		if !slices.Contains(r.sizes, size) {
			t.Fatalf("buffers of %d bytes would never be evicted", size)
		}
		for _, buf := range list {
			if len(buf) != size {
				t.Fatalf("a buffer of %d among those of %d", len(buf), size)
			}
			sum += int64(size)
		}
	}
	if sum != r.cached {
		t.Fatalf("%d bytes cached, counted %d", sum, r.cached)
	}
}

func TestFreedBlockIsUsedAgain(t *testing.T) {
	b := New(1 << 20)
	m, err := b.Map(t.Context(), 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(m.Bytes()) != 10_000 || m.Cap() != BlockSize(10_000) {
		t.Fatalf("%d bytes of %d", len(m.Bytes()), m.Cap())
	}
	at := &m.Bytes()[0]
	m.Free()
	if leased, cached := b.resident(); leased != 0 || cached != int64(BlockSize(10_000)) {
		t.Fatalf("%d leased, %d cached", leased, cached)
	}
	m, ok := b.TryMap(9_000)
	if !ok || &m.Bytes()[0] != at {
		t.Error("the freed memory was not used again")
	}
	m.Free()
	b.Trim()
	if _, cached := b.resident(); cached != 0 {
		t.Errorf("%d cached after Trim", cached)
	}
	empty(t, b)
}

func TestLeaseEvictsCachedBlocks(t *testing.T) {
	b := New(1 << 20)
	for _, n := range []int{100 << 10, 200 << 10, 300 << 10} {
		m, _ := b.TryMap(n)
		m.Free()
	}
	l := mustAcquire(t, b, 1<<20-250<<10)
	if leased, cached := b.resident(); leased+cached > 1<<20 {
		t.Errorf("%d leased and %d cached of %d", leased, cached, 1<<20)
	}
	l.Release()
	empty(t, b)
	if _, cached := b.resident(); cached != 0 {
		t.Errorf("%d cached beside a lease of everything", cached)
	}
}

// TestLeasedAndCachedStayWithinTheLimit does anything in any order.
func TestLeasedAndCachedStayWithinTheLimit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	root := New(1 << 20)
	shares := []*Budget{mustCarve(t, root, "a", 400<<10), mustCarve(t, root, "b", 300<<10), root}
	var free []func()
	for range 5000 {
		b := shares[rnd.IntN(len(shares))]
		n := 1 + rnd.IntN(1<<rnd.IntN(19))
		switch rnd.IntN(6) {
		case 0, 1:
			if m, ok := b.TryMap(n); ok {
				m.Bytes()[0], m.Bytes()[n-1] = 1, 2
				free = append(free, m.Free)
			}
		case 2:
			if l, ok := b.TryAcquire(int64(n)); ok {
				if rnd.IntN(2) == 0 {
					l.TryGrow(int64(rnd.IntN(n)))
					l.Shrink(int64(rnd.IntN(n)))
				}
				free = append(free, l.Release)
			}
		case 3, 4:
			if len(free) > 0 {
				i := rnd.IntN(len(free))
				free[i]()
				free[i]() // a second time does nothing
				free = slices.Delete(free, i, i+1)
			}
		case 5:
			if rnd.IntN(100) == 0 {
				root.Trim()
			}
		}
		leased, cached := root.resident()
		if leased < 0 || cached < 0 || leased+cached > root.Limit() {
			t.Fatalf("%d leased, %d cached, the limit is %d", leased, cached, root.Limit())
		}
		if used := root.Used(); used > root.Limit() || leased > used {
			t.Fatalf("%d leased, %d used, the limit is %d", leased, used, root.Limit())
		}
		checkCache(t, root)
	}
	for _, f := range free {
		f()
	}
	shares[0].Close()
	shares[1].Close()
	empty(t, root)
	root.Trim()
}

// TestBudgetUnderConcurrency: many goroutines, no byte too many, none left.
func TestBudgetUnderConcurrency(t *testing.T) {
	root := New(256 << 10)
	share := mustCarve(t, root, "a", 128<<10)
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(g), 3))
			b := []*Budget{root, share}[g%2]
			for range 300 {
				n := 1 + rnd.IntN(64<<10)
				if rnd.IntN(2) == 0 {
					m, err := b.Map(t.Context(), n)
					if err != nil {
						t.Error(err)
						return
					}
					m.Bytes()[0], m.Bytes()[n-1] = byte(g), byte(g)
					if m.Bytes()[n-1] != byte(g) {
						t.Error("two owners of one block")
					}
					m.Free()
					continue
				}
				l, err := b.Acquire(t.Context(), int64(n))
				if err != nil {
					t.Error(err)
					return
				}
				if b.Used() > b.Limit() {
					t.Errorf("%d used of %d", b.Used(), b.Limit())
				}
				l.Release()
			}
		})
	}
	wg.Wait()
	checkCache(t, root)
	if peak := share.Peak(); peak > share.Limit() {
		t.Errorf("peak %d of %d", peak, share.Limit())
	}
	share.Close()
	empty(t, root)
	root.Trim()
}
