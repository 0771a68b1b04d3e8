package store

import (
	"slices"
	"strings"
)

// matcher chooses keys out of a listing by an expanded pattern.
type matcher struct {
	prefix string // of every key that can match
	// literals are the choices without wildcards, each one key or all keys
	// below it, and whether one was seen.
	literals map[string]bool
	globs    [][]string
}

func newMatcher(pattern string) (*matcher, error) {
	choices, err := expandBraces(pattern)
	if err != nil {
		return nil, err
	}
	m := &matcher{literals: make(map[string]bool)}
	for i, c := range choices {
		fixed := c
		if j := firstMeta(c, `*?[`); j >= 0 {
			fixed = c[:j]
			segs, err := globSegments(c)
			if err != nil {
				return nil, err
			}
			m.globs = append(m.globs, segs)
		} else {
			fixed = strings.TrimSuffix(c, "/")
			m.literals[unescape(fixed)] = false
		}
		fixed = unescape(fixed)
		if i == 0 {
			m.prefix = fixed
		}
		m.prefix = commonPrefix(m.prefix, fixed)
	}
	return m, nil
}

func commonPrefix(a, b string) string {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

// match says whether a key is chosen.
func (m *matcher) match(key string) bool {
	if len(m.literals) > 0 && m.matchLiteral(key) {
		return true
	}
	if len(m.globs) == 0 {
		return false
	}
	names := strings.Split(key, "/")
	return slices.ContainsFunc(m.globs, func(g []string) bool { return matchSegments(g, names) })
}

func (m *matcher) matchLiteral(key string) bool {
	for end := len(key); end >= 0; end = strings.LastIndexByte(key[:end], '/') {
		if _, ok := m.literals[key[:end]]; ok && visibleBelow(key[end:]) {
			m.literals[key[:end]] = true
			return true
		}
	}
	return false
}

// missing is the first choice that names one place where nothing was found,
// or "".
func (m *matcher) missing() string {
	var none []string
	for name, seen := range m.literals {
		if !seen {
			none = append(none, name)
		}
	}
	if len(none) == 0 {
		return ""
	}
	return slices.Min(none)
}

// visibleBelow says whether no name in a relative path is hidden.
func visibleBelow(rel string) bool {
	for name := range strings.SplitSeq(rel, "/") {
		if hidden(name) {
			return false
		}
	}
	return true
}
