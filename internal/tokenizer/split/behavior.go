package split

import (
	"bytes"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
	"github.com/weir-data/weir/internal/tokenizer/split/onig"
)

// behavior is what becomes of a match and of what lies between matches.
type behavior uint8

const (
	removed behavior = iota
	isolated
	mergedWithPrevious
	mergedWithNext
	contiguous
)

// merger puts the parts of a text together as a behavior has it. Parts come in order and without gaps; they may be empty.
type merger struct {
	behavior behavior
	invert   bool
	lead     int
	text     []byte
	f        *frame

	open     bool // a piece from..to is held back, whose last part was a match or not
	from, to int
	matched  bool
}

func (m *merger) add(from, to int, match bool) {
	match = match != m.invert
	switch m.behavior {
	case removed:
		if !match {
			m.emit(from, to)
		}
		return
	case isolated:
		m.emit(from, to)
		return
	}
	var joins bool
	switch m.behavior {
	case mergedWithPrevious:
		joins = match && !m.matched
	case mergedWithNext:
		joins = !match && m.matched
	case contiguous:
		joins = match == m.matched
	}
	if m.open && joins {
		m.to, m.matched = to, match
		return
	}
	m.close()
	m.open, m.from, m.to, m.matched = true, from, to, match
}

func (m *merger) close() {
	if m.open {
		m.emit(m.from, m.to)
	}
}

func (m *merger) emit(from, to int) { m.f.emit(m.text[from:to], m.lead-from) }

// between tells the merger of the part before a match, and of the match.
func (m *merger) between(last, from, to int) {
	if last < from {
		m.add(last, from, false)
	}
	m.add(from, to, true)
}

func (m *merger) end(last int) {
	if last < len(m.text) {
		m.add(last, len(m.text), false)
	}
	m.close()
}

// regexStage splits by a regex that has no scanner.
type regexStage struct {
	regex    *onig.Regex
	pattern  string
	behavior behavior
	invert   bool
}

func (d regexStage) split(text []byte, lead int, s *Scratch, f *frame) {
	m := merger{behavior: d.behavior, invert: d.invert, lead: lead, text: text, f: f}
	last, search, matched := 0, 0, -1
	for search <= len(text) {
		from, to, found := d.regex.Find(text, search, &s.regex)
		if !found {
			break
		}
		if from == to && to == matched {
			// An empty match right behind a match does not count: the search goes on one character later.
			_, size := utf8.DecodeRune(text[search:])
			search += max(size, 1)
			continue
		}
		m.between(last, from, to)
		last, search, matched = to, to, to
	}
	m.end(last)
}

// literalStage splits by a string that is not empty.
type literalStage struct {
	literal  []byte
	behavior behavior
	invert   bool
}

func (d literalStage) split(text []byte, lead int, _ *Scratch, f *frame) {
	m := merger{behavior: d.behavior, invert: d.invert, lead: lead, text: text, f: f}
	last := 0
	for {
		at := bytes.Index(text[last:], d.literal)
		if at < 0 {
			break
		}
		m.between(last, last+at, last+at+len(d.literal))
		last += at + len(d.literal)
	}
	m.end(last)
}

// classStage splits by single characters: those whose class has a bit of mask.
type classStage struct {
	classes  *charset.Classes
	mask     uint8
	behavior behavior
}

func (d classStage) split(text []byte, lead int, _ *Scratch, f *frame) {
	m := merger{behavior: d.behavior, lead: lead, text: text, f: f}
	last := 0
	for at := 0; at < len(text); {
		class, size := d.classes.At(text, at)
		if class&d.mask != 0 {
			m.between(last, at, at+size)
			last = at + size
		}
		at += size
	}
	m.end(last)
}
