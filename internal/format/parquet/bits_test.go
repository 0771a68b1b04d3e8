package parquet

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// noise is n random bytes with slack behind them.
func noise(rnd *rand.Rand, n int) []byte {
	b := make([]byte, n+slack)
	for i := range b {
		b[i] = byte(rnd.Uint32())
	}
	return b[:n]
}

// bitAt is one bit, the plain way.
func bitAt(m []byte, i int) byte { return m[i/8] >> (i % 8) & 1 }

// packedAt is value i of width bits from bit on, the plain way.
func packedAt(src []byte, bit, width uint, i int) uint64 {
	var v uint64
	for j := range width {
		v |= uint64(bitAt(src[:cap(src)], int(bit+uint(i)*width+j))) << j
	}
	return v
}

func TestUnpack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for width := uint(1); width <= 64; width++ {
		for range 40 {
			n, bit := rnd.IntN(70), uint(rnd.IntN(8))
			src := noise(rnd, (int(bit)+n*int(width)+7)/8)
			wide := make([]uint64, n)
			unpackWide(wide, src[:cap(src)], bit, width)
			for i, v := range wide {
				if want := packedAt(src, bit, width, i); v != want {
					t.Fatalf("width %d, bit %d, value %d of %d: %x, want %x", width, bit, i, n, v, want)
				}
			}
			if width > 32 {
				continue
			}
			narrow := make([]uint32, n)
			unpack(narrow, src[:cap(src)], bit, width)
			for i, v := range narrow {
				if v != uint32(wide[i]) {
					t.Fatalf("width %d, bit %d, value %d of %d: %x, want %x", width, bit, i, n, v, wide[i])
				}
			}
			if width <= 8 {
				tiny := make([]uint8, n)
				unpack(tiny, src[:cap(src)], bit, width)
				for i, v := range tiny {
					if v != uint8(wide[i]) {
						t.Fatalf("width %d: byte %x, want %x", width, v, wide[i])
					}
				}
			}
		}
	}
}

func testGather[T number](t *testing.T, rnd *rand.Rand) {
	t.Helper()
	for width := uint(1); width <= 24; width++ {
		for range 40 {
			n, bit := rnd.IntN(50), uint(rnd.IntN(8))
			src := noise(rnd, (int(bit)+n*int(width)+7)/8)
			dict := make([]T, 1+rnd.IntN(1<<min(width, 12)))
			for i := range dict {
				dict[i] = T(rnd.Uint64())
			}
			dst := make([]T, n)
			ok := gather(dst, dict, src[:cap(src)], bit, width)
			want := true
			for i := range n {
				x := packedAt(src, bit, width, i)
				if x >= uint64(len(dict)) {
					want = false
				} else if ok && dst[i] != dict[x] {
					t.Fatalf("width %d, bit %d: value %d is %v, want %v", width, bit, i, dst[i], dict[x])
				}
			}
			if ok != want {
				t.Fatalf("width %d, %d values in the dictionary: %v, want %v", width, len(dict), ok, want)
			}
		}
	}
}

func TestGather(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 1))
	testGather[uint8](t, rnd)
	testGather[uint16](t, rnd)
	testGather[uint32](t, rnd)
	testGather[uint64](t, rnd)
}

func TestSetOrAndCountBits(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for range 5000 {
		at, n := rnd.IntN(40), rnd.IntN(300)
		from := rnd.IntN(40)
		src := noise(rnd, (from+n+7)/8)
		set, or := make([]byte, (at+n)/8+slack), make([]byte, (at+n)/8+slack)
		head := byte(rnd.Uint32()) & (1<<(at%8) - 1)
		set[at/8], or[at/8] = head, head
		wantSet, wantOr, ones := slices.Clone(set), slices.Clone(or), 0
		for i := range n {
			wantSet[(at+i)/8] |= 1 << ((at + i) % 8)
			b := bitAt(src, from+i)
			wantOr[(at+i)/8] |= b << ((at + i) % 8)
			ones += int(b)
		}
		setBits(set, at, n)
		if !bytes.Equal(set, wantSet) {
			t.Fatalf("setBits(%d, %d): %x, want %x", at, n, set, wantSet)
		}
		if got := orBits(or, at, src[:cap(src)], from, n); got != ones || !bytes.Equal(or, wantOr) {
			t.Fatalf("orBits(%d, from %d, %d): %d ones, want %d; %x, want %x", at, from, n, got, ones, or, wantOr)
		}
		if got := countBits(or, at, n); got != ones {
			t.Fatalf("countBits(%d, %d) = %d, want %d", at, n, got, ones)
		}
	}
}

// bitmap is random bits in runs, with slack behind them.
func bitmap(rnd *rand.Rand, n int) []byte {
	m := make([]byte, n/8+slack)
	for i := 0; i < n; {
		run := 1 + rnd.IntN(1<<rnd.IntN(8))
		if rnd.IntN(2) == 0 {
			setBits(m, i, min(run, n-i))
		}
		i += run
	}
	return m
}

func TestRunBack(t *testing.T) {
	rnd := rand.New(rand.NewPCG(4, 1))
	for range 5000 {
		n := 1 + rnd.IntN(400)
		m := bitmap(rnd, n)
		end := 1 + rnd.IntN(n)
		most := 1 + rnd.IntN(end)
		one, run := runBack(m, end, most)
		if one != (bitAt(m, end-1) == 1) || run < 1 || run > most {
			t.Fatalf("before %d, most %d: %v for %d", end, most, one, run)
		}
		for i := end - run; i < end; i++ {
			if (bitAt(m, i) == 1) != one {
				t.Fatalf("before %d: bit %d is not %v", end, i, one)
			}
		}
	}
}

func testSpread[T number](t *testing.T, rnd *rand.Rand, width int) {
	t.Helper()
	for range 2000 {
		at, n := rnd.IntN(20), rnd.IntN(300)
		valid := bitmap(rnd, at+n)
		k := countBits(valid, at, n)
		raw := noise(rnd, n*width)
		want := slices.Clone(raw)
		for i, j := 0, 0; i < n; i++ {
			if bitAt(valid, at+i) == 1 {
				copy(want[i*width:(i+1)*width], raw[j*width:])
				j++
			}
		}
		got := slices.Clone(raw)
		if width > 8 || width == 3 {
			spreadFixed(got, width, valid, at, n, k)
		} else {
			spread(view[T](got)[:n], valid, at, n, k)
		}
		for i := range n {
			if bitAt(valid, at+i) == 1 && !bytes.Equal(got[i*width:(i+1)*width], want[i*width:(i+1)*width]) {
				t.Fatalf("width %d, from bit %d: value %d of %d differs", width, at, i, n)
			}
		}
	}
}

func TestSpread(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 1))
	testSpread[uint8](t, rnd, 1)
	testSpread[uint16](t, rnd, 2)
	testSpread[uint32](t, rnd, 4)
	testSpread[uint64](t, rnd, 8)
	testSpread[uint8](t, rnd, 3)
	testSpread[uint8](t, rnd, 16)
}

func TestSpreadEnds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 1))
	for range 2000 {
		at, n := rnd.IntN(20), rnd.IntN(100)
		valid := bitmap(rnd, at+n)
		k := countBits(valid, at, n)
		ends := make([]int32, n+1)
		for i := range k {
			ends[i+1] = ends[i] + rnd.Int32N(9)
		}
		want := make([]int32, n+1)
		for i, j := 0, 0; i < n; i++ {
			if bitAt(valid, at+i) == 1 {
				j++
			}
			want[i+1] = ends[j]
		}
		spreadEnds(ends, valid, at, n, k)
		if !slices.Equal(ends, want) {
			t.Fatalf("from bit %d: %v, want %v", at, ends, want)
		}
	}
}
