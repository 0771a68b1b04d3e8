package write

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// undelta is a plain decoder of DELTA_BINARY_PACKED.
func undelta[T int32 | int64](t testing.TB, b []byte) []T {
	t.Helper()
	number := func() uint64 {
		v, k := binary.Uvarint(b)
		if k <= 0 {
			t.Fatal("the differences end too early")
		}
		b = b[k:]
		return v
	}
	signed := func() T {
		v, k := binary.Varint(b)
		b = b[max(k, 0):]
		return T(v)
	}
	block, minis, count := int(number()), int(number()), int(number())
	out := []T{signed()}
	for len(out) < count {
		least := signed()
		widths := b[:minis]
		b = b[minis:]
		for _, width := range widths {
			if len(out) >= count {
				if width != 0 {
					t.Fatal("a miniblock without values has a width")
				}
				continue
			}
			for i := range block / minis {
				v := uint64(0)
				for j := range int(width) {
					bit := i*int(width) + j
					v |= uint64(b[bit>>3]>>(bit&7)&1) << j
				}
				if len(out) < count {
					out = append(out, out[len(out)-1]+least+T(v))
				}
			}
			b = b[block/minis*int(width)/8:]
		}
	}
	if len(b) > 0 {
		t.Fatalf("%d bytes too many", len(b))
	}
	return out
}

// checkDeltas encodes into exactly the room that is asked for.
func checkDeltas[T int32 | int64](t testing.TB, v []T, width int) {
	t.Helper()
	const before = 3
	dst := make([]byte, before, before+deltaBytes(len(v), width))
	out := packDeltas(dst, v, width)
	if &out[0] != &dst[0] {
		t.Fatalf("%d values need more than the room that was asked for", len(v))
	}
	if got := undelta[T](t, out[before:]); !slices.Equal(got, v) {
		t.Fatalf("%d values come back as others", len(v))
	}
}

// stairs are n integers whose differences take up to width bits.
func stairs[T int32 | int64](r *rand.Rand, n, width int) []T {
	v := make([]T, n)
	last := T(r.Uint64())
	for i := range v {
		v[i] = last
		if width > 0 {
			last += T(r.Uint64() >> (64 - width))
		}
	}
	return v
}

func TestDeltasOfEveryWidthAndLength(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for width := range 65 {
		for _, n := range []int{1, 2, 32, 33, 34, 128, 129, 130, 257, 1000} {
			checkDeltas(t, stairs[int64](r, n, width), 8)
			if width <= 32 {
				checkDeltas(t, stairs[int32](r, n, width), 4)
			}
		}
	}
}

func TestDeltasBetweenTheLimitsOfIntegers(t *testing.T) {
	checkDeltas(t, slices.Repeat([]int32{math.MinInt32, math.MaxInt32, 0, -1, -100, 50_256}, 50), 4)
	checkDeltas(t, slices.Repeat([]int64{math.MinInt64, math.MaxInt64, 0, -1, math.MaxInt32 + 1}, 50), 8)
	checkDeltas(t, slices.Repeat([]int32{-100}, 500), 4)
}

func FuzzDeltas(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
	f.Add(slices.Repeat([]byte{0, 0, 0, 0x80, 0xff, 0xff, 0xff, 0x7f}, 100))
	f.Fuzz(func(t *testing.T, data []byte) {
		v := make([]int64, len(data)/8)
		w := make([]int32, len(data)/4)
		for i := range v {
			v[i] = int64(binary.LittleEndian.Uint64(data[8*i:]))
		}
		for i := range w {
			w[i] = int32(binary.LittleEndian.Uint32(data[4*i:]))
		}
		if len(v) > 0 {
			checkDeltas(t, v, 8)
		}
		if len(w) > 0 {
			checkDeltas(t, w, 4)
		}
	})
}

func BenchmarkDeltas(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	tokens, places := make([]int32, 64<<10), make([]int32, 64<<10)
	for i := range tokens {
		tokens[i], places[i] = r.Int32N(50_000), int32(i%700)
	}
	dst := make([]byte, 0, deltaBytes(len(tokens), 4))
	for name, v := range map[string][]int32{"tokens": tokens, "positions": places} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(4 * len(v)))
			for b.Loop() {
				packDeltas(dst, v, 4)
			}
		})
	}
}
