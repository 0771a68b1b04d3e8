package store

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// maxExpansion bounds what one pattern's braces may expand to.
const maxExpansion = 1 << 17

// isGlob says whether a pattern has to be matched instead of looked up.
func isGlob(pattern string) bool { return firstMeta(pattern, `*?[{`) >= 0 }

// firstMeta is the index of the first byte of meta in s that no backslash
// escapes, or -1.
func firstMeta(s, meta string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if strings.IndexByte(meta, s[i]) >= 0 {
			return i
		}
	}
	return -1
}

// unescape removes the backslashes from a literal piece of a pattern.
func unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// expandBraces turns {a,b} and {000..099} into one pattern for each choice,
// in order. A brace that is neither stays as it is, escaped.
func expandBraces(pattern string) ([]string, error) {
	out := []string{""}
	for {
		open := firstMeta(pattern, "{")
		if open < 0 {
			return appendAll(out, []string{pattern})
		}
		choices, after, err := choicesAt(pattern[open:])
		if err != nil {
			return nil, err
		}
		if choices == nil {
			choices, after = []string{`\{`}, 1
		}
		if out, err = appendAll(out, []string{pattern[:open]}); err != nil {
			return nil, err
		}
		if out, err = appendAll(out, choices); err != nil {
			return nil, err
		}
		pattern = pattern[open+after:]
	}
}

// appendAll is every head with every tail.
func appendAll(heads, tails []string) ([]string, error) {
	if len(heads)*len(tails) > maxExpansion {
		return nil, fmt.Errorf("braces stand for more than %d patterns", maxExpansion)
	}
	out := make([]string, 0, len(heads)*len(tails))
	for _, h := range heads {
		for _, t := range tails {
			out = append(out, h+t)
		}
	}
	return out, nil
}

// choicesAt expands the brace that s begins with and says where it ends; nil
// when it is not an expression.
func choicesAt(s string) (choices []string, after int, err error) {
	depth, from := 0, 1
	var parts []string
	for i := 0; i < len(s) && after == 0; i++ {
		switch s[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				parts, after = append(parts, s[from:i]), i+1
			}
		case ',':
			if depth == 1 {
				parts, from = append(parts, s[from:i]), i+1
			}
		}
	}
	switch {
	case after == 0:
		return nil, 0, nil
	case len(parts) == 1:
		choices, err = numberRange(parts[0])
		return choices, after, err
	}
	for _, p := range parts {
		inner, err := expandBraces(p)
		if err != nil {
			return nil, 0, err
		}
		choices = append(choices, inner...)
	}
	return choices, after, nil
}

// numberRange expands 7..12 and 000..099; nil when s is something else.
func numberRange(s string) ([]string, error) {
	a, b, ok := strings.Cut(s, "..")
	if !ok {
		return nil, nil
	}
	lo, err1 := strconv.ParseUint(a, 10, 62)
	hi, err2 := strconv.ParseUint(b, 10, 62)
	if err1 != nil || err2 != nil {
		return nil, nil
	}
	if hi < lo || hi-lo >= maxExpansion {
		return nil, fmt.Errorf("{%s} is not a range of 1 to %d numbers", s, maxExpansion)
	}
	width := 0
	if (a[0] == '0' && len(a) > 1) || (b[0] == '0' && len(b) > 1) {
		width = max(len(a), len(b))
	}
	out := make([]string, 0, hi-lo+1)
	for n := lo; n <= hi; n++ {
		out = append(out, fmt.Sprintf("%0*d", width, n))
	}
	return out, nil
}

// globSegments cuts a pattern without braces at its slashes and checks each
// piece. A final slash or ** means every file below.
func globSegments(pattern string) ([]string, error) {
	var segs []string
	for seg := range strings.SplitSeq(pattern, "/") {
		seg = strings.ReplaceAll(seg, "[!", "[^")
		if _, err := path.Match(seg, ""); err != nil {
			return nil, fmt.Errorf("%q is not a pattern", seg)
		}
		if seg == "**" && len(segs) > 0 && segs[len(segs)-1] == "**" {
			continue
		}
		segs = append(segs, seg)
	}
	switch last := len(segs) - 1; segs[last] {
	case "":
		segs = append(segs[:last], "**", "*")
	case "**":
		segs = append(segs, "*")
	}
	return segs, nil
}

// hidden names are those of markers and work in progress: .git, _SUCCESS,
// _temporary.
func hidden(name string) bool {
	return name != "" && (name[0] == '.' || name[0] == '_')
}

// matchSegment matches one name. Hidden names have to be asked for by their
// first character.
func matchSegment(pattern, name string) bool {
	if hidden(name) && (pattern == "" || pattern[0] != name[0]) {
		return false
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// matchSegments matches a whole path.
func matchSegments(pattern, names []string) bool {
	for ; len(pattern) > 0; pattern, names = pattern[1:], names[1:] {
		if pattern[0] == "**" {
			for {
				if matchSegments(pattern[1:], names) {
					return true
				}
				if len(names) == 0 || hidden(names[0]) {
					return false
				}
				names = names[1:]
			}
		}
		if len(names) == 0 || !matchSegment(pattern[0], names[0]) {
			return false
		}
	}
	return len(names) == 0
}
