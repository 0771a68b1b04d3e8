package csv

import (
	"bytes"
	"fmt"
	"strings"
)

// mostColumns keeps a wrong header from taking all memory: each column costs
// about a KiB.
const mostColumns = 1 << 17

// header finds the names at the front of an object, and where the first row
// begins; no names: the object is empty.
func (d dialect) header(data []byte) (names []string, after int, err error) {
	i := front(data, true)
	if i == len(data) {
		return nil, i, nil
	}
	for last := false; !last; {
		var t text
		if t, i, last, err = d.next(data, i); err != nil {
			return nil, 0, fmt.Errorf("the header: %w", err)
		}
		if len(names) == mostColumns {
			return nil, 0, fmt.Errorf("the header: more than %d columns", mostColumns)
		}
		names = append(names, string(t.plain()))
	}
	return distinct(names), i, nil
}

// front is where an object's text begins: behind the byte order mark, and
// behind empty lines where a header follows.
func front(data []byte, header bool) int {
	i := 0
	if bytes.HasPrefix(data, bom) {
		i = len(bom)
	}
	for header {
		n := blank(data[i:])
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// numbered are the names of n columns without any.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("c%d", i)
	}
	return names
}

// distinct names what has no name by its place, c3, and what has the name of
// another by a number behind it, x_1.
func distinct(names []string) []string {
	taken := map[string]bool{}
	for _, n := range names {
		taken[n] = true
	}
	seen, tried := map[string]bool{}, map[string]int{}
	for i, n := range names {
		if n != "" && !seen[n] {
			seen[n] = true
			continue
		}
		next := n
		if n == "" {
			n = fmt.Sprintf("c%d", i)
			next = n
		}
		for taken[next] {
			tried[n]++
			next = fmt.Sprintf("%s_%d", n, tried[n])
		}
		taken[next] = true
		names[i] = next
	}
	return names
}

// order says which column of the first object's header each field is.
func order(first, names []string) ([]int, error) {
	at := map[string]int{}
	for i, n := range first {
		at[n] = i
	}
	out := make([]int, len(names))
	var strange []string
	for i, n := range names {
		k, ok := at[n]
		if !ok {
			strange = append(strange, n)
			continue
		}
		out[i] = k
		delete(at, n)
	}
	var missing []string
	for _, n := range first {
		if _, ok := at[n]; ok {
			missing = append(missing, n)
		}
	}
	switch {
	case len(missing) > 0 && len(strange) > 0:
		return nil, fmt.Errorf("other columns than the first file: %s instead of %s", few(strange), few(missing))
	case len(missing) > 0:
		return nil, fmt.Errorf("columns of the first file are missing: %s", few(missing))
	case len(strange) > 0:
		return nil, fmt.Errorf("columns that the first file does not have: %s", few(strange))
	}
	return out, nil
}

// few lists the first names.
func few(names []string) string {
	const most = 8
	quoted := make([]string, 0, most)
	for _, n := range names[:min(most, len(names))] {
		quoted = append(quoted, excerpt([]byte(n)))
	}
	out := strings.Join(quoted, ", ")
	if more := len(names) - most; more > 0 {
		out += fmt.Sprintf(", and %d more", more)
	}
	return out
}
