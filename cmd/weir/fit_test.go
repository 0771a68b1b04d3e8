package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/run/runtest"
)

// weir runs one command line and returns what a user would see.
func weir(t *testing.T, line string) (code int, stdout, stderr string) {
	t.Helper()
	h := newHarness(t)
	code = h.main(t.Context(), strings.Fields(line))
	if h.budget != nil {
		runtest.Empty(t, h.budget)
	}
	return code, h.stdout.String(), h.stderr.String()
}

func TestFitTexts(t *testing.T) {
	golden(t, "fit.txt", transcript(t,
		"weir fit --help",
		"weir transform --help",
		"weir fit d/ --memory 64MiB --quiet --scale id=standard --encode text=ordinal -o -",
		"weir fit d/",
		"weir fit d/ -o /",
		"weir fit d/ -o out/",
		"weir fit d/ -o - --other",
		"weir fit d/ -o - --scale id=standart",
		"weir fit d/ -o - --fit-from /nowhere/params.json --memory 64MiB",
		"weir fit d/ -o /dev/null/params.json --memory 64MiB",
		"weir fit d/ -o - --memory 21MiB --threads 1",
		"weir transform d/ -o out/",
		"weir transform d/ --params p.json",
		"weir transform d/ --params /nowhere/params.json -o - --memory 64MiB",
		"weir transform d/ --params d/a.fake -o - --memory 64MiB",
		"weir transform d/ --params p.json -o - --to xml",
		"weir run",
		"weir run --schema recipe.yaml",
	))
}

func TestFitThenTransform(t *testing.T) {
	dir := t.TempDir()
	first, second := filepath.Join(dir, "first.json"), filepath.Join(dir, "second.json")
	code, out, err := weir(t, "fit d/a.fake --memory 64MiB --scale id=standard --encode text=onehot -o "+first)
	if code != 0 || err != "" || !strings.Contains(out, "standard") {
		t.Fatalf("exit %d: %s%s", code, out, err)
	}
	// The other half is the same rows.
	if code, _, err := weir(t, "fit d/b.fake --memory 64MiB --quiet --fit-from "+first+" -o "+second); code != 0 || err != "" {
		t.Fatalf("exit %d: %s", code, err)
	}
	_, all, _ := weir(t, "fit d/ --memory 64MiB --quiet --scale id=standard --encode text=onehot -o -")
	if text, _ := os.ReadFile(second); string(text) != all {
		t.Errorf("a fit that went on:\n%s\nof all rows:\n%s", text, all)
	}
	code, out, err = weir(t, "transform d/a.fake --memory 64MiB --to csv -o - --params "+second)
	want := "id,\"text_a, b\",text_one,text_nan\n-1.224744871391589,0,1,0\n0,0,0,1\n1.224744871391589,1,0,0\n"
	if code != 0 || out != want || !strings.HasPrefix(err, "rows ") {
		t.Errorf("exit %d: %s\n got %s\nwant %s", code, err, out, want)
	}
}

func TestSchemaOfRecipesIsPrinted(t *testing.T) {
	code, out, _ := weir(t, "run --schema")
	if code != 0 || !strings.Contains(out, `"fit_from"`) || !strings.Contains(out, "draft-07") {
		t.Errorf("exit %d: %s", code, out)
	}
}
