package recipe_test

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/recipe"
)

var update = flag.Bool("update", false, "rewrite what is expected in testdata")

// blocks are pieces of a file of tests: a line "# name", a text, "----", what
// is expected, and two empty lines.
type block struct{ name, text, want string }

func blocks(t *testing.T, file string) (out []block) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for one := range strings.SplitSeq(strings.TrimRight(string(data), "\n"), "\n\n\n") {
		name, rest, _ := strings.Cut(strings.TrimLeft(one, "\n"), "\n")
		text, want, ok := strings.Cut(rest, "----")
		if !ok {
			t.Fatalf("%s: %q has no ----", file, name)
		}
		out = append(out, block{strings.TrimPrefix(name, "# "), text, strings.Trim(want, "\n")})
	}
	return out
}

// golden compares what a function makes of each block's text with what the
// file expects.
func golden(t *testing.T, file string, of func(text string) string) {
	t.Helper()
	var b strings.Builder
	for _, c := range blocks(t, file) {
		got := strings.Trim(of(c.text), "\n")
		b.WriteString("# " + c.name + "\n" + c.text + "----\n" + got + "\n\n\n")
		if got != c.want && !*update {
			t.Errorf("%s:\n%s\ngot:\n%s\nwant:\n%s", c.name, c.text, got, c.want)
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(strings.TrimRight(b.String(), "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMistakesAreShownWhereTheyAre(t *testing.T) {
	golden(t, "testdata/errors.txt", func(text string) string {
		r, err := recipe.Parse([]byte(text), "recipe.yaml")
		if err == nil {
			return "accepted:\n" + string(recipe.Print(r))
		}
		var e *recipe.Error
		if !errors.As(err, &e) || !errors.Is(err, format.ErrUsage) {
			t.Errorf("%q: %T", text, err)
		}
		return err.Error()
	})
}

func TestRecipesArePrintedWithoutDefaults(t *testing.T) {
	golden(t, "testdata/print.txt", func(text string) string {
		r, err := recipe.Parse([]byte(text), "recipe.yaml")
		if err != nil {
			return err.Error()
		}
		return string(recipe.Print(r))
	})
}
