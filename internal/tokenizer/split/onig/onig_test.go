package onig

import (
	"slices"
	"strings"
	"testing"
)

// all are the matches of a pattern in text that are not empty.
func all(t *testing.T, pattern, text string) []string {
	t.Helper()
	r, err := Compile(pattern)
	if err != nil {
		t.Fatal(err)
	}
	m := &Memory{}
	out := []string{}
	for at := 0; at <= len(text); {
		from, to, found := r.Find([]byte(text), at, m)
		if !found {
			break
		}
		if at = to; from == to {
			at++
			continue
		}
		out = append(out, text[from:to])
	}
	return out
}

func TestMatchesAreThoseOfOniguruma(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          []string
	}{
		{`a|ab`, "ab", []string{"a"}},
		{`(?:a|ab)c`, "abc", []string{"abc"}},
		{`(?>a|ab)c`, "abc", []string{}},
		{`a*+a`, "aaa", []string{}},
		{`a+?`, "aa", []string{"a", "a"}},
		{`a{2,3}`, "aaaaa", []string{"aaa", "aa"}},
		{`a{,2}b`, "aaab", []string{"aab"}},
		{`a{`, "aa{", []string{"a{"}},
		{`\s+(?!\S)|\s+`, "a   b  ", []string{"  ", " ", "  "}},
		{`(?<=a|bc)x`, "axbcxcx", []string{"x", "x"}},
		{`(?<!a)x`, "axbx", []string{"x"}},
		{`(?i:'s|k)`, "'S'ſK\u212a", []string{"'S", "'ſ", "K", "\u212a"}},
		{`(?i)a|b`, "AB", []string{"A", "B"}},
		{`^.|.$`, "ab\ncd\n", []string{"a", "b", "c", "d"}},
		{`(?m:.)+`, "a\nb", []string{"a\nb"}},
		{`.\Z`, "a\nb\n", []string{"b"}},
		{`\bx`, "x²x ²x x", []string{"x", "x"}},
		{`\w+`, "a²-½", []string{"a²", "½"}},
		{`[\w]+`, "a²-½", []string{"a"}},
		{`[^]a]+`, "]bca", []string{"bc"}},
		{`[^(\s|[.,])]+`, "a(b. c|d", []string{"a", "b", "c", "d"}},
		{`[[:punct:]]\p{^L}`, "+1-a", []string{"+1"}},
		{`\p{upper case letter}\P{Lu}`, "ABc", []string{"Bc"}},
		{`\x{4e00}|\u3042|\x41`, "一あA", []string{"一", "あ", "A"}},
	} {
		if got := all(t, c.pattern, c.text); !slices.Equal(got, c.want) {
			t.Errorf("%s in %q: %q, want %q", c.pattern, c.text, got, c.want)
		}
	}
}

func TestCompileNamesWhatItRefuses(t *testing.T) {
	for pattern, want := range map[string]string{
		`(a)\1`: `\1`, `\k<a>`: `\k`, `\R`: `\R`, `\X`: `\X`, `\K`: `\K`, `\G`: `\G`, `a\`: "backslash", `(?x:a)`: "(?x", `(?s)a`: "(?s",
		`(?<name>a)`: "(?<name", `a(?i)b`: "not supported here", `[a&&b]`: "&&", `[a`: "not closed", `(a`: "not closed", `a)`: "closes nothing",
		`*a`: "repeats nothing", `a**`: "repeat of a repeat", `a{2}+`: "behind {}", `a{2}?`: "behind {}", `a{3,2}`: "{3,2}", `a{5000}`: "{5000}",
		`(?:a*)*`: "can be empty", `(?<=a+)b`: "fixed length", `\p{Klingon}`: "Klingon", `\pL`: "without {name}", `[[:foo:]]`: "foo",
		`(?i:stone)`: `"st"`, `(?i:ß)`: "U+00DF", `(?i:\p{L})`: "(?i)", `(?i:f(?:i))`: `"fi"`, `[z-a]`: "range", `[\d-a]`: "hyphen", `\xe9`: "single byte",
		`\x{110000}`: "number of a character", `(?=a)*`: "repeat of a place", strings.Repeat("(", 200): "deeper", `(?:(?:a{9}b){1000}){1000}`: "too long",
	} {
		_, err := Compile(pattern)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", pattern, err, want)
		}
	}
}

// Each of these takes longer than anyone can wait where ways that failed are tried again.
func TestSearchDoesNotExplode(t *testing.T) {
	text := strings.Repeat("a", 1000)
	for _, pattern := range []string{`(?:a|a)*b`, `(?:a+)+b`, `(?:a+a+)+b`, `(?>(?:a|aa)+b)`, `(?:(?=(?:a+)+b)a)*b`, `(?:a|a)*?b`, `(?:aa?){1,30}b`,
		`(?:(?=(?:(?=(?:(?=(?:(?=a)a)+)a)+)a)+)a)+b`} {
		if got := all(t, pattern, text[:len(text)>>(strings.Count(pattern, "?=")*3)]); len(got) != 0 {
			t.Errorf("%s: %q", pattern, got)
		}
	}
	if got := all(t, `(?:a|a)*b`, text+"b"); len(got) != 1 {
		t.Errorf("%d matches", len(got))
	}
}

func FuzzCompile(f *testing.F) {
	f.Add(`(?i:'s|[^\r\n\p{L}]?+a{1,3})(?<!b)\s+(?!\S)|(?>x*?)$`, "a's  b\n")
	f.Add(`[[:alpha:]-]|\b\u0041{2,}`, "\xff-AA")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		if len(text) > 32 || len(pattern) > 100 {
			return
		}
		r, err := Compile(pattern)
		if err != nil {
			return
		}
		m := &Memory{}
		for at := 0; at <= len(text); at++ {
			from, to, found := r.Find([]byte(text), at, m)
			if found && (from < at || to < from || to > len(text)) {
				t.Fatalf("%q in %q from %d: %d to %d", pattern, text, at, from, to)
			}
		}
	})
}
