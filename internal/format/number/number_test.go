package number

import (
	"bytes"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// padded is s with so much behind it that the fast paths take it.
func padded(s string) []byte { return append([]byte(s), ","+strings.Repeat("7", ahead)...) }

// same holds that s is a number with the bits that strconv gives, at the end
// of a text and within one.
func same(t testing.TB, s string) {
	t.Helper()
	want, err := strconv.ParseFloat(s, 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) {
		t.Fatalf("%q is a bad test: %v", s, err)
	}
	for _, b := range [][]byte{[]byte(s), padded(s)} {
		got, n, ok := Float64(b)
		if !ok || n != len(s) || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%q within %d bytes: %x, %d bytes, %v; want %x", s, len(b), got, n, ok, want)
		}
	}
}

func TestFloat64IsExact(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "0.0", "-0.000", "1", "+1", "-1", "1.", ".5", "-.5", "00012", "1e5", "1E+5", "1e-05", "0.8444218515250481", "123456789012345678901234567890",
		"9007199254740993", "9007199254740992.5", "9007199254740993.0000000000000000000000000000001", "1e22", "1e23", "8.5e15", "1e-400", "1e400", "-1e400", "4.9e-324", "2.4703282292062327e-324",
		"2.4703282292062328e-324", "2.2250738585072011e-308", "2.2250738585072014e-308", "1.7976931348623157e308", "1.7976931348623158e308", "1.7976931348623159e308",
		"0." + strings.Repeat("0", 400) + "1e401", "1" + strings.Repeat("0", 400) + "e-400", "0.0000000000000000000000000000000000000000000000000000001", "1e9999999999999999999999", "1e-9999999999999999999999",
		"3.1415926535897932384626433832795028841971693993751058", "100000000000000016777215", "100000000000000016777216", "999999999999999999.9", "9999999999999999999", "12345678.12345678901", "0.12345678901234567890",
		"6.631236846766476e-316", "3.2378839133029012895883524125015321748630094681e-319", "1090544144181609348671888949248", "1090544144181609348835077142190",
	} {
		same(t, s)
	}
}

func TestFloat64OfRandomBitsIsExact(t *testing.T) {
	n := 1_000_000
	if testing.Short() {
		n = 50_000
	}
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 0, 64)
	for range n {
		want := math.Float64frombits(r.Uint64())
		if want != want || math.IsInf(want, 0) {
			continue
		}
		form := byte('g')
		if e := math.Abs(want); e > 1e-8 && e < 1e20 || r.IntN(4) == 0 {
			form = 'f'
		}
		buf = strconv.AppendFloat(buf[:0], want, form, -1, 64)
		buf = append(append(buf, ','), buf...)
		got, _, ok := Float64(buf)
		if !ok || math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("%s: %x, want %x", buf, got, want)
		}
	}
}

// Halves between two neighbours, a little more and a little less, are where
// rounding goes wrong.
func TestFloat64RoundsHalvesToEven(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		m := uint64(1)<<53 | r.Uint64N(1<<53)
		for _, e := range []uint{1, 2, 3, 5, 10} {
			// m / 2^e has e digits behind the point.
			same(t, new(big.Rat).SetFrac64(int64(2*m+1), 1<<e).FloatString(int(e)))
		}
		same(t, strconv.FormatUint(2*m+1, 10))
		same(t, strconv.FormatUint(2*m+1, 10)+".0000000000000000000001")
		same(t, strconv.FormatUint(m, 10)+".5")
		same(t, strconv.FormatUint(m, 10)+".49999999999999999999")
		same(t, strconv.FormatUint(r.Uint64(), 10)+"e"+strconv.Itoa(r.IntN(700)-350))
	}
}

func TestShortestFormsTakeTheFastPath(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100_000 {
		f := r.NormFloat64()
		s := strconv.FormatFloat(math.Abs(f), 'f', -1, 64)
		x, err := scan([]byte(s))
		if !err || x.cut {
			t.Fatalf("%s: more than 19 digits", s)
		}
		if _, ok := nearest(x.w, x.exp); !ok {
			t.Fatalf("%s needs strconv", s)
		}
	}
}

func TestNumbersEndWhereTheyEnd(t *testing.T) {
	for _, c := range []struct {
		s string
		n int // 0: no number
	}{
		{"", 0}, {"-", 0}, {"+", 0}, {".", 0}, {"-.", 0}, {"e5", 0}, {"x", 0}, {" 1", 0}, {"--1", 0}, {"nan", 0}, {"inf", 0}, {".e1", 0},
		{"1e", 1}, {"1e+", 1}, {"1e-x", 1}, {"1.e3", 4}, {"1.2.3", 3}, {"1-2", 1}, {"0x10", 1}, {"1_000", 1}, {"1e5e6", 3}, {"1..", 2}, {"1,5", 1}, {"12345678:", 8}, {"12345678/", 8}, {"1.12345678/", 10},
	} {
		for _, b := range [][]byte{[]byte(c.s), append([]byte(c.s), bytes.Repeat([]byte{' '}, ahead)...)} {
			if _, n, ok := Float64(b); ok != (c.n > 0) || ok && n != c.n {
				t.Errorf("%q: %d bytes, %v; want %d", b, n, ok, c.n)
			}
		}
	}
}

func TestNumbersOfMoreThan64KiBAreNone(t *testing.T) {
	if _, _, ok := Float64(bytes.Repeat([]byte("1"), longest+1)); ok {
		t.Error("a number")
	}
	same(t, strings.Repeat("1", 300)+"."+strings.Repeat("3", longest-500))
}

func TestInt64HoldsItsRange(t *testing.T) {
	for _, s := range []string{
		"0", "-0", "+7", "12345678", "-123456789012345678", "9223372036854775807", "-9223372036854775808", "9223372036854775808", "-9223372036854775809",
		"18446744073709551616", "99999999999999999999", "000000000000000000000000000000000012", "1" + strings.Repeat("0", 60), "123456789012345678901",
	} {
		want, err := strconv.ParseInt(s, 10, 64)
		for _, b := range [][]byte{[]byte(s), padded(s)} {
			got, n, ok := Int64(b)
			if ok != (err == nil) || n != len(s) || ok && got != want {
				t.Errorf("%q: %d, %d bytes, %v", b, got, n, ok)
			}
		}
	}
	for _, s := range []string{"", "-", "+", "x", " 1", "--1"} {
		if _, _, ok := Int64([]byte(s)); ok {
			t.Errorf("%q is an integer", s)
		}
		if _, _, ok := Int64(append([]byte(s), "         "...)); ok {
			t.Errorf("%q within a text is an integer", s)
		}
	}
}

func TestJSONNumbers(t *testing.T) {
	for s, want := range map[string]bool{
		"0": true, "-0": true, "10": true, "1.5": true, "-1.5e+3": true, "0.1": true, "1e5": true, "0e1": true,
		"+1": false, "01": false, "-01": false, "1.": false, ".5": false, "-.5": false, "1.e5": false, "00": false,
	} {
		if got := JSON([]byte(s)); got != want {
			t.Errorf("%s: %v", s, got)
		}
	}
}

func TestNothingIsAllocated(t *testing.T) {
	texts := [][]byte{[]byte("0.8444218515250481"), padded("-1.302608463407848"), []byte("2.47032822920623272088284396434110686183e-324"), []byte("9007199254740993.00000000000000000000001"), padded("-123456789")}
	if n := testing.AllocsPerRun(100, func() {
		for _, b := range texts {
			Float64(b)
			Int64(b)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func FuzzFloat64(f *testing.F) {
	for _, s := range []string{"0.8444218515250481,", "-1e5", "1.e", "123456789012345678901234567890", "4.9e-324", "+.5"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 2000 {
			return
		}
		v, n, ok := Float64(b)
		long := append(bytes.Clone(b), bytes.Repeat([]byte{','}, ahead)...)
		if w, m, too := Float64(long); math.Float64bits(w) != math.Float64bits(v) || m != n || too != ok {
			t.Fatalf("%q: %v, %d, %v; with commas behind it %v, %d, %v", b, v, n, ok, w, m, too)
		}
		if !ok {
			return
		}
		same(t, string(b[:n]))
		i, m, ok := Int64(b)
		want, err := strconv.ParseInt(string(b[:m]), 10, 64)
		if ok != (err == nil) || ok && i != want {
			t.Fatalf("%q: %d, %v; want %d, %v", b[:m], i, ok, want, err)
		}
	})
}

// texts are normally distributed numbers with commas between.
func texts() []byte {
	r := rand.New(rand.NewPCG(7, 8))
	var b []byte
	for range 100_000 {
		b = append(strconv.AppendFloat(b, r.NormFloat64(), 'g', -1, 64), ',')
	}
	return b
}

func BenchmarkFloat64(b *testing.B) {
	data := texts()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for rest := data; len(rest) > 0; {
			_, n, _ := Float64(rest)
			rest = rest[n+1:]
		}
	}
}

func BenchmarkStrconv(b *testing.B) {
	data := string(texts())
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		for rest := data; len(rest) > 0; {
			n := strings.IndexByte(rest, ',')
			strconv.ParseFloat(rest[:n], 64)
			rest = rest[n+1:]
		}
	}
}
