package onig

import "unicode/utf8"

// Memory is what a search needs beside the text. It grows to what the search asks for and is then used again; it belongs
// to one goroutine at a time. The zero value is ready.
type Memory struct {
	stack  []choice
	failed map[state]struct{} // states known to lead to no match; nil until a search has had to turn back often
	log    []state            // what went into failed, in order
	turns  int
	inner  map[state]int // where inner matches end, or -1; nil until one has stood in another
	depth  int           // how many inner matches the search is in
}

type state struct{ pc, at int }

// choice is a way that is still open: on at pc, from any place between low and at, the last first.
type choice struct{ pc, at, low int }

// manyTurns is how often a search from one place turns back before it begins to remember where it has failed. Ordinary patterns do not
// get there; those that would take exponential time are held to the square of the text's length by it, or near that.
const manyTurns = 256

// Find is the first match in text that begins at from or later.
func (r *Regex) Find(text []byte, from int, m *Memory) (start, end int, found bool) {
	m.reset()
	for at := from; at <= len(text); {
		if at < len(text) && !r.empty && !r.starts[text[at]] {
			at++
			continue
		}
		m.stack, m.turns = m.stack[:0], 0
		if end, found := r.run(text, 0, at, m); found {
			return at, end, true
		}
		if at == len(text) {
			break
		}
		_, size := utf8.DecodeRune(text[at:])
		at += size
	}
	return 0, 0, false
}

// reset forgets the last search. What a hard one needed much memory for is given back.
func (m *Memory) reset() {
	if len(m.log)+len(m.inner) > 4096 {
		*m = Memory{}
		return
	}
	m.log = m.log[:0]
	clear(m.failed)
	clear(m.inner)
}

// run matches from pc at text[at] up to opDone. It leaves the stack as high as it found it.
func (r *Regex) run(text []byte, pc, at int, m *Memory) (end int, found bool) {
	base, logged := len(m.stack), len(m.log)
	for {
		i := &r.program[pc]
		next, to, ok := pc+1, at, true
		op := i.op
		if op.branches() && m.again(pc, at) {
			op, ok = opJump, false
		}
		switch op {
		case opSet:
			size := i.set.size(text, at)
			to, ok = at+size, size > 0
		case opRun, opTight:
			var low int
			low, to, ok = i.span(text, at)
			if ok && op == opRun && low < to {
				m.stack = append(m.stack, choice{next, max(before(text, to), low), low})
			}
		case opSplit:
			m.stack = append(m.stack, choice{i.x, at, at})
		case opLater:
			m.stack = append(m.stack, choice{next, at, at})
			next = i.x
		case opJump:
			next = i.x
		case opAtomic:
			to, ok = r.within(text, next, at, m)
			next = i.x
		case opLook:
			_, ok = r.within(text, next, at, m)
			ok = ok != i.negated
			next = i.x
		case opAnchor:
			ok = r.place(i.anchor, text, at)
		case opBack:
			for range i.low {
				if to == 0 {
					ok = false
					break
				}
				to = before(text, to)
			}
		case opDone:
			m.forget(logged)
			m.stack = m.stack[:base]
			return at, true
		}
		if pc, at = next, to; ok {
			continue
		}
		if pc, at, ok = m.turn(text, base); !ok {
			return 0, false
		}
	}
}

// within is run for an atomic group or a look. In another such, or after many turns, it is done once for each place:
// else the time would be a power of how deep they nest.
func (r *Regex) within(text []byte, pc, at int, m *Memory) (end int, found bool) {
	keep := m.depth > 0 || m.turns >= manyTurns
	if keep {
		if end, known := m.inner[state{pc, at}]; known {
			return end, end >= 0
		}
	}
	m.depth++
	end, found = r.run(text, pc, at, m)
	m.depth--
	if !found {
		end = -1
	}
	if keep {
		if m.inner == nil {
			m.inner = map[state]int{}
		}
		m.inner[state{pc, at}] = end
	}
	return end, found
}

// span is how far the characters of a run reach, and the least it may give back to.
func (i *inst) span(text []byte, at int) (low, high int, ok bool) {
	count := 0
	for low = at; i.high < 0 || count < i.high; count++ {
		if count == i.low {
			low = at
		}
		size := i.set.size(text, at)
		if size == 0 {
			break
		}
		at += size
	}
	if count == i.low {
		low = at
	}
	return low, at, count >= i.low
}

// before is where the character in front of text[at] begins.
func before(text []byte, at int) int {
	_, size := utf8.DecodeLastRune(text[:at])
	return at - size
}

// turn takes the last way that is still open.
func (m *Memory) turn(text []byte, base int) (pc, at int, ok bool) {
	if len(m.stack) == base {
		return 0, 0, false
	}
	top := &m.stack[len(m.stack)-1]
	pc, at = top.pc, top.at
	if at > top.low {
		top.at = max(before(text, at), top.low) // broken UTF-8 may read in another way from behind
	} else {
		m.stack = m.stack[:len(m.stack)-1]
	}
	m.turns++
	return pc, at, true
}

// again says that the search has been at pc and at before: then nothing came of it, for positions never fall and no
// repeat goes round without moving, so that a second visit is not within the first.
func (m *Memory) again(pc, at int) bool {
	if m.turns < manyTurns {
		return false
	}
	here := state{pc, at}
	if _, known := m.failed[here]; known {
		return true
	}
	if m.failed == nil {
		m.failed = map[state]struct{}{}
	}
	m.failed[here] = struct{}{}
	m.log = append(m.log, here)
	return false
}

// forget takes back what was noted since the log had length n: an inner match has succeeded on a way through it.
func (m *Memory) forget(n int) {
	for _, s := range m.log[n:] {
		delete(m.failed, s)
	}
	m.log = m.log[:n]
}

func (r *Regex) place(anchor byte, text []byte, at int) bool {
	switch anchor {
	case '^':
		return at == 0 || at < len(text) && text[at-1] == '\n'
	case '$':
		return at == len(text) || text[at] == '\n'
	case 'A':
		return at == 0
	case 'z':
		return at == len(text)
	case 'Z':
		return at == len(text) || at == len(text)-1 && text[at] == '\n'
	}
	ahead := r.word.size(text, at) > 0
	behind := at > 0 && r.word.size(text, before(text, at)) > 0
	return (ahead != behind) == (anchor == 'b')
}
