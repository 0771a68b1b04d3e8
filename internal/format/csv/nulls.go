package csv

import "github.com/weir-data/weir/internal/format/number"

// nulls are the fields without quotes that are null.
type nulls struct {
	empty   bool // the empty one is
	number  bool // one of them looks like a number
	words   map[string]bool
	longest int
}

func newNulls(words []string) *nulls {
	if words == nil {
		return &nulls{empty: true}
	}
	n := &nulls{words: map[string]bool{}}
	for _, w := range words {
		n.empty = n.empty || w == ""
		if _, _, ok := number.Float64([]byte(w)); ok {
			n.number = true
		}
		n.words[w] = true
		n.longest = max(n.longest, len(w))
	}
	return n
}

func (n *nulls) has(b []byte) bool {
	if len(b) == 0 {
		return n.empty
	}
	return len(b) <= n.longest && n.words[string(b)]
}
