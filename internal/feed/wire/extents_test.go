package wire

import "testing"

// FuzzExtents holds the extents against a plain map of steps: lowest place
// first, nothing given twice, everything found again.
func FuzzExtents(f *testing.F) {
	f.Add([]byte{3, 5, 0x80, 2, 0x81, 7, 0x80})
	f.Add([]byte{64, 1, 1, 1, 0x81, 0x80, 2, 0x80})
	f.Fuzz(func(t *testing.T, ops []byte) {
		const steps = 64
		e := newExtents(steps)
		var used [steps]bool
		var out []extent
		for _, op := range ops {
			if op < 0x80 {
				n := int(op) + 1
				want := lowest(used[:], n)
				from, ok := e.take(n)
				if ok != (want >= 0) || ok && from != want {
					t.Fatalf("take(%d) is %d %v, want %d", n, from, ok, want)
				}
				if ok {
					out = append(out, extent{from, from + n})
					mark(used[:], out[len(out)-1], true)
				}
			} else if len(out) > 0 {
				i := int(op-0x80) % len(out)
				e.give(out[i])
				mark(used[:], out[i], false)
				out = append(out[:i], out[i+1:]...)
			}
			check(t, e, used[:])
		}
	})
}

// lowest is the first of n free steps in a row, -1: there are none.
func lowest(used []bool, n int) int {
	for from := 0; from+n <= len(used); from++ {
		free := 0
		for free < n && !used[from+free] {
			free++
		}
		if free == n {
			return from
		}
	}
	return -1
}

func mark(used []bool, x extent, as bool) {
	for i := x.from; i < x.to; i++ {
		used[i] = as
	}
}

// check holds that e is the free steps of used, in as few extents as can be.
func check(t *testing.T, e extents, used []bool) {
	t.Helper()
	var want []extent
	for i, u := range used {
		switch {
		case u:
		case i > 0 && !used[i-1]:
			want[len(want)-1].to++
		default:
			want = append(want, extent{i, i + 1})
		}
	}
	if len(want) != len(e.free) {
		t.Fatalf("free %v, want %v", e.free, want)
	}
	for i := range want {
		if want[i] != e.free[i] {
			t.Fatalf("free %v, want %v", e.free, want)
		}
	}
}
