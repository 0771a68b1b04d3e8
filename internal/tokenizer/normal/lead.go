package normal

import "unicode/utf8"

// leadWindow is how many bytes of a text are looked at for its lead: more than what a first character becomes.
const leadWindow = 256

// Lead returns how many bytes of the normalized src the reference counts as what the first character of src became. It
// is none where that was taken away, and all of several characters that were written for it.
func Lead(n Normalizer, src []byte) int {
	if len(src) > leadWindow {
		end := leadWindow
		for end > leadWindow-utf8.UTFMax && !utf8.RuneStart(src[end]) {
			end--
		}
		src = src[:end]
	}
	_, size := utf8.DecodeRune(src)
	return leadOf(n, src, size)
}

// leadOf returns how many bytes of the normalized src came from its first lead bytes.
func leadOf(n Normalizer, src []byte, lead int) int {
	lead = min(lead, len(src))
	switch n := n.(type) {
	case sequence:
		for _, one := range n {
			lead = leadOf(one, src, lead)
			src = one.Normalize(nil, src)
		}
		return lead
	case strip:
		left := strip{left: n.left}.inner(src)
		return min(max(0, lead-(len(src)-len(left))), len(n.inner(src)))
	case prepend:
		if lead == 0 || n.Unchanged(src) {
			return lead
		}
		return len(n.text) + lead
	case replace:
		return leadOfReplaced(src, lead, len(n.content), n.matches)
	case replaceRegex:
		return leadOfReplaced(src, lead, len(n.content), n.matches)
	case form:
		return leadOfForm(n, src, lead)
	case *precompiled:
		return leadOfPrecompiled(n, src, lead)
	}
	return len(n.Normalize(nil, src[:lead]))
}

// leadOfReplaced counts content as what the last character of its match became.
func leadOfReplaced(src []byte, lead, content int, matches func([]byte, func(from, to int))) int {
	out, last := 0, 0
	matches(src, func(from, to int) {
		out += max(0, min(from, lead)-last)
		if _, size := utf8.DecodeLastRune(src[:to]); to == 0 || to-size < lead {
			out += content
		}
		last = to
	})
	return out + max(0, lead-last)
}

// leadOfForm takes as many characters as the lead becomes by itself: one that composes with what follows is one still.
func leadOfForm(n form, src []byte, lead int) int {
	runes, all := utf8.RuneCount(n.Normalize(nil, src[:lead])), n.Normalize(nil, src)
	at := 0
	for ; runes > 0 && at < len(all); runes-- {
		_, size := utf8.DecodeRune(all[at:])
		at += size
	}
	return at
}

func leadOfPrecompiled(n *precompiled, src []byte, lead int) int {
	l := precompiledLead{runes: utf8.RuneCount(src[:lead])}
	var c cluster
	for i := 0; i < len(src); {
		end := n.next(src, i, &c)
		n.parts(src[i:end], l.take)
		i = end
	}
	l.settle()
	return l.bytes
}

// precompiledLead follows how the reference lines up characters: of what is written for some characters, one stands for
// one; what is too many belongs to the one before, and what is too few is counted at the last character written so far.
// Where nothing is written yet it is not counted at all.
type precompiledLead struct {
	runes int // of the lead
	bytes int // of the result that belong to it

	at      int // characters of the text that are taken
	done    bool
	waiting bool
	size    int // of the last character written
	change  int // 1: it is too many; less than 0: so many are taken behind it
}

// take notes that text was written for a part.
func (l *precompiledLead) take(part, text []byte) {
	count := utf8.RuneCount(part)
	extra := utf8.RuneCount(text) - count
	for written := 0; len(text) > 0; written++ {
		_, size := utf8.DecodeRune(text)
		text = text[size:]
		l.settle()
		l.waiting, l.size, l.change = true, size, 0
		if written >= count {
			l.change = 1
		}
	}
	if extra < 0 && l.waiting {
		l.change += extra
	}
}

// settle counts the last character.
func (l *precompiledLead) settle() {
	if !l.waiting || l.done {
		return
	}
	at := l.at
	if l.change > 0 {
		at = max(0, at-1)
	} else {
		l.at += 1 - l.change
	}
	if l.done = at >= l.runes; !l.done {
		l.bytes += l.size
	}
}
