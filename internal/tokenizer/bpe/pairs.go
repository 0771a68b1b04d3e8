package bpe

import (
	"bytes"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/tokenizer/document"
)

// merge is what two neighbouring tokens become, and how early: the lowest rank
// is merged first.
type merge struct {
	left, right uint32
	rank, into  uint32
}

// pairs finds merges by their two tokens: open addressing, at most half full.
type pairs struct {
	slots []merge // left none: empty
	shift uint
	count int
}

func newPairs(count int) *pairs {
	shift := uint(63)
	for count*2 > 1<<(64-shift) {
		shift--
	}
	p := &pairs{slots: make([]merge, 1<<(64-shift)), shift: shift}
	for i := range p.slots {
		p.slots[i].left = none
	}
	return p
}

func (p *pairs) slot(left, right uint32) uint64 {
	return (uint64(left)<<32 | uint64(right)) * 0x9E3779B97F4A7C15 >> p.shift
}

// set enters a merge; of one pair the last counts, as in the reference.
func (p *pairs) set(m merge) {
	mask := uint64(len(p.slots) - 1)
	s := p.slot(m.left, m.right)
	for p.slots[s].left != none && (p.slots[s].left != m.left || p.slots[s].right != m.right) {
		s = (s + 1) & mask
	}
	if p.slots[s].left == none {
		p.count++
	}
	p.slots[s] = m
}

// find is the rank of a pair and what it becomes; rank none: nothing.
func (p *pairs) find(left, right uint32) (rank, into uint32) {
	slots := p.slots
	for s := p.slot(left, right); ; s++ {
		m := &slots[s&uint64(len(slots)-1)]
		if m.left == left && m.right == right {
			return m.rank, m.into
		}
		if m.left == none {
			return none, none
		}
	}
}

// parsePairs reads ["a b", ...] or [["a", "b"], ...]. prefix is the length of
// the continuing prefix, which the right token of a merge loses.
func parsePairs(spec document.Value, v *vocabulary, prefix int) (*pairs, error) {
	count := 0
	_ = spec.Elements(func(document.Value) error { count++; return nil })
	p := newPairs(count)
	var line, into []byte
	rank := uint32(0)
	err := spec.Elements(func(value document.Value) error {
		var left, right []byte
		var ok bool
		line, left, right, ok = splitMerge(line[:0], value)
		if value.Kind() == '"' && bytes.HasPrefix(line, []byte("#version")) {
			return nil
		}
		if !ok || len(right) < prefix {
			return format.Error(format.ErrData, "merges: %s is not two tokens", value)
		}
		into = append(append(into[:0], left...), right[prefix:]...)
		m := merge{rank: rank}
		for i, text := range [...][]byte{left, right, into} {
			var id uint32
			if id, ok, v.scratch = v.textID(text, v.scratch); !ok {
				return format.Error(format.ErrData, "merges: %s: %q is not in the vocabulary", value, text)
			}
			*[...]*uint32{&m.left, &m.right, &m.into}[i] = id
		}
		p.set(m)
		rank++
		return nil
	})
	return p, err
}

// splitMerge is the two sides of a merge, which lie in line.
func splitMerge(line []byte, value document.Value) (whole, left, right []byte, ok bool) {
	if value.Kind() == '"' {
		line, ok = value.AppendText(line)
		left, right, found := bytes.Cut(line, []byte(" "))
		return line, left, right, ok && found && !bytes.Contains(right, []byte(" "))
	}
	ok = value.Kind() == '['
	ends := [2]int{}
	n := 0
	_ = value.Elements(func(side document.Value) error {
		var text bool
		line, text = side.AppendText(line)
		if n < 2 {
			ends[n] = len(line)
		}
		n++
		ok = ok && text
		return nil
	})
	return line, line[:ends[0]], line[min(ends[0], ends[1]):ends[1]], ok && n == 2
}
