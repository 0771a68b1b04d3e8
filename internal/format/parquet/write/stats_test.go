package write

import (
	"bytes"
	"encoding/binary"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

func plainTexts(texts ...string) (out []byte) {
	for _, s := range texts {
		out = append(binary.LittleEndian.AppendUint32(out, uint32(len(s))), s...)
	}
	return out
}

func doubles(v ...float64) (out []byte) {
	for _, x := range v {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(x))
	}
	return out
}

func TestStatsOfFloatsFollowParquet(t *testing.T) {
	nan, minus := math.NaN(), math.Copysign(0, -1)
	for _, c := range []struct {
		in     []float64
		lo, hi float64
		known  bool
	}{
		{[]float64{3, 1, 2, -7, 5, 5, 5, 5, 9, 4, 4}, -7, 9, true},
		{[]float64{nan, nan, 1, nan}, 1, 1, true},
		{[]float64{nan}, 0, 0, false},
		{[]float64{0, 0}, minus, 0, true},
		{[]float64{minus}, minus, 0, true},
		{[]float64{math.Inf(1), math.Inf(-1)}, math.Inf(-1), math.Inf(1), true},
	} {
		var s stats
		s.measure(byFloat64, doubles(c.in...), len(c.in), 8)
		if s.known != c.known || c.known && !bytes.Equal(append(bytes.Clone(s.min()), s.max()...), doubles(c.lo, c.hi)) {
			t.Errorf("%v: %v %x %x", c.in, s.known, s.min(), s.max())
		}
	}
}

func TestStatsOfLongTextsAreBounds(t *testing.T) {
	long := strings.Repeat("é", 40)
	for _, c := range []struct {
		in   []string
		text bool
		lo   string
		hi   string
	}{
		{[]string{"b", "a", "abc"}, true, "a", "b"},
		{[]string{"", "x"}, true, "", "x"},
		{[]string{"12345678a", "12345678", "12345678b"}, true, "12345678", "12345678b"},
		{[]string{long}, true, long[:64], strings.Repeat("é", 31) + "ê"},
		{[]string{strings.Repeat("\xff", 65)}, false, strings.Repeat("\xff", 64), "none"},
		{[]string{"a" + strings.Repeat("\xff", 65)}, false, "a" + strings.Repeat("\xff", 63), "b"},
		{[]string{strings.Repeat("\U0010ffff", 20)}, true, strings.Repeat("\U0010ffff", 16), "none"},
	} {
		o := byBytes
		if c.text {
			o = byText
		}
		var s stats
		s.measure(o, plainTexts(c.in...), len(c.in), 0)
		if c.hi == "none" {
			if s.known {
				t.Errorf("%q has a bound, %q", c.in, s.max())
			}
			continue
		}
		if !s.known || string(s.min()) != c.lo || string(s.max()) != c.hi || c.text && !utf8.Valid(s.max()) {
			t.Errorf("%q: %q to %q", c.in, s.min(), s.max())
		}
	}
}

func FuzzTextBounds(f *testing.F) {
	f.Add("a", strings.Repeat("z", 70), true)
	f.Add(strings.Repeat("\xf0", 90), "", false)
	f.Fuzz(func(t *testing.T, a, b string, text bool) {
		o := byBytes
		if text {
			o = byText
		}
		var s, first, second stats
		s.measure(o, plainTexts(a, b), 2, 0)
		first.measure(o, plainTexts(a), 1, 0)
		second.measure(o, plainTexts(b), 1, 0)
		for _, v := range []string{a, b} {
			if s.known && (string(s.min()) > v || string(s.max()) < v) {
				t.Errorf("%q is outside %q to %q", v, s.min(), s.max())
			}
		}
		if first.known && second.known {
			if first.join(o, &second); string(first.min()) > min(a, b) || string(first.max()) < max(a, b) {
				t.Errorf("together %q to %q", first.min(), first.max())
			}
		}
	})
}

func TestSignedBytesCompareAsNumbers(t *testing.T) {
	for _, c := range []struct {
		a, b []byte
		want int
	}{
		{[]byte{0xff, 0xff}, []byte{0, 0}, -1},
		{[]byte{0x80, 0}, []byte{0x80, 1}, -1},
		{[]byte{1, 0}, []byte{0, 0xff}, 1},
	} {
		if got := bySigned.compare(c.a, c.b); got != c.want {
			t.Errorf("%x, %x: %d", c.a, c.b, got)
		}
	}
}
