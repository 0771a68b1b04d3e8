package jinja

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the expected error texts")

var clock = time.Date(2024, 7, 26, 13, 4, 5, 678000, time.UTC)

func vars(t *testing.T, text string) []Var {
	t.Helper()
	v, err := ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	names, vals, _ := v.Fields()
	var out []Var
	for i, n := range names {
		out = append(out, Var{n, vals[i]})
	}
	return out
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []string
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		out = append(out, s.Text())
	}
	return out
}

func render(t *testing.T, src string, vs []Var) (string, []Span, error) {
	t.Helper()
	tmpl, err := Compile(src, Options{Now: clock})
	if err != nil {
		return "", nil, err
	}
	text, spans, err := tmpl.NewRenderer().Render(nil, vs)
	return string(text), spans, err
}

// The texts in testdata were made by jinja2 3.1.6 in the environment that
// transformers makes.
func TestRendersAsTransformersDoes(t *testing.T) {
	all := lines(t, "testdata/render.jsonl")
	vs := vars(t, all[0])
	for _, line := range all[1:] {
		var c struct{ T, Want string }
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		got, _, err := render(t, c.T, vs)
		if err != nil {
			t.Errorf("%q: %v", c.T, err)
		} else if got != c.Want {
			t.Errorf("%q\n got %q\nwant %q", c.T, got, c.Want)
		}
	}
}

func TestGenerationMarksTheAssistantsBytes(t *testing.T) {
	for _, name := range []string{"gen", "gen2"} {
		src, err := os.ReadFile("testdata/" + name + ".jinja")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines(t, "testdata/"+name+".jsonl") {
			var c struct {
				V     json.RawMessage
				Want  string
				Spans [][2]int
			}
			if err := json.Unmarshal([]byte(line), &c); err != nil {
				t.Fatal(err)
			}
			got, spans, err := render(t, string(src), vars(t, string(c.V)))
			if err != nil || got != c.Want {
				t.Fatalf("%s: %v\n got %q\nwant %q", name, err, got, c.Want)
			}
			if len(spans) != len(c.Spans) {
				t.Fatalf("%s: spans %v, want %v", name, spans, c.Spans)
			}
			for i, s := range spans {
				if s.From != c.Spans[i][0] || s.To != c.Spans[i][1] {
					t.Errorf("%s: spans %v, want %v", name, spans, c.Spans)
				}
			}
		}
	}
}

// errors.txt has templates, each followed by ---- and the error's text.
func TestErrorsSayWhere(t *testing.T) {
	const path = "testdata/errors.txt"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	vs := vars(t, lines(t, "testdata/render.jsonl")[0])
	var out strings.Builder
	for i, c := range strings.Split(string(data), "\n====\n") {
		src, want, _ := strings.Cut(c, "\n----\n")
		_, _, err := render(t, src, vs)
		if err == nil {
			t.Fatalf("%q has no error", src)
		}
		got := err.Error()
		if i > 0 {
			out.WriteString("\n====\n")
		}
		out.WriteString(src + "\n----\n" + got)
		if want = strings.TrimSuffix(want, "\n"); got != want && !*update {
			t.Errorf("%q\n got %s\nwant %s", src, got, want)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
