package store

import (
	"strings"
	"testing"
)

func TestBracesExpand(t *testing.T) {
	tests := []struct{ pattern, want string }{
		{"a", "a"},
		{"a{b,c}d", "abd acd"},
		{"{a,b}{c,d}", "ac ad bc bd"},
		{"{a,{b,c}d}e", "ae bde cde"},
		{"{1..3}", "1 2 3"},
		{"x{08..11}", "x08 x09 x10 x11"},
		{"{8..011}", "008 009 010 011"},
		{"{,a}b", "b ab"},
		{"{a}", `\{a}`},
		{"{a", `\{a`},
		{"{a..c}", `\{a..c}`},
		{`\{a,b}`, `\{a,b}`},
		{`{a\,b,c}`, `a\,b c`},
	}
	for _, test := range tests {
		got, err := expandBraces(test.pattern)
		if text := strings.Join(got, " "); err != nil || text != test.want {
			t.Errorf("%s: %s, %v; want %s", test.pattern, text, err, test.want)
		}
	}
}

// The pattern language never panics, and a name without special characters
// matches itself.
func FuzzGlob(f *testing.F) {
	for _, s := range []string{"a/**/b*.{csv,json}", "[!a]/{00..11}", `\{x`, "**", "{{a,b},c", "a//b/"} {
		f.Add(s, "a/b/c.csv")
	}
	f.Fuzz(func(t *testing.T, pattern, key string) {
		if len(pattern) > 64 || len(key) > 64 {
			return
		}
		m, err := newMatcher(pattern)
		if err != nil {
			return
		}
		if m.match(key) && !strings.HasPrefix(key, m.prefix) {
			t.Errorf("%q matches %q, which does not begin with %q", pattern, key, m.prefix)
		}
		plain := !isGlob(pattern) && !strings.ContainsAny(pattern, `\`) && !strings.HasSuffix(pattern, "/")
		if plain && !m.match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}
