package near

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode"
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
// misses: 200 pairs have a standard deviation of 0.0032. The deviation of a
// pair is at most that of Places throws of a coin, with a seventh for chance.
func TestSignaturesAgreeAsTextsAreAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	s := NewSigner(Gram{N: 1})
	for _, words := range []int{5, 20, 50, 400} {
		for _, tenths := range []int{0, 2, 5, 8, 10} {
			sum, squares, want := 0.0, 0.0, 0.0
			const pairs = 200
			for range pairs {
				a, b, similarity := texts(rng, words, words*tenths/10)
				var x, y Signature
				s.Sign(&x, []byte(a))
				s.Sign(&y, []byte(b))
				sum, want = sum+Agree(&x, &y), similarity
				squares += (Agree(&x, &y) - similarity) * (Agree(&x, &y) - similarity)
			}
			if got := sum / pairs; math.Abs(got-want) > 0.016 {
				t.Errorf("%d words, similarity %.3f: signatures agree in %.3f", words, want, got)
			}
			got, most := math.Sqrt(squares/pairs), math.Sqrt(want*(1-want)/Places)
			if got > 1.15*most {
				t.Errorf("%d words, similarity %.3f: a standard deviation of %.4f, not %.4f", words, want, got, most)
			}
		}
	}
}

// plainSign is a signature by its definition: of all n-grams at once, round by
// round.
func plainSign(s *Signer, grams []uint64) (out Signature) {
	for place := range out {
		out[place] = ^uint32(0)
		for round := range throws + 1 {
			least, any := ^uint32(0), false
			for _, g := range grams {
				at, i := uint64(place), throws+place
				if round < throws {
					i = round
				}
				x := (g ^ s.add[i]) * s.mul[i]
				number := uint32(x >> 32)
				if round < throws {
					at, number = x>>57, uint32(x>>25)
				}
				if at == uint64(place) {
					least, any = min(least, number), true
				}
			}
			if any {
				out[place] = least
				break
			}
		}
	}
	return out
}

// TestSignatureIsThatOfTheDefinition for texts of few n-grams, which need all
// rounds, and of more than are held at a time.
func TestSignatureIsThatOfTheDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := NewSigner(Gram{N: 1})
	for _, distinct := range []int{0, 1, 2, 7, 30, 200, 3000} {
		for _, times := range []int{1, 3, gramsHeld + 1} {
			var grams []uint64
			for range distinct {
				grams = append(grams, rng.Uint64())
			}
			if times > 1 {
				for len(grams) > 0 && len(grams) < times*4 {
					grams = append(grams, grams[rng.IntN(distinct)])
				}
				// The last n-grams of all are new ones.
				grams = append(grams, rng.Uint64(), rng.Uint64())
			}
			var got Signature
			s.begin()
			for _, g := range grams {
				s.take(g)
			}
			s.end(&got)
			if want := plainSign(s, grams); got != want {
				t.Errorf("%d n-grams, %d different ones: %v, not %v", len(grams), distinct, got, want)
			}
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
		got, err := BandsFor(threshold, false)
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

// TestBandsForACheckFindNineOfTen are no shorter and no more than that takes.
func TestBandsForACheckFindNineOfTen(t *testing.T) {
	for x := 0.02; x < 0.995; x += 0.01 {
		b, err := BandsFor(x, true)
		if err != nil {
			t.Fatal(err)
		}
		if b.Count*b.Rows > Places || b.Probability(x) < found {
			t.Errorf("%.2f: %s", x, b)
		}
		fewer, longer := Bands{b.Count - 1, b.Rows}, Bands{Places / (b.Rows + 1), b.Rows + 1}
		if fewer.Probability(x) >= found || longer.Probability(x) >= found {
			t.Errorf("%.2f: fewer or longer bands than %s do", x, b)
		}
	}
	if b, err := BandsFor(0.8, true); err != nil || b.String() != "13 bands of 8: 4.96% at 0.5, 19.8% at 0.6, 53.8% at 0.7, 90.8% at 0.8, 99.9% at 0.9, 100% at 0.95" {
		t.Error(b, err)
	}
}

// TestBandsFindPlantedPairs as often as their probability says.
func TestBandsFindPlantedPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	b, err := BandsFor(0.8, false)
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
		if _, err := BandsFor(wrong, true); err == nil {
			t.Errorf("%v is a threshold", wrong)
		}
	}
}
