package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

func TestPrepareWritesItsReportWhole(t *testing.T) {
	dir := t.TempDir()
	for name, want := range map[string][]string{
		"report.html": {"<!doctype html>", "Columns before and after", "</html>"},
		"report.json": {`"train_rows": `, `"name": "write"`, `"before": {`},
	} {
		h := newHarness(t)
		out, file := filepath.Join(dir, name+".d"), filepath.Join(dir, name)
		if code := h.main(t.Context(), []string{"prepare", "d/", "-o", out, "--memory", "128MiB", "--quiet", "--report", file}); code != 0 {
			t.Fatalf("exit %d: %s", code, &h.stderr)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range want {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%q is not in\n%s", part, text)
			}
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 4 {
		t.Errorf("%v, %v: want two reports and two datasets", left, err)
	}
}

func TestAReportThatCannotBeIsRefusedFirst(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	for _, file := range []string{"report.txt", "-", "s3://bucket/report.html", "/nowhere/report.html"} {
		h := newHarness(t)
		if code := h.main(t.Context(), []string{"prepare", "d/", "-o", out, "--report", file}); code != 2 {
			t.Errorf("--report %s: exit %d, want 2: %s", file, code, &h.stderr)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("--report %s: refused, but there is a dataset", file)
		}
	}
}
