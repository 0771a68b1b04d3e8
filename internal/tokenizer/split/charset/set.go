// Package charset knows which characters the reference library takes for letters, numbers, spaces and so on.
package charset

import (
	"slices"
	"unicode/utf8"
)

// Range is the characters from Lo to Hi, both included.
type Range struct{ Lo, Hi rune }

// Set is a set of characters: ranges in order that neither touch nor overlap. A Set is never changed once it is made.
type Set []Range

// Of is the set of the given ranges, which may come in any order and overlap.
func Of(ranges ...Range) Set {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b Range) int { return int(a.Lo - b.Lo) })
	var out Set
	for _, r := range sorted {
		if r.Lo > r.Hi {
			continue
		}
		if n := len(out); n > 0 && r.Lo <= out[n-1].Hi+1 {
			out[n-1].Hi = max(out[n-1].Hi, r.Hi)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Union is what is in any of the sets.
func Union(sets ...Set) Set { return Of(slices.Concat(sets...)...) }

// Negate is every character that is not in s.
func (s Set) Negate() Set {
	var out Set
	next := rune(0)
	for _, r := range s {
		if next < r.Lo {
			out = append(out, Range{next, r.Lo - 1})
		}
		next = r.Hi + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, Range{next, utf8.MaxRune})
	}
	return out
}

// Has says whether c is in s.
func (s Set) Has(c rune) bool {
	lo, hi := 0, len(s)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if s[mid].Hi < c {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo < len(s) && s[lo].Lo <= c
}

// Empty says that s holds nothing.
func (s Set) Empty() bool { return len(s) == 0 }
