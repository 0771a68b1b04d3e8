package normal

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/onig"
)

// replace puts content in the place of every occurrence of a text.
type replace struct{ pattern, content []byte }

func newReplace(s *settings) (Normalizer, error) {
	var pattern struct{ String, Regex *string }
	if err := json.Unmarshal(s.Pattern, &pattern); err != nil || s.Content == nil {
		return nil, dataError("pattern or content is missing")
	}
	switch {
	case pattern.String != nil && *pattern.String == "":
		return nil, refusal("the pattern is empty")
	case pattern.String != nil:
		return replace{[]byte(*pattern.String), []byte(*s.Content)}, nil
	case pattern.Regex != nil:
		regex, err := onig.Compile(*pattern.Regex)
		if err != nil {
			return nil, err
		}
		return replaceRegex{regex, *pattern.Regex, []byte(*s.Content)}, nil
	}
	return nil, dataError("pattern is neither a String nor a Regex")
}

func (r replace) Unchanged(src []byte) bool { return !bytes.Contains(src, r.pattern) }

func (r replace) Normalize(dst, src []byte) []byte {
	for {
		i := bytes.Index(src, r.pattern)
		if i < 0 {
			return append(dst, src...)
		}
		dst = append(append(dst, src[:i]...), r.content...)
		src = src[i+len(r.pattern):]
	}
}

func (r replace) matches(src []byte, match func(from, to int)) {
	for at := 0; ; {
		i := bytes.Index(src[at:], r.pattern)
		if i < 0 {
			return
		}
		match(at+i, at+i+len(r.pattern))
		at += i + len(r.pattern)
	}
}

// replaceRegex puts content in the place of every match of a regular expression.
type replaceRegex struct {
	regex   *onig.Regex
	pattern string
	content []byte
}

func (r replaceRegex) Unchanged(src []byte) bool {
	var m onig.Memory
	_, _, found := r.regex.Find(src, 0, &m)
	return !found || len(src) == 0
}

func (r replaceRegex) Normalize(dst, src []byte) []byte {
	last := 0
	r.matches(src, func(from, to int) {
		dst = append(append(dst, src[last:from]...), r.content...)
		last = to
	})
	return append(dst, src[last:]...)
}

// matches leaves an empty text alone, and takes no empty match right behind another match.
func (r replaceRegex) matches(src []byte, match func(from, to int)) {
	var m onig.Memory
	search, matched := 0, -1
	for len(src) > 0 && search <= len(src) {
		from, to, found := r.regex.Find(src, search, &m)
		if !found {
			return
		}
		if from == to && to == matched {
			_, n := utf8.DecodeRune(src[search:])
			search += max(n, 1)
			continue
		}
		match(from, to)
		search, matched = to, to
	}
}

// detached names the normalizer if it can put content before all of the text, in the place of nothing. It tries texts of
// all sorts: an expression that does so only before another text is not found.
func (r replaceRegex) detached() string {
	if len(r.content) == 0 {
		return ""
	}
	var m onig.Memory
	for _, text := range []string{"a", "A", "1", " ", "\n", ".", "é", "中", "\u0301"} {
		if from, to, found := r.regex.Find([]byte(text), 0, &m); found && from == 0 && to == 0 {
			return "Replace of nothing by the pattern " + quote(r.pattern)
		}
	}
	return ""
}
