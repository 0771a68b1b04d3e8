package split

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

var known = map[string][]string{
	"gpt2": {patternGPT2}, "llama3": {patternLlama3}, "qwen": {patternQwen}, "gpt4": {patternGPT4}, "gpt4o": {patternGPT4o},
	"tekken": {patternTekken}, "deepseek": {patternDeepSeek},
	"deepseek in a row": {patternDeepSeekNumbers, patternDeepSeekHan, patternDeepSeek},
}

// twins are a splitter by scanner, and one by the general engine, for the same patterns.
func twins(t testing.TB, patterns []string) (scanned, general *chain) {
	scanned, general = &chain{}, &chain{}
	for _, p := range patterns {
		if err := scanned.addSplit(pattern{p, true}, isolated, false); err != nil {
			t.Fatal(err)
		}
		if err := general.addSplit(pattern{"(?:" + p + ")", true}, isolated, false); err != nil {
			t.Fatal(err)
		}
	}
	scanned.fuse()
	if _, ok := scanned.Scanner(); !ok {
		t.Fatalf("no scanner for %q", patterns)
	}
	if _, ok := general.stages[0].(regexStage); !ok {
		t.Fatalf("a scanner for what should have none: %q", patterns)
	}
	return scanned, general
}

var hard = []string{" ", " ", "  ", "\n", "\r\n", "\t", "\u0085", "\u00a0", "\u3000", "\u2028", "'", "''", "'s", "'S", "'ſ", "'re", "'Ve", "'LL", "'l",
	"'m", "a", "A", "ab", "Ab", "aB", "ſ", "ǅ", "ʰ", "ª", "é", "e\u0301", "\u0301", "\u20dd", "\u0903", "1", "12", "1234", "²", "½", "Ⅷ", "٣", "一", "龦", "〇", "が", "ー",
	"゛", "・", "\u3099", "\u3040", "한", "ß", "İ", "!", "/", "//", "\\", "_", ".", "€", "＋", "😀", "👨\u200d👩", "𝐀", "𝟘", "𠀀", "\u200b", "\u0000", "\u0378", "\ue000", "\ufffd", "\U000e0041", "\x7f"}

func hardText(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(24) {
		switch r.IntN(8) {
		case 0:
			b.WriteRune(rune(r.IntN(utf8.MaxRune + 1)))
		case 1:
			b.WriteRune(rune(r.IntN(0x3200)))
		case 2:
			b.WriteString(strings.Repeat(hard[r.IntN(len(hard))], 1+r.IntN(6)))
		default:
			b.WriteString(hard[r.IntN(len(hard))])
		}
	}
	return b.String()
}

func TestScannersAgreeWithTheGeneralEngine(t *testing.T) {
	for name, patterns := range known {
		scanned, general := twins(t, patterns)
		r := rand.New(rand.NewPCG(1, 2))
		scratch, other := &Scratch{}, &Scratch{}
		for range 1500 {
			text := hardText(r)
			got, want := pieces(scanned, text, 1, scratch), pieces(general, text, 1, other)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %q\nscanner %q\n engine %q", name, text, got, want)
			}
		}
	}
}

func FuzzScannersAgreeWithTheGeneralEngine(f *testing.F) {
	for _, text := range hard {
		f.Add([]byte(text + "a1 " + text))
	}
	f.Add([]byte("\xff\xe4\xb8 \xf0\x9f"))
	type pair struct{ scanned, general *chain }
	pairs := map[string]pair{}
	for name, patterns := range known {
		scanned, general := twins(f, patterns)
		pairs[name] = pair{scanned, general}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for name, p := range pairs {
			got, want := pieces(p.scanned, string(text), 1, &Scratch{}), pieces(p.general, string(text), 1, &Scratch{})
			if strings.Join(got, "") != string(text) || strings.Join(want, "") != string(text) {
				t.Fatalf("%s: %q is not covered by %q and %q", name, text, got, want)
			}
			if utf8.Valid(text) && !slices.Equal(got, want) {
				t.Fatalf("%s: %q\nscanner %q\n engine %q", name, text, got, want)
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"type":"Split","pattern":{"Regex":"(?i:a|[^b-d]{2,3}?)+$"},"behavior":"MergedWithNext","invert":true}`), "aBc d")
	f.Add([]byte(`{"type":"Sequence","pretokenizers":[{"type":"BertPreTokenizer"},{"type":"Metaspace","replacement":"_"}]}`), " a\xff")
	f.Add([]byte(`{"type":"FixedLength","length":3}`), "abcd")
	f.Fuzz(func(t *testing.T, spec []byte, text string) {
		s, err := Parse(spec)
		if err != nil {
			return
		}
		s.Split([]byte(text), 1, &Scratch{}, func(p []byte) {
			if len(p) == 0 {
				t.Fatalf("%s: %q gives an empty piece", spec, text)
			}
		})
	})
}

func BenchmarkScanners(b *testing.B) {
	texts := map[string]string{
		"english": "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May. How many clips did Natalia sell altogether?\n",
		"code":    "func (s *Scratch) bind(c *chain) {\n\tif err := c.parse(spec, 0); err != nil {\n\t\treturn nil, err\n\t}\n}\n",
		"chinese": "自然语言处理是人工智能领域中的一个重要方向。它研究人与计算机之间用自然语言进行有效通信的各种理论和方法，共有12345种。\n",
	}
	for _, name := range []string{"gpt2", "llama3", "qwen", "gpt4o", "tekken", "deepseek in a row"} {
		scanned, general := twins(b, known[name])
		for _, kind := range []string{"english", "code", "chinese"} {
			text := []byte(strings.Repeat(texts[kind], 500))
			b.Run(name+"/"+kind, func(b *testing.B) { benchmark(b, scanned, text) })
		}
		text := []byte(strings.Repeat(texts["english"], 500))
		b.Run(name+"/general", func(b *testing.B) { benchmark(b, general, text) })
	}
}

func benchmark(b *testing.B, c *chain, text []byte) {
	scratch, count := &Scratch{}, 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		c.Split(text, 1, scratch, func([]byte) { count++ })
	}
}
