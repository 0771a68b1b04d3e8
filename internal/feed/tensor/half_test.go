package tensor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// slowHalf is the value of a float of 16 bits by its definition.
func slowHalf(h uint16, exp, frac int) float64 {
	sign := 1.0
	if h>>15 == 1 {
		sign = -1
	}
	e, f := int(h>>frac)&(1<<exp-1), float64(int(h)&(1<<frac-1))
	bias := 1<<(exp-1) - 1
	switch {
	case e == 1<<exp-1 && f == 0:
		return math.Inf(int(sign))
	case e == 1<<exp-1:
		return math.NaN()
	case e == 0:
		return sign * math.Ldexp(f, 1-bias-frac)
	}
	return sign * math.Ldexp(f+float64(int(1)<<frac), e-bias-frac)
}

// nearest rounds by looking at both neighbours, up to the one beyond the last.
func nearest(x float64, exp, frac int) uint16 {
	inf := uint16(1<<exp-1) << frac
	sign := uint16(0)
	if math.Signbit(x) {
		sign = 0x8000
	}
	x = math.Abs(x)
	low, high := uint16(0), inf
	value := func(h uint16) float64 {
		if h == inf { // as if it were a number
			return math.Ldexp(1, 1<<(exp-1))
		}
		return slowHalf(h, exp, frac)
	}
	if x >= value(inf) {
		return sign | inf
	}
	for high-low > 1 {
		if mid := (low + high) / 2; value(mid) <= x {
			low = mid
		} else {
			high = mid
		}
	}
	below, above := x-value(low), value(high)-x
	if below < above || below == above && low%2 == 0 {
		return sign | low
	}
	return sign | high
}

func checkShort(t *testing.T, x float64) {
	t.Helper()
	var f [1]float32
	var got [2]uint16
	widen(f[:], []float64{x})
	roundHalf(got[:1], 1, f[:])
	roundBrain(got[1:], 1, f[:])
	if want := nearest(x, 5, 10); got[0] != want || half(odd32(x)) != want {
		t.Fatalf("%v (%x): float16 %04x, want %04x", x, x, got[0], want)
	}
	if want := nearest(x, 8, 7); got[1] != want || brain(odd32(x)) != want {
		t.Fatalf("%v (%x): bfloat16 %04x, want %04x", x, x, got[1], want)
	}
}

// TestShortFloatsAreTheNearest tries every float of 16 bits, the middle to the
// next, and what lies just beside these.
func TestShortFloatsAreTheNearest(t *testing.T) {
	for h := range 0x10000 {
		if v := slowHalf(uint16(h), 5, 10); v == v {
			if got := float64(unhalf(uint16(h))); got != v || math.Signbit(got) != math.Signbit(v) {
				t.Fatalf("%04x is %v, want %v", h, got, v)
			}
		} else if f := unhalf(uint16(h)); f == f || half(f) != uint16(h)&0x8000|0x7e00 {
			t.Fatalf("%04x is %v", h, f)
		}
		if h >= 0x8000 && h%16 > 0 {
			continue // what is negative differs in the sign alone
		}
		for _, bits := range [][2]int{{5, 10}, {8, 7}} {
			v, next := slowHalf(uint16(h), bits[0], bits[1]), slowHalf(uint16(h)+1, bits[0], bits[1])
			if v != v || math.IsInf(v, 0) {
				continue
			}
			for _, x := range []float64{v, (v + next) / 2} {
				if x == x && !math.IsInf(x, 0) {
					checkShort(t, x)
					checkShort(t, math.Nextafter(x, 1e300))
					checkShort(t, math.Nextafter(x, -1e300))
				}
			}
		}
	}
	for _, x := range []float64{65519.99, 65520, 1e300, -1e300, math.Inf(1), math.Inf(-1), math.MaxFloat32, 5e-324, math.Copysign(0, -1)} {
		checkShort(t, x)
	}
	if half(float32(math.NaN()))&0x7fff <= 0x7c00 || brain(float32(math.NaN()))&0x7fff <= 0x7f80 || brain(math.Float32frombits(0x7f800001))&0x7fff <= 0x7f80 {
		t.Error("NaN is infinite")
	}
	if half(odd32(math.NaN()))&0x7fff <= 0x7c00 {
		t.Error("NaN of float64 is lost")
	}
}

func TestLargeIntegersAreRoundedOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		// A number in the middle between two of bfloat16, or one more or less.
		shift := r.IntN(54)
		u := (r.Uint64N(1<<8) | 1<<8 | 1) << shift
		u += r.Uint64N(3) - 1
		var tmp [2]float32
		widen(tmp[:1], []uint64{u})
		want := nearest(exact(u), 8, 7)
		if got := brain(tmp[0]); got != want {
			t.Fatalf("%d: %04x, want %04x", u, got, want)
		}
		if int64(u) >= 0 {
			widen(tmp[:1], []int64{-int64(u)})
			if got := brain(tmp[0]); got != want|0x8000 {
				t.Fatalf("-%d: %04x, want %04x", u, got, want|0x8000)
			}
		}
	}
}

// exact is u, or where float64 has it not, a number on the same side of every
// middle.
func exact(u uint64) float64 {
	f := float64(u)
	if f < 0x1p63 && uint64(f) == u {
		return f
	}
	high, low := float64(u&^0xffff), u&0xffff
	if low == 0 {
		return high
	}
	return high + 0x1p15 // neither end of the 16 bits is reached
}
