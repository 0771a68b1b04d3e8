package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/weir-data/weir/"

// arrows is the order of the rooms: a package imports rooms of lower rank, or
// its own. Rooms of one rank do not know each other.
var arrows = map[string]int{
	"mem": 0, "stream": 1, "codec": 2, "store": 2, "format": 3, "spill": 3, "tokenizer": 4, "jinja": 4, "stage": 5, "dataset": 5,
	"recipe": 6, "plan": 6, "run": 7, "watch": 8, "feed": 8, "call": 8, "cmd": 9,
}

// room is the first folder below internal, or cmd; false: not one of ours.
func room(path string) (string, bool) {
	path, ours := strings.CutPrefix(path, module)
	path = strings.TrimPrefix(path, "internal/")
	name, _, _ := strings.Cut(path, "/")
	return name, ours
}

// TestImports holds the arrows of docs/architecture.md. Tests are free to
// import what they need.
func TestImports(t *testing.T) {
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !strings.HasPrefix(rel, "internal/") && !strings.HasPrefix(rel, "cmd/") {
			return nil
		}
		from, _ := room(module + rel)
		if _, known := arrows[from]; !known {
			t.Errorf("%s: %q has no place in the arrows", rel, from)
			return nil
		}
		checkImports(t, file, rel, from)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func checkImports(t *testing.T, file, rel, from string) {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Error(err)
		return
	}
	for _, imp := range f.Imports {
		path, err := strconv.Unquote(imp.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		to, ours := room(path)
		if rank, known := arrows[to]; ours && to != from && (!known || rank >= arrows[from]) {
			t.Errorf("%s: %s must not import %s", rel, from, to)
		}
	}
}
