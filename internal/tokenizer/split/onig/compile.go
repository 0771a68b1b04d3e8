// Package onig matches the regular expressions of tokenizer files as Oniguruma does: the first alternative that leads to
// a match wins, and there are looks ahead and behind, atomic groups and possessive repeats. What it does not know it
// refuses by name when a pattern is compiled.
package onig

import (
	"fmt"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/tokenizer/split/charset"
)

type op uint8

const (
	opSet    op = iota // one character of set
	opRun              // as many characters of set as there are, at least low, at most high, giving back one at a time
	opTight            // opRun that gives nothing back
	opSplit            // try the next instruction, then x
	opLater            // try x, then the next instruction
	opJump             // go to x
	opAtomic           // match up to opDone, once; then go to x
	opLook             // match up to opDone, go back to here; then go to x
	opAnchor           // a place between characters
	opBack             // step back low characters
	opDone             // the match, or that of an atomic group or look, ends
)

// branches says that an instruction may lead to much work, so that it pays to know where it has failed.
func (o op) branches() bool { return o >= opRun && o <= opLook && o != opJump }

type inst struct {
	op        op
	negated   bool
	anchor    byte
	low, high int
	x         int
	set       *tester
}

// tester answers for one character quickly where it is ASCII.
type tester struct {
	ascii [2]uint64 // bits of the bytes below 0x80
	set   charset.Set
}

func newTester(set charset.Set) *tester {
	t := &tester{set: set}
	for b := range rune(utf8.RuneSelf) {
		if set.Has(b) {
			t.ascii[b>>6] |= 1 << (b & 63)
		}
	}
	return t
}

// size is the length of the character at text[at] where it is in the set, and 0 where it is not.
func (t *tester) size(text []byte, at int) int {
	if at >= len(text) {
		return 0
	}
	if b := text[at]; b < utf8.RuneSelf {
		return int(t.ascii[b>>6] >> (b & 63) & 1)
	}
	c, size := utf8.DecodeRune(text[at:])
	if t.set.Has(c) {
		return size
	}
	return 0
}

// Regex is a compiled pattern, safe for concurrent use.
type Regex struct {
	program []inst
	word    *tester
	starts  [256]bool // the bytes a match can begin with
	empty   bool      // a match can be empty
}

// Compile reads a pattern in Oniguruma's syntax. An error names the pattern, the place, and what is not supported there.
func Compile(pattern string) (*Regex, error) {
	if !utf8.ValidString(pattern) {
		return nil, fmt.Errorf("regex %q is not valid UTF-8", pattern)
	}
	p := &parser{pattern: pattern}
	root, err := p.alternatives(flags{})
	if err != nil {
		return nil, err
	}
	if p.more() {
		return nil, p.refuse("a parenthesis closes nothing")
	}
	r := &Regex{word: newTester(charset.BareWord()), empty: nullable(root)}
	if err := r.emit(root); err != nil {
		return nil, p.refuse("%s", err)
	}
	r.add(inst{op: opDone})
	for _, span := range firsts(root) {
		for c := span.Lo; c <= span.Hi; c++ {
			r.starts[utf8.AppendRune(nil, c)[0]] = true
			if c >= 0x1000 {
				c |= 0xFFF // the characters up to there begin with the same byte
			}
		}
	}
	return r, nil
}

func (r *Regex) add(i inst) int {
	r.program = append(r.program, i)
	return len(r.program) - 1
}

func (r *Regex) emit(n *node) error {
	if len(r.program) > maxProgram {
		return fmt.Errorf("it is too long once its repeats are written out")
	}
	switch n.kind {
	case kindSet:
		r.add(inst{op: opSet, set: newTester(n.set)})
	case kindSequence:
		for _, kid := range n.kids {
			if err := r.emit(kid); err != nil {
				return err
			}
		}
	case kindAlternate:
		return r.alternate(n)
	case kindRepeat:
		return r.repeat(n)
	case kindAtomic:
		if run := n.kids[0]; run.kind == kindRepeat && run.kids[0].kind == kindSet && !run.lazy {
			r.add(inst{op: opTight, set: newTester(run.kids[0].set), low: run.low, high: run.high})
			return nil
		}
		return r.inner(inst{op: opAtomic}, n.kids[0], 0)
	case kindLook:
		return r.look(n)
	case kindBack:
		r.add(inst{op: opBack, low: n.low})
	case kindAnchor:
		r.add(inst{op: opAnchor, anchor: n.anchor})
	}
	return nil
}

func (r *Regex) alternate(n *node) error {
	var exits []int
	for i, kid := range n.kids {
		split := -1
		if i < len(n.kids)-1 {
			split = r.add(inst{op: opSplit})
		}
		if err := r.emit(kid); err != nil {
			return err
		}
		if split >= 0 {
			exits = append(exits, r.add(inst{op: opJump}))
			r.program[split].x = len(r.program)
		}
	}
	for _, exit := range exits {
		r.program[exit].x = len(r.program)
	}
	return nil
}

func (r *Regex) repeat(n *node) error {
	item := n.kids[0]
	if item.kind == kindSet && !n.lazy {
		r.add(inst{op: opRun, set: newTester(item.set), low: n.low, high: n.high})
		return nil
	}
	for range n.low {
		if err := r.emit(item); err != nil {
			return err
		}
	}
	fork := opSplit
	if n.lazy {
		fork = opLater
	}
	if n.high < 0 {
		split := r.add(inst{op: fork})
		if err := r.emit(item); err != nil {
			return err
		}
		r.add(inst{op: opJump, x: split})
		r.program[split].x = len(r.program)
		return nil
	}
	var splits []int
	for range n.high - n.low {
		splits = append(splits, r.add(inst{op: fork}))
		if err := r.emit(item); err != nil {
			return err
		}
	}
	for _, split := range splits {
		r.program[split].x = len(r.program)
	}
	return nil
}

// look writes a look ahead, or one behind as one look for each alternative: all must fail where it is negated, and one
// must hold where it is not.
func (r *Regex) look(n *node) error {
	if !n.behind {
		return r.inner(inst{op: opLook, negated: n.negated}, n.kids[0], 0)
	}
	if n.negated {
		for _, branch := range branches(n.kids[0]) {
			chars, _ := width(branch)
			if err := r.inner(inst{op: opLook, negated: true}, branch, chars); err != nil {
				return err
			}
		}
		return nil
	}
	either := &node{kind: kindAlternate}
	for _, branch := range branches(n.kids[0]) {
		chars, _ := width(branch)
		either.kids = append(either.kids, &node{kind: kindSequence, kids: []*node{{kind: kindBack, low: chars}, branch}})
	}
	return r.inner(inst{op: opLook}, either, 0)
}

// inner writes a part that is matched on its own, after a step back of some characters.
func (r *Regex) inner(head inst, body *node, back int) error {
	at := r.add(head)
	if back > 0 {
		r.add(inst{op: opBack, low: back})
	}
	if err := r.emit(body); err != nil {
		return err
	}
	r.add(inst{op: opDone})
	r.program[at].x = len(r.program)
	return nil
}

// firsts are characters among which is the first one of every match that is not empty.
func firsts(n *node) charset.Set {
	var sets []charset.Set
	switch n.kind {
	case kindSet:
		return n.set
	case kindSequence:
		for _, kid := range n.kids {
			sets = append(sets, firsts(kid))
			if !nullable(kid) {
				break
			}
		}
	case kindAlternate:
		for _, kid := range n.kids {
			sets = append(sets, firsts(kid))
		}
	case kindRepeat, kindAtomic:
		return firsts(n.kids[0])
	}
	return charset.Union(sets...)
}
