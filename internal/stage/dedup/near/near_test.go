package near

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/sys/unix"
)

// texts are two of n words that have some in common, and their similarity.
func texts(rng *rand.Rand, n, common int) (a, b string, similarity float64) {
	var x, y []string
	for i := range n {
		w := fmt.Sprint("w", rng.Uint32())
		x = append(x, w)
		if i >= common {
			w = fmt.Sprint("v", rng.Uint32())
		}
		y = append(y, w)
	}
	return strings.Join(x, " "), strings.Join(y, "\n\t"), float64(common) / float64(2*n-common)
}

// TestSignaturesAgreeAsTextsAreAlike has a mean that only a wrong estimate
// misses: 200 pairs have a standard deviation of 0.0032.
func TestSignaturesAgreeAsTextsAreAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := NewSigner(Gram{N: 1})
	for _, common := range []int{0, 10, 25, 40, 50} {
		sum, want := 0.0, 0.0
		for range 200 {
			a, b, similarity := texts(rng, 50, common)
			var x, y Signature
			s.Sign(&x, []byte(a))
			s.Sign(&y, []byte(b))
			sum, want = sum+Agree(&x, &y), similarity
		}
		if got := sum / 200; math.Abs(got-want) > 0.016 {
			t.Errorf("similarity %.3f: signatures agree in %.3f", want, got)
		}
	}
}

func TestGramsAreWordsInARow(t *testing.T) {
	sign := func(g Gram, text string) (s Signature) {
		NewSigner(g).Sign(&s, []byte(text))
		return s
	}
	for _, c := range []struct {
		g    Gram
		a, b string
		same bool
	}{
		{Gram{N: 1}, "a b c", "c  a\u3000b a", true},
		{Gram{N: 2}, "a b a b", "b a b", true},
		{Gram{N: 2}, "a b", "b a", false},
		{Gram{N: 5}, "a b", " a\u00a0b ", true},
		{Gram{N: 5}, "a b", "ab", false},
		{Gram{N: 3}, "", " \n", true},
		{Gram{N: 3, Bytes: true}, "abcabc", "bcabcab", true},
		{Gram{N: 3, Bytes: true}, "ab", "ba", false},
		{Gram{N: 3, Bytes: true}, "", "a", false},
	} {
		if got := sign(c.g, c.a) == sign(c.g, c.b); got != c.same {
			t.Errorf("%+v: %q and %q: the same is %v", c.g, c.a, c.b, got)
		}
	}
}

// FuzzWord compares words with those of a plain scanner.
func FuzzWord(f *testing.F) {
	f.Add([]byte(" a\u2028b\u00a0\u0085 \xe2\x80 \xff\u1680x\u3000"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var got []string
		for at := 0; ; {
			from, to := word(text, at)
			if from == to {
				break
			}
			got, at = append(got, string(text[from:to])), to
		}
		want := strings.FieldsFunc(string(text), unicode.IsSpace)
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q: %q, not %q", text, got, want)
		}
	})
}

// TestNoBandsAreWrongLess adds pairs up in finer steps than BandsFor does, by
// the rule of the trapezium.
func TestNoBandsAreWrongLess(t *testing.T) {
	wrong := func(b Bands, threshold float64) (sum float64) {
		const steps = 500
		for i := range steps + 1 {
			x, part := float64(i)/steps, 1.0/steps
			if i == 0 || i == steps {
				part /= 2
			}
			if p := b.Probability(x); x < threshold {
				sum += p * part
			} else {
				sum += (1 - p) * part
			}
		}
		return sum
	}
	for _, threshold := range []float64{0.5, 0.8, 0.95} {
		got, err := BandsFor(threshold)
		if err != nil {
			t.Fatal(err)
		}
		if got.Count*got.Rows > Places {
			t.Errorf("%s need more places than there are", got)
		}
		least := wrong(got, threshold) - 0.002
		for rows := 1; rows <= Places; rows++ {
			for count := 1; count*rows <= Places; count++ {
				if b := (Bands{count, rows}); wrong(b, threshold) < least {
					t.Errorf("%v: %s are wrong less often than %s", threshold, b, got)
				}
			}
		}
	}
}

// TestBandsFindPlantedPairs as often as their probability says.
func TestBandsFindPlantedPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b, err := BandsFor(0.8)
	if err != nil {
		t.Fatal(err)
	}
	s := NewSigner(Gram{N: 1})
	for _, common := range []int{30, 60, 85, 90, 97} {
		found, similarity := 0, 0.0
		const pairs = 400
		for range pairs {
			var x, y Signature
			var one, two string
			one, two, similarity = texts(rng, 100, common)
			s.Sign(&x, []byte(one))
			s.Sign(&y, []byte(two))
			h, g := make([]uint64, b.Count), make([]uint64, b.Count)
			b.Hash(h, &x)
			b.Hash(g, &y)
			for i := range h {
				if h[i] == g[i] {
					found++
					break
				}
			}
		}
		// Five standard deviations of a share of 400.
		if got, want := float64(found)/pairs, b.Probability(similarity); math.Abs(got-want) > 0.125 {
			t.Errorf("similarity %.2f: %.3f of the pairs are found, not %.3f", similarity, got, want)
		}
	}
	for _, wrong := range []float64{0, 1, -1, math.NaN()} {
		if _, err := BandsFor(wrong); err == nil {
			t.Errorf("%v is a threshold", wrong)
		}
	}
}

// cpu is what the process has used, of both kinds.
func cpu() time.Duration {
	var r unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &r)
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// BenchmarkSign is texts of about 150 bytes.
func BenchmarkSign(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	var all [][]byte
	for range 1000 {
		var words []string
		for n := 0; n < 150; {
			w := strings.Repeat("abcdefghijkl"[rng.IntN(6):], 1)[:2+rng.IntN(5)] + fmt.Sprint(rng.IntN(10))
			words, n = append(words, w), n+len(w)+1
		}
		all = append(all, []byte(strings.Join(words, " ")))
	}
	for _, g := range []Gram{{N: 5}, {N: 1}, {N: 5, Bytes: true}} {
		b.Run(fmt.Sprintf("%d-bytes=%v", g.N, g.Bytes), func(b *testing.B) {
			s := NewSigner(g)
			var sig Signature
			i := 0
			start := cpu()
			for b.Loop() {
				s.Sign(&sig, all[i%len(all)])
				i++
			}
			b.ReportMetric(float64(b.N)/(cpu()-start).Seconds(), "texts/cpu-s")
		})
	}
}
