package onig

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

type kind uint8

const (
	kindSet       kind = iota // one character of set
	kindSequence              // kids one after the other
	kindAlternate             // the first of kids that leads to a match
	kindRepeat                // kids[0], low to high times
	kindAtomic                // kids[0], whose first match is the only one
	kindLook                  // kids[0] from here on, or before here
	kindAnchor                // a place between characters
	kindBack                  // a step back of low characters, in a look behind
)

// node is a part of a pattern.
type node struct {
	kind       kind
	kids       []*node
	set        charset.Set
	low, high  int // of a repeat; high is -1 where there is no end
	lazy       bool
	behind     bool
	negated    bool
	anchor     byte // ^ $ A z Z b B
	caseSource bool // a literal under (?i), for the check of characters that fold to several
	literal    rune
}

// limits on what a pattern may unroll to and how deep it may nest.
const (
	maxRepeat  = 1000
	maxDepth   = 100
	maxProgram = 4000
)

type flags struct{ ignoreCase, dotAll bool }

type parser struct {
	pattern string
	at      int
	depth   int
}

func (p *parser) refuse(format string, args ...any) error {
	return fmt.Errorf("regex %q, byte %d: %s", p.pattern, p.at, fmt.Sprintf(format, args...))
}

func (p *parser) more() bool { return p.at < len(p.pattern) }

func (p *parser) peek() rune {
	c, _ := utf8.DecodeRuneInString(p.pattern[p.at:])
	return c
}

func (p *parser) next() rune {
	c, size := utf8.DecodeRuneInString(p.pattern[p.at:])
	p.at += size
	return c
}

func (p *parser) take(prefix string) bool {
	if strings.HasPrefix(p.pattern[p.at:], prefix) {
		p.at += len(prefix)
		return true
	}
	return false
}

// alternatives reads up to a closing parenthesis or the end.
func (p *parser) alternatives(f flags) (*node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.refuse("groups nest deeper than %d", maxDepth)
	}
	defer func() { p.depth-- }()
	for {
		set, unset, bare, err := p.bareFlags()
		if err != nil {
			return nil, err
		}
		if !bare {
			break
		}
		f = f.with(set, unset)
	}
	alternate := &node{kind: kindAlternate}
	for {
		branch, err := p.sequence(f)
		if err != nil {
			return nil, err
		}
		alternate.kids = append(alternate.kids, branch)
		if !p.take("|") {
			break
		}
	}
	if len(alternate.kids) == 1 {
		return alternate.kids[0], nil
	}
	return alternate, nil
}

func (p *parser) sequence(f flags) (*node, error) {
	sequence := &node{kind: kindSequence}
	for p.more() && p.peek() != '|' && p.peek() != ')' {
		item, err := p.atom(f)
		if err != nil {
			return nil, err
		}
		if item, err = p.quantified(item); err != nil {
			return nil, err
		}
		sequence.kids = append(sequence.kids, item)
	}
	if f.ignoreCase {
		if word, several := foldsToSeveral(sequence.kids); several {
			return nil, p.refuse("(?i) over %q, which equals a single character in another case, is not supported", word)
		}
	}
	return sequence, nil
}

func (p *parser) atom(f flags) (*node, error) {
	c := p.next()
	switch c {
	case '(':
		return p.group(f)
	case '[':
		set, err := p.class(f)
		return &node{kind: kindSet, set: set}, err
	case '.':
		if f.dotAll {
			return &node{kind: kindSet, set: charset.Of(charset.Range{Lo: 0, Hi: utf8.MaxRune})}, nil
		}
		return &node{kind: kindSet, set: charset.Of(charset.Range{Lo: '\n', Hi: '\n'}).Negate()}, nil
	case '^', '$':
		return &node{kind: kindAnchor, anchor: byte(c)}, nil
	case '*', '+', '?':
		return nil, p.refuse("%q repeats nothing", c)
	case '\\':
		return p.escape(f)
	}
	return p.literal(c, f)
}

func (p *parser) literal(c rune, f flags) (*node, error) {
	n := &node{kind: kindSet, literal: c, set: charset.Of(charset.Range{Lo: c, Hi: c})}
	if !f.ignoreCase {
		return n, nil
	}
	n.caseSource = true
	set, err := p.folded(n.set)
	n.set = set
	return n, err
}

// escape reads what stands behind a backslash outside of a class.
func (p *parser) escape(f flags) (*node, error) {
	if !p.more() {
		return nil, p.refuse("ends in a backslash")
	}
	switch c := p.peek(); c {
	case 'A', 'z', 'Z', 'b', 'B':
		p.next()
		return &node{kind: kindAnchor, anchor: byte(c)}, nil
	case 'w', 'W':
		p.next()
		set := charset.BareWord()
		if c == 'W' {
			set = set.Negate()
		}
		return &node{kind: kindSet, set: set}, nil
	}
	set, single, err := p.escaped()
	if err != nil {
		return nil, err
	}
	if single >= 0 {
		return p.literal(single, f)
	}
	if f.ignoreCase {
		if set, err = p.folded(set); err != nil {
			return nil, err
		}
	}
	return &node{kind: kindSet, set: set}, nil
}

// quantified reads the repeat behind an item, if there is one.
func (p *parser) quantified(item *node) (*node, error) {
	low, high, found, interval, err := p.repeat()
	if err != nil || !found {
		return item, err
	}
	if item.kind == kindAnchor || item.kind == kindLook {
		return nil, p.refuse("a repeat of a place is not supported")
	}
	out := &node{kind: kindRepeat, kids: []*node{item}, low: low, high: high}
	switch {
	case interval && low == high && p.more() && p.peek() == '?', interval && p.more() && p.peek() == '+':
		return nil, p.refuse("%q behind {} is not supported", p.peek())
	case p.take("?"):
		out.lazy = true
	case p.take("+"):
		out = &node{kind: kindAtomic, kids: []*node{out}}
	}
	if _, _, again, _, _ := p.repeat(); again {
		return nil, p.refuse("a repeat of a repeat is not supported; put (?: ) around the inner one")
	}
	if high < 0 && nullable(item) {
		return nil, p.refuse("an endless repeat of what can be empty is not supported")
	}
	return out, nil
}

func (p *parser) repeat() (low, high int, found, interval bool, err error) {
	switch {
	case p.take("*"):
		return 0, -1, true, false, nil
	case p.take("+"):
		return 1, -1, true, false, nil
	case p.take("?"):
		return 0, 1, true, false, nil
	}
	end := strings.IndexByte(p.pattern[p.at:], '}')
	if end < 2 || p.pattern[p.at] != '{' {
		return 0, 0, false, false, nil
	}
	from, to, ranged := strings.Cut(p.pattern[p.at+1:p.at+end], ",")
	if strings.Trim(from+to, "0123456789") != "" || from+to == "" {
		return 0, 0, false, false, nil // a brace that begins no repeat is a character
	}
	if from == "" {
		from = "0"
	}
	low, lowErr := strconv.Atoi(from)
	high = low
	var highErr error
	if ranged {
		if high = -1; to != "" {
			high, highErr = strconv.Atoi(to)
		}
	}
	if lowErr != nil || highErr != nil || low > maxRepeat || high > maxRepeat || (high >= 0 && high < low) {
		return 0, 0, false, false, p.refuse("the repeat {%s} is not supported", p.pattern[p.at+1:p.at+end])
	}
	p.at += end + 1
	return low, high, true, true, nil
}

// nullable says whether n can match nothing.
func nullable(n *node) bool {
	switch n.kind {
	case kindSet:
		return false
	case kindSequence:
		for _, kid := range n.kids {
			if !nullable(kid) {
				return false
			}
		}
		return true
	case kindAlternate:
		for _, kid := range n.kids {
			if nullable(kid) {
				return true
			}
		}
		return false
	case kindRepeat:
		return n.low == 0 || nullable(n.kids[0])
	case kindAtomic:
		return nullable(n.kids[0])
	}
	return true
}

// orbit is c and all characters that differ from it in case alone.
func orbit(c rune) []rune {
	out := []rune{c}
	for o := unicode.SimpleFold(c); o != c; o = unicode.SimpleFold(o) {
		out = append(out, o)
	}
	return out
}
