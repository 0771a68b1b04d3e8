package recipe

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	// mostBytes bounds a recipe: rules for thousands of columns fit.
	mostBytes = 256 << 10
	// mostDepth bounds brackets in brackets, for which the parser's time grows
	// with the square. Recipes need three.
	mostDepth = 64
)

// Parse reads a recipe. Name is what errors call it. Every error of the text is
// an *Error, which is format.ErrUsage.
func Parse(data []byte, name string) (*Recipe, error) {
	s := newSource(name, data)
	body, err := s.tree(data)
	if err != nil {
		return nil, err
	}
	r := &Recipe{source: s}
	if err := fill(s, top(), body, place{1, 1}, "", r); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

// tree is the one document of a text; nil where it is empty.
func (s *source) tree(data []byte) (body ast.Node, err error) {
	if len(data) > mostBytes {
		return nil, s.fail(place{1, 1}, "", "a recipe has at most %d KiB", mostBytes>>10)
	}
	if at, deep := s.depth(); deep {
		return nil, s.fail(at, "", "more than %d brackets are open", mostDepth)
	}
	// The parser is someone else's and its input anybody's.
	defer func() {
		if p := recover(); p != nil {
			body, err = nil, s.fail(place{1, 1}, "", "not YAML: %v", p)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, s.syntax(err)
	}
	for _, d := range file.Docs {
		if d.Body == nil {
			continue
		}
		if body != nil {
			return nil, s.fail(from(d.Body), "", "a second document; a recipe is one")
		}
		body = d.Body
	}
	return body, nil
}

// depth finds where too many brackets are open.
func (s *source) depth() (place, bool) {
	open := 0
	for i, line := range s.lines {
		for j, c := range line {
			switch c {
			case '[', '{':
				open++
			case ']', '}':
				open = max(0, open-1)
			}
			if open > mostDepth {
				return place{i + 1, len([]rune(line[:j])) + 1}, true
			}
		}
	}
	return place{}, false
}

// syntax places an error of the YAML parser.
func (s *source) syntax(err error) error {
	var e *yaml.SyntaxError
	if !errors.As(err, &e) || e.Token == nil || e.Token.Position == nil {
		return s.fail(place{1, 1}, "", "not YAML: %w", err)
	}
	at := at(e.Token)
	hint := ""
	if at.line <= len(s.lines) && strings.ContainsAny(s.lines[max(at.line, 1)-1], "*") {
		hint = "; what begins with * must stand in quotes"
	}
	return s.fail(at, "", "not YAML: %s%s", e.Message, hint)
}

func at(t *token.Token) place {
	if t == nil || t.Position == nil {
		return place{1, 1}
	}
	return place{t.Position.Line, t.Position.Column}
}

// from is where a node begins: a mapping without brackets at its first key.
func from(n ast.Node) place {
	if m, ok := n.(*ast.MappingNode); ok && !m.IsFlowStyle && len(m.Values) > 0 {
		return at(m.Values[0].Key.GetToken())
	}
	if v, ok := n.(*ast.MappingValueNode); ok {
		return at(v.Key.GetToken())
	}
	return at(n.GetToken())
}

// pair is a key and its value.
type pair struct {
	key   string
	at    place // of the key
	value ast.Node
}

// pairs are those of a mapping; nothing is an empty one.
func (s *source) pairs(n ast.Node, field string) ([]pair, error) {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case nil, *ast.NullNode:
		return nil, nil
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		what := "the recipe"
		if field != "" {
			what = fmt.Sprintf("%q", last(field))
		}
		return nil, s.fail(from(n), field, "%s must be keys with values, not %s", what, describe(n))
	}
	var out []pair
	for _, v := range values {
		text, ok := scalar(v.Key)
		if !ok {
			return nil, s.fail(from(v.Key), field, "a key must be a plain word, not %s", describe(v.Key))
		}
		out = append(out, pair{key: text, at: from(v.Key), value: v.Value})
	}
	return out, nil
}

func last(field string) string { return field[strings.LastIndexByte(field, '.')+1:] }

// fill sets the fields of a section, which stands at a place.
func fill[T any](s *source, keys []key[T], n ast.Node, at place, field string, into *T) error {
	pairs, err := s.pairs(n, field)
	if err != nil {
		return err
	}
	return fillPairs(s, keys, pairs, at, field, into)
}

func fillPairs[T any](s *source, keys []key[T], pairs []pair, at place, field string, into *T) error {
	seen := make(map[string]bool)
	for _, p := range pairs {
		k, ok := find(keys, p.key)
		path := join(field, p.key)
		if !ok {
			return s.fail(p.at, path, "unknown key %q; %s", p.key, elsewhere(p.key, field, keys))
		}
		if seen[p.key] {
			return s.fail(p.at, path, "%q stands there twice", p.key)
		}
		seen[p.key] = true
		s.places[path] = p.at
		if k.keys != nil {
			if err := fill(s, k.keys, p.value, p.at, path, into); err != nil {
				return err
			}
			continue
		}
		if p.value == nil {
			return s.fail(p.at, path, "%q has no value", p.key)
		}
		s.places[path] = from(p.value)
		if err := set(s, k, p.value, path, into); err != nil {
			return err
		}
	}
	for _, k := range keys {
		if k.need && !seen[k.name] {
			return s.fail(at, field, "%q is missing: %s", join(field, k.name), k.doc)
		}
	}
	return nil
}

func join(field, key string) string {
	if field == "" {
		return key
	}
	return field + "." + key
}

func find[T any](keys []key[T], name string) (key[T], bool) {
	for _, k := range keys {
		if k.name == name {
			return k, true
		}
	}
	return key[T]{}, false
}

// elsewhere says what was meant by an unknown key: the same word in another
// place, or a word like it in this one.
func elsewhere[T any](word, field string, keys []key[T]) string {
	stage := owner(word)
	if stage != "" && strings.HasPrefix(field, "stages.") {
		return fmt.Sprintf("it belongs under %q", stage)
	}
	if _, ok := kindOf(word); ok {
		return `it is a stage, which stands under "stages" behind a dash of its own`
	}
	for _, section := range top() {
		if _, ok := find(section.keys, word); ok && section.name != field {
			return fmt.Sprintf("it belongs under %q", section.name)
		}
	}
	if _, ok := find(top(), word); ok && field != "" {
		return "it belongs to the top of the recipe"
	}
	if stage != "" {
		return fmt.Sprintf("it belongs under %q", stage)
	}
	var names []string
	for _, k := range keys {
		names = append(names, k.name)
	}
	if len(names) == 0 {
		return fmt.Sprintf("%q has no options", last(field))
	}
	return instead(word, names)
}

// scalar is the text of a plain value, quotes removed.
func scalar(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		return n.Value.Value, true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

// describe names what stands where something else should.
func describe(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "keys with values"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return `nothing (the word null must stand in quotes)`
	case *ast.AliasNode:
		return `an alias; what begins with * must stand in quotes`
	case *ast.AnchorNode, *ast.MergeKeyNode:
		return "an anchor or a merge, which recipes do not have"
	case *ast.TagNode:
		return "a tag, which recipes do not have"
	default:
		if text, ok := scalar(n); ok {
			return fmt.Sprintf("%.40q", text)
		}
	}
	return "this"
}
