package format

import (
	"fmt"
	"path"
	"strings"
)

// Match picks columns by name or glob, in the order of the patterns, and
// returns their places. No pattern is all of them; one that no column matches
// is ErrUsage.
func Match(names, patterns []string) ([]int, error) {
	var out []int
	if len(patterns) == 0 {
		for i := range names {
			out = append(out, i)
		}
		return out, nil
	}
	seen := make([]bool, len(names))
	places := make(map[string][]int, len(names))
	for i, name := range names {
		places[name] = append(places[name], i)
	}
	for _, p := range patterns {
		hits := places[p]
		if strings.ContainsAny(p, `*?[\`) {
			hits = nil
			for i, name := range names {
				ok, err := path.Match(p, name)
				if err != nil {
					return nil, Error(ErrUsage, "%q is not a pattern: %w", p, err)
				}
				if ok || name == p {
					hits = append(hits, i)
				}
			}
		}
		if len(hits) == 0 {
			return nil, Error(ErrUsage, "no column matches %q; it has %s", p, list(names))
		}
		for _, i := range hits {
			if !seen[i] {
				seen[i] = true
				out = append(out, i)
			}
		}
	}
	return out, nil
}

// list names the first few.
func list(names []string) string {
	const most = 12
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s, and %d more", strings.Join(names[:most], ", "), len(names)-most)
}
