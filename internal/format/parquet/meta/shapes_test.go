package meta

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
)

// TestShapes turns the schemas of testdata/shapes.txt into Arrow's. A schema
// is a line for each element, indented by its depth: repetition, type or
// "group", name and, if any, annotation. The answer has for each node its
// levels: d is Def, r Rep, e ElemDef.
func TestShapes(t *testing.T) {
	const path = "testdata/shapes.txt"
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, block := range strings.Split(string(text), "\n\n") {
		title, rest, _ := strings.Cut(strings.Trim(block, "\n"), "\n")
		in, want, _ := strings.Cut(rest, "\n----")
		want = strings.TrimPrefix(want, "\n")
		got := strings.TrimRight(shape(t, in), "\n")
		if got != want && !*update {
			t.Errorf("%s: got\n%s\nwant\n%s", title, got, want)
		}
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%s\n%s\n----\n%s\n", title, in, got)
	}
	if *update {
		if err := os.WriteFile(path, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// shape answers one schema.
func shape(t *testing.T, in string) string {
	lines := strings.Split(in, "\n")
	depth := make([]int, len(lines))
	for i, l := range lines {
		depth[i] = (len(l)-len(strings.TrimLeft(l, " ")))/2 + 1
	}
	children := func(i int) (n int64) {
		above := 0
		if i >= 0 {
			above = depth[i]
		}
		for j := i + 1; j < len(lines) && depth[j] > above; j++ {
			if depth[j] == above+1 {
				n++
			}
		}
		return n
	}
	elems := []*thrift{group("root", children(-1))}
	for i, l := range lines {
		elems = append(elems, elementOf(t, strings.Fields(l), children(i)))
	}
	f, err := open(t, file(new(thrift).structs(2, elems...).done()))
	if err != nil {
		return "error: " + err.Error()
	}
	var out strings.Builder
	for _, n := range f.Schema.Columns {
		showLevels(&out, n, 0)
	}
	return out.String()
}

func showLevels(out *strings.Builder, n *Node, depth int) {
	kind := [...]string{"", "struct", "list", "map"}[n.Kind]
	if n.Kind == LeafKind {
		kind = n.Field.Type.String()
	}
	if n.Field.Nullable {
		kind += "?"
	}
	fmt.Fprintf(out, "%s%s: %s d%d r%d", strings.Repeat("  ", depth), n.Field.Name, kind, n.Def, n.Rep)
	if n.Kind == ListKind || n.Kind == MapKind {
		fmt.Fprintf(out, " e%d", n.ElemDef)
	}
	if n.Kind == LeafKind {
		fmt.Fprintf(out, " %s", n.Leaf.Path)
	}
	out.WriteString("\n")
	for _, c := range n.Children {
		showLevels(out, c, depth+1)
	}
}

var (
	typeWords = strings.Fields("boolean int32 int64 int96 float double binary fixed")
	repWords  = strings.Fields("required optional repeated")
	converted = strings.Fields("UTF8 MAP MAP_KEY_VALUE LIST ENUM DECIMAL DATE TIME_MILLIS TIME_MICROS TIMESTAMP_MILLIS " +
		"TIMESTAMP_MICROS UINT_8 UINT_16 UINT_32 UINT_64 INT_8 INT_16 INT_32 INT_64 JSON BSON INTERVAL")
	logical = strings.Fields("- String Map List Enum Decimal Date Time Timestamp - Integer Unknown Json Bson Uuid Float16 Variant Geometry")
)

// elementOf is the schema element that a line stands for.
func elementOf(t *testing.T, words []string, children int64) *thrift {
	e := new(thrift)
	typ, width := split(words[1])
	if i := index(typeWords, typ); i >= 0 {
		e.int(1, int64(i))
	}
	if len(width) > 0 {
		e.int(2, width[0])
	}
	e.int(3, int64(index(repWords, words[0]))).text(4, words[2])
	if children > 0 {
		e.int(5, children)
	}
	if len(words) == 3 {
		return e
	}
	note, args := split(words[3])
	if i := index(converted, note); i >= 0 {
		e.int(6, int64(i))
		if len(args) == 2 {
			e.int(7, args[1]).int(8, args[0])
		}
		return e
	}
	i := index(logical, note)
	if i < 0 {
		t.Fatalf("no annotation %q", note)
	}
	u := new(thrift)
	switch note {
	case "Decimal":
		u.int(1, args[1]).int(2, args[0])
	case "Integer":
		u.header(1, wireByte)
		u.b = append(u.b, byte(args[0]))
		u.bool(2, args[1] == 1)
	case "Time", "Timestamp":
		u.bool(1, args[1] == 1).sub(2, new(thrift).sub(int16(args[0]), new(thrift)))
	}
	return e.sub(10, new(thrift).sub(int16(i), u))
}

// split parts "word(1,2)" into its word and numbers.
func split(s string) (string, []int64) {
	word, rest, found := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	if !found {
		return word, nil
	}
	var args []int64
	for _, a := range strings.Split(rest, ",") {
		v, _ := strconv.ParseInt(a, 10, 64)
		args = append(args, v)
	}
	return word, args
}

func index(words []string, w string) int {
	for i, x := range words {
		if x == w {
			return i
		}
	}
	return -1
}
