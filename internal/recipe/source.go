package recipe

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/format"
)

// Error is a mistake at a place of a recipe. Its kind is format.ErrUsage.
type Error struct {
	Name         string // of the file
	Line, Column int    // from 1; columns count characters
	Field        string // the keys that lead to it, with dots; empty for text that is not YAML
	Err          error  // what is wrong
	Excerpt      string // the line, and a caret below the place
}

// Error is the place, the mistake, and the line with a caret below it.
func (e *Error) Error() string {
	return fmt.Sprintf("%s:%d:%d: %v\n%s", e.Name, e.Line, e.Column, e.Err, e.Excerpt)
}

// Unwrap is what is wrong.
func (e *Error) Unwrap() error { return e.Err }

// Is makes every Error a format.ErrUsage.
func (e *Error) Is(target error) bool { return target == format.ErrUsage }

// Blame puts an error that a field caused where the field stands in the text,
// or, where the recipe has none or does not say it, behind the field's name.
// Fields are keys with dots between them: read.format, split.by, stages.scale,
// stages.scale.f*, stages.tokenize.template.
func (r *Recipe) Blame(field string, err error) error {
	if r.source != nil {
		if at, ok := r.source.places[field]; ok {
			return r.source.fail(at, field, "%w", err)
		}
	}
	return format.Error(format.ErrUsage, "%s: %w", field, err)
}

// source is the text of a recipe.
type source struct {
	name   string
	lines  []string
	places map[string]place // of the values, by field
}

// place is a character of the text, both counted from 1.
type place struct{ line, column int }

func newSource(name string, data []byte) *source {
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	return &source{name: name, lines: strings.Split(text, "\n"), places: make(map[string]place)}
}

// mostShown is how much of a line an error shows, in bytes.
const mostShown = 160

// fail is the error of a field at a place.
func (s *source) fail(at place, field, text string, args ...any) error {
	at.line = min(max(at.line, 1), len(s.lines))
	line := s.lines[at.line-1]
	at.column = min(max(at.column, 1), utf8.RuneCountInString(line)+1)
	margin := fmt.Sprintf("%4d | ", at.line)
	shown := line
	if len(shown) > mostShown {
		shown = strings.ToValidUTF8(shown[:mostShown], "") + " …"
	}
	excerpt := margin + shown
	if pad, ok := lead(shown, at.column-1); ok {
		excerpt += "\n" + strings.Repeat(" ", len(margin)-2) + "| " + pad + "^"
	}
	return &Error{Name: s.name, Line: at.line, Column: at.column, Field: field, Err: fmt.Errorf(text, args...), Excerpt: excerpt}
}

// lead is as wide as the first n characters of a line.
func lead(line string, n int) (string, bool) {
	var b strings.Builder
	for _, r := range line {
		if n == 0 {
			break
		}
		n--
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String(), n == 0
}

// instead says what was meant by an unknown word: one that is near, or any of
// all.
func instead(word string, all []string) string {
	best, least := "", max(1, len(word)/3)
	for _, w := range all {
		name, _, _ := strings.Cut(w, ":")
		if d := format.Distance(strings.ToLower(word), name); d <= least {
			best, least = w, d-1
		}
	}
	if best != "" {
		return fmt.Sprintf("did you mean %q?", best)
	}
	return "use " + format.OneOf(all)
}
