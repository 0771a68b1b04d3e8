package recipe

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
)

// parts are the names and weights of splits: a mapping, or a list of names.
type parts split.Config

// set stores a value where its key says.
func set[T any](s *source, k key[T], n ast.Node, field string, into *T) error {
	switch to := k.at(into).(type) {
	case *[]string:
		return s.texts(to, n, k.empty, field)
	case *[]Stage:
		return s.stages(to, n, field)
	case *parts:
		return s.parts(to, n, field)
	case *bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			return s.fail(from(n), field, "%q must be true or false, not %s", k.name, describe(n))
		}
		*to = b.Value
		return nil
	default:
		text, ok := scalar(n)
		if !ok {
			return s.fail(from(n), field, "%q must be %s, not %s", k.name, k.wanted(to), describe(n))
		}
		if why := k.plain(to, text); why != "" {
			return s.fail(from(n), field, "%q: %s", k.name, why)
		}
		return nil
	}
}

// wanted says what a plain value is.
func (k key[T]) wanted(to any) string {
	switch {
	case k.one != nil:
		return format.OneOf(k.one)
	case k.like != "":
		return k.like
	}
	switch to.(type) {
	case *int, *uint64:
		return "a whole number"
	case *float64:
		return "a number"
	case *Size:
		return "a size such as 64MiB"
	}
	return "a text"
}

// plain stores the value that a text means, or says why it has none.
func (k key[T]) plain(to any, text string) (why string) {
	switch to := to.(type) {
	case *string:
		return k.word(to, text)
	case *int:
		v, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return strconv.Quote(text) + " is not a whole number"
		}
		if v < k.min || v > k.max {
			return text + " is not " + strconv.FormatInt(k.min, 10) + " to " + strconv.FormatInt(k.max, 10)
		}
		*to = int(v)
	case *uint64:
		v, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return strconv.Quote(text) + " is not a whole number from 0 to 18446744073709551615"
		}
		*to = v
	case *float64:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || !k.between(v) {
			return strconv.Quote(text) + " is not a number between " + strconv.FormatInt(k.min, 10) + " and " + strconv.FormatInt(k.max, 10)
		}
		*to = v
	case *Size:
		v, err := mem.Parse(text, 0)
		if err != nil || !regexp.MustCompile(sizePattern).MatchString(text) {
			return strconv.Quote(text) + " is not a size; write 64MiB or 2GB"
		}
		*to = Size(v)
	}
	return ""
}

// between says whether a fraction is one that the key allows.
func (k key[T]) between(v float64) bool { return v > float64(k.min) && v < float64(k.max) }

// word stores a text of those that the key allows.
func (k key[T]) word(to *string, text string) (why string) {
	switch {
	case k.one != nil:
		if why := unknown(k.one, text); why != "" {
			return why
		}
	case k.pattern != "":
		if !regexp.MustCompile(k.pattern).MatchString(text) || k.size && !isSize(text) {
			return strconv.Quote(text) + " is not right; write " + k.like
		}
	case text == "":
		return "it is empty"
	}
	*to = text
	if text == k.none {
		*to = ""
	}
	return ""
}

// isSize says whether a text that looks like a size, a percentage or all is
// one: the numbers may be too small or too large.
func isSize(text string) bool {
	_, err := mem.Parse(text, 1<<40)
	return err == nil || text == "all"
}

// unknown says why a text is none of some words; empty: it is one.
func unknown(words []string, text string) string {
	name, argument, colon := strings.Cut(text, ":")
	shape := ""
	for _, w := range words {
		known, takes, _ := strings.Cut(w, ":")
		if known == name && argument != "" == (takes != "") && colon == (takes != "") {
			return ""
		}
		if known == name {
			shape = w
		}
	}
	if shape != "" {
		return strconv.Quote(text) + ": write " + shape
	}
	return strconv.Quote(text) + " is not known; " + instead(name, words)
}

// texts stores a list, or one text for a list of one.
func (s *source) texts(to *[]string, n ast.Node, empty bool, field string) error {
	items := []ast.Node{n}
	if list, ok := n.(*ast.SequenceNode); ok {
		items = list.Values
	}
	out := []string{}
	for _, item := range items {
		text, ok := scalar(item)
		if !ok {
			return s.fail(where(item, n), field, "%q must be a list of texts, not %s", last(field), describe(item))
		}
		if text == "" && !empty {
			return s.fail(from(item), field, "%q: a text of it is empty", last(field))
		}
		out = append(out, text)
	}
	if len(out) == 0 && !empty {
		return s.fail(from(n), field, "%q: the list is empty", last(field))
	}
	*to = out
	return nil
}

// where is where an item stands, or its list where it is nothing.
func where(item, list ast.Node) place {
	if item == nil {
		return from(list)
	}
	return from(item)
}

func (s *source) parts(to *parts, n ast.Node, field string) error {
	to.Names, to.Weights = nil, nil
	if _, ok := n.(*ast.SequenceNode); ok {
		return s.texts(&to.Names, n, false, field)
	}
	pairs, err := s.pairs(n, field)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return s.fail(from(n), field, "%q: there is no split in it", last(field))
	}
	var words []string
	for _, p := range pairs {
		text, ok := scalar(p.value)
		if _, err := split.ParseWeights([]string{text}); !ok || err != nil {
			return s.fail(where(p.value, n), field, "%q must be a weight such as 80 or 0.8, not %s", p.key, describe(p.value))
		}
		to.Names, words = append(to.Names, p.key), append(words, text)
	}
	if to.Weights, err = split.ParseWeights(words); err != nil {
		return s.fail(from(n), field, "%w", errors.Unwrap(err))
	}
	return nil
}

func (s *source) stages(to *[]Stage, n ast.Node, field string) error {
	if _, ok := n.(*ast.NullNode); ok {
		return nil
	}
	list, ok := n.(*ast.SequenceNode)
	if !ok {
		return s.fail(from(n), field, "%q must be a list, each stage behind a dash, not %s", last(field), describe(n))
	}
	for _, item := range list.Values {
		stage, err := s.stage(item, where(item, n), field)
		if err != nil {
			return err
		}
		*to = append(*to, stage)
	}
	return nil
}

// stage reads one item of the list: the key that is a stage's name, and the
// options beside or under it.
func (s *source) stage(n ast.Node, at place, field string) (Stage, error) {
	if text, ok := scalar(n); ok {
		if _, known := kindOf(text); known {
			return Stage{}, s.fail(at, field, "a stage has a colon behind its name: %s: {…}", text)
		}
	}
	pairs, err := s.pairs(n, field)
	if err != nil {
		return Stage{}, err
	}
	for _, k := range kinds() {
		for i, p := range pairs {
			if p.key == k.name {
				others := append(pairs[:i:i], pairs[i+1:]...)
				return s.stageOf(k, p, others, join(field, k.name))
			}
		}
	}
	if len(pairs) == 0 {
		return Stage{}, s.fail(at, field, "a stage without a name; use %s", format.OneOf(stageNames(either)))
	}
	return Stage{}, s.fail(pairs[0].at, field, "unknown stage %q; %s", pairs[0].key, instead(pairs[0].key, stageNames(either)))
}

// stageOf reads a stage of a kind; others stand beside its name.
func (s *source) stageOf(k kind, p pair, others []pair, path string) (out Stage, err error) {
	out = k.fresh()
	s.places[path] = p.at
	if k.family() == table {
		if out.Rules, err = s.rules(k, p, path); err != nil {
			return out, err
		}
		err = fillPairs(s, k.keys, others, p.at, path, &out)
		return out, err
	}
	if len(others) > 0 {
		o := others[0]
		if _, ok := find(k.keys, o.key); ok {
			return out, s.fail(o.at, join(path, o.key), "%q belongs under %q, further in", o.key, k.name)
		}
		return out, s.fail(o.at, join(path, o.key), "unknown key %q; %s", o.key, elsewhere(o.key, path, k.keys))
	}
	err = fill(s, k.keys, p.value, p.at, path, &out)
	return out, err
}

func (s *source) rules(k kind, p pair, field string) ([]scale.Rule, error) {
	if p.value == nil {
		return nil, s.fail(p.at, field, "%q has no value", p.key)
	}
	pairs, err := s.pairs(p.value, field)
	if err != nil {
		return nil, err
	}
	if len(pairs) == 0 {
		return nil, s.fail(p.at, field, "%q: no column has a rule; write column: %s", k.name, k.words[0])
	}
	var out []scale.Rule
	for _, rule := range pairs {
		path := join(field, rule.key)
		if rule.key == "" {
			return nil, s.fail(rule.at, path, "%q: a column without a name", k.name)
		}
		do, ok := scalar(rule.value)
		if !ok {
			return nil, s.fail(where(rule.value, p.value), path, "%q must be %s, not %s", rule.key, format.OneOf(k.words), describe(rule.value))
		}
		if why := unknown(k.words, do); why != "" {
			return nil, s.fail(from(rule.value), path, "%q: %s", rule.key, why)
		}
		s.places[path] = from(rule.value)
		out = append(out, scale.Rule{Column: rule.key, Do: do})
	}
	return out, nil
}
