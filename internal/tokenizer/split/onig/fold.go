package onig

import (
	"unicode"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

// unfolding are the characters that equal several others in another case, as the sharp s does "ss". Oniguruma then
// matches two characters for one, which a set cannot.
var unfolding = charset.Of(
	charset.Range{Lo: 0xDF, Hi: 0xDF}, charset.Range{Lo: 0x130, Hi: 0x130}, charset.Range{Lo: 0x149, Hi: 0x149},
	charset.Range{Lo: 0x1F0, Hi: 0x1F0}, charset.Range{Lo: 0x390, Hi: 0x390}, charset.Range{Lo: 0x3B0, Hi: 0x3B0},
	charset.Range{Lo: 0x587, Hi: 0x587}, charset.Range{Lo: 0x1E96, Hi: 0x1E9E}, charset.Range{Lo: 0x1F50, Hi: 0x1F56},
	charset.Range{Lo: 0x1F80, Hi: 0x1FFC}, charset.Range{Lo: 0xFB00, Hi: 0xFB17})

// folded is set and all characters that differ from one of its own in case alone.
func (p *parser) folded(set charset.Set) (charset.Set, error) {
	for _, r := range unfolding {
		for c := r.Lo; c <= r.Hi; c++ {
			if set.Has(c) {
				return nil, p.refuse("(?i) over U+%04X, which may equal several characters in another case, is not supported", c)
			}
		}
	}
	ranges := []charset.Range(set)
	for _, r := range set {
		for c := r.Lo; c <= r.Hi; c++ {
			for _, other := range orbit(c) {
				if !set.Has(other) {
					ranges = append(ranges, charset.Range{Lo: other, Hi: other})
				}
			}
		}
	}
	return charset.Of(ranges...), nil
}

// foldsToSeveral finds neighbours under (?i) that equal a single character in another case, as "st" does a ligature. It
// errs on the side of finding some.
func foldsToSeveral(items []*node) (string, bool) {
	previous := rune(-1)
	for _, item := range flat(items) {
		if item.kind == kindRepeat && item.low > 1 && item.kids[0].caseSource {
			if c := unicode.ToLower(item.kids[0].literal); c == 's' || c == 'f' {
				return string([]rune{c, c}), true
			}
		}
		if item.kind != kindSet || !item.caseSource {
			previous = -1
			continue
		}
		c := unicode.ToLower(orbitLeast(item.literal))
		if previous >= 0 && joins(previous, c) {
			return string([]rune{previous, c}), true
		}
		previous = c
	}
	return "", false
}

func flat(items []*node) []*node {
	var out []*node
	for _, item := range items {
		if item.kind == kindSequence {
			out = append(out, flat(item.kids)...)
		} else {
			out = append(out, item)
		}
	}
	return out
}

func orbitLeast(c rune) rune {
	least := c
	for _, o := range orbit(c) {
		least = min(least, o)
	}
	return least
}

func joins(a, b rune) bool {
	switch string([]rune{a, b}) {
	case "ss", "ff", "fi", "fl", "st":
		return true
	}
	mark := b == 0x2BE || b >= 0x300 && b <= 0x36F || b == 0x399 || b == 0x3B9
	return mark || a == 0x2BC || a >= 0x531 && a <= 0x587
}
