package onig

import "strings"

func (f flags) with(set, unset string) flags {
	for _, c := range set {
		f.ignoreCase = f.ignoreCase || c == 'i'
		f.dotAll = f.dotAll || c == 'm'
	}
	for _, c := range unset {
		f.ignoreCase = f.ignoreCase && c != 'i'
		f.dotAll = f.dotAll && c != 'm'
	}
	return f
}

// flagsOf splits what stands between (? and the end of the flags, as in i-m.
func (p *parser) flagsOf(text string) (set, unset string, err error) {
	set, unset, _ = strings.Cut(text, "-")
	if strings.Trim(set+unset, "im") != "" {
		return "", "", p.refuse("the group (?%s is not supported", text)
	}
	return set, unset, nil
}

// bareFlags reads (?i) and its like where a group or the pattern begins: it then holds for all of that.
func (p *parser) bareFlags() (set, unset string, found bool, err error) {
	rest := p.pattern[p.at:]
	end := strings.IndexByte(rest, ')')
	if !strings.HasPrefix(rest, "(?") || end < 3 || strings.Trim(rest[2:end], "abcdefghijklmnopqrstuvwxyz-") != "" {
		return "", "", false, nil
	}
	if set, unset, err = p.flagsOf(rest[2:end]); err != nil {
		return "", "", false, err
	}
	p.at += end + 1
	return set, unset, true, nil
}

// group reads what stands behind an opening parenthesis.
func (p *parser) group(f flags) (*node, error) {
	var around *node
	switch {
	case !p.take("?"), p.take(":"):
	case p.take(">"):
		around = &node{kind: kindAtomic}
	case p.take("="):
		around = &node{kind: kindLook}
	case p.take("!"):
		around = &node{kind: kindLook, negated: true}
	case p.take("<="):
		around = &node{kind: kindLook, behind: true}
	case p.take("<!"):
		around = &node{kind: kindLook, behind: true, negated: true}
	default:
		end := strings.IndexAny(p.pattern[p.at:], ":)")
		if end < 0 || p.pattern[p.at+end] == ')' {
			return nil, p.refuse("the group (?%s is not supported here", p.pattern[p.at:])
		}
		set, unset, err := p.flagsOf(p.pattern[p.at : p.at+end])
		if err != nil {
			return nil, err
		}
		p.at += end + 1
		f = f.with(set, unset)
	}
	inner, err := p.alternatives(f)
	if err != nil {
		return nil, err
	}
	if !p.take(")") {
		return nil, p.refuse("a group is not closed")
	}
	if around == nil {
		return inner, nil
	}
	around.kids = []*node{inner}
	return around, p.checkBehind(around)
}

// checkBehind refuses a look behind whose alternatives are not each of one length.
func (p *parser) checkBehind(n *node) error {
	if !n.behind {
		return nil
	}
	for _, branch := range branches(n.kids[0]) {
		if _, fixed := width(branch); !fixed {
			return p.refuse("a look behind of no fixed length is not supported")
		}
	}
	return nil
}

func branches(n *node) []*node {
	if n.kind == kindAlternate {
		return n.kids
	}
	return []*node{n}
}

// width is the number of characters that n always matches.
func width(n *node) (chars int, fixed bool) {
	switch n.kind {
	case kindSet:
		return 1, true
	case kindSequence:
		for _, kid := range n.kids {
			w, ok := width(kid)
			if !ok {
				return 0, false
			}
			chars += w
		}
		return chars, true
	case kindAlternate:
		for i, kid := range n.kids {
			w, ok := width(kid)
			if !ok || (i > 0 && w != chars) {
				return 0, false
			}
			chars = w
		}
		return chars, true
	case kindRepeat:
		w, ok := width(n.kids[0])
		return w * n.low, ok && n.low == n.high
	case kindAtomic:
		return width(n.kids[0])
	}
	return 0, true
}
