package literal

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

func (v wide) big() *big.Int {
	out := new(big.Int)
	for i := 3; i >= 0; i-- {
		out.Or(out.Lsh(out, 64), new(big.Int).SetUint64(v[i]))
	}
	if v[3]>>63 == 1 {
		out.Sub(out, new(big.Int).Lsh(big.NewInt(1), 256))
	}
	return out
}

func TestDecimalsAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 5000 {
		whole, behind, scale := 1+r.IntN(50), r.IntN(26), r.IntN(26)
		text := ""
		for range whole + behind {
			text += string(rune('0' + r.IntN(10)))
		}
		want, _ := new(big.Int).SetString(text, 10)
		fits := true
		for i := behind; i < scale; i++ {
			want.Mul(want, big.NewInt(10))
		}
		for i := scale; i < behind; i++ {
			var rest big.Int
			want.QuoRem(want, big.NewInt(10), &rest)
			fits = fits && rest.Sign() == 0
		}
		fits = fits && (want.Sign() == 0 || len(want.String()) <= 76)
		sign := ""
		if r.IntN(2) == 0 {
			sign = "-"
			want.Neg(want)
		}
		text = sign + text[:whole] + "." + text[whole:]
		got, ok := decimal([]byte(text), 76, scale)
		if ok != fits || ok && got.big().Cmp(want) != 0 {
			t.Fatalf("%s, scale %d: %v, %v; want %v, %v", text, scale, got.big(), ok, want, fits)
		}
	}
	for _, text := range []string{"", "-", "+", ".", "1.2.3", "1e", "x", "1 ", "--1", strings.Repeat("9", 77)} {
		if v, ok := decimal([]byte(text), 76, 2); ok {
			t.Errorf("%q is %v", text, fmt.Sprint(v.big()))
		}
	}
}
