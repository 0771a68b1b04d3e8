// Package trie finds byte strings, from their first byte on, in an array of eight bytes a node.
package trie

import (
	"bytes"
	"math"
	"math/bits"
	"slices"

	"github.com/weir-data/weir/internal/format"
)

// Trie maps byte strings to values below 2^31. It never changes once built.
//
// It is a double array: the child of a node by a byte lies at the node's base XOR the byte, and is one if it carries
// that byte, because no two nodes have the same base. A unit is, from its lowest bit: the byte that leads here (8 bits),
// the base of the children (24), the value and one (31; 0: no string ends here), and whether it is in use (1).
type Trie struct{ units []uint64 }

// Node is a place in a Trie: the unit there.
type Node uint64

const (
	baseShift  = 8
	baseMask   = 1<<24 - 1
	valueShift = 32
	valueMask  = 1<<31 - 1
	used       = 1 << 63
	block      = 256 // units that share all but the lowest byte of their place
	maxUnits   = 1 << 24
	// open is how many blocks at the end are searched for free places; the ones before stay as full as they are.
	open = 16
)

// Root is the node of the empty string.
func (t *Trie) Root() Node { return Node(t.units[0]) }

// Next returns the child of n by b; false: no string goes on so.
func (t *Trie) Next(n Node, b byte) (Node, bool) {
	u := t.units[n>>baseShift&baseMask^Node(b)]
	return Node(u), u&(used|0xff) == used|uint64(b)
}

// Value returns the value of the string that ends at n; false: none does.
func (n Node) Value() (uint32, bool) {
	v := uint32(n >> valueShift & valueMask)
	return v - 1, v != 0
}

// Get returns the value of a string.
func (t *Trie) Get(key []byte) (uint32, bool) {
	n := t.Root()
	for _, b := range key {
		var ok bool
		if n, ok = t.Next(n, b); !ok {
			return 0, false
		}
	}
	return n.Value()
}

// Bytes is the memory that the trie holds.
func (t *Trie) Bytes() int64 { return int64(cap(t.units)) * 8 }

// Build makes the trie of the strings that key returns for 0 to n-1, each with its number for a value; of equal strings
// the last counts. The strings must stay as they are until it returns.
func Build(n int, key func(i int) []byte) (*Trie, error) {
	if n >= valueMask {
		return nil, format.Error(format.ErrUsage, "%d tokens are more than %d", n, valueMask-1)
	}
	order := make([]uint32, n)
	for i := range order {
		order[i] = uint32(i)
	}
	slices.SortFunc(order, func(a, b uint32) int {
		if c := bytes.Compare(key(int(a)), key(int(b))); c != 0 {
			return c
		}
		return int(a) - int(b)
	})
	b := &builder{key: key, order: order}
	b.grow()
	b.todo = append(b.todo, branch{0, 0, uint32(n), 0})
	for len(b.todo) > 0 {
		last := b.todo[len(b.todo)-1]
		b.todo = b.todo[:len(b.todo)-1]
		if err := b.place(last); err != nil {
			return nil, err
		}
	}
	return &Trie{units: slices.Clip(b.units)}, nil
}

// branch is a node whose children have no place yet: the strings order[from:to] go through it, at depth.
type branch struct{ at, from, to, depth uint32 }

type builder struct {
	key    func(i int) []byte
	order  []uint32
	units  []uint64
	taken  []uint64 // a bit for every unit in use
	bases  []uint64 // a bit for every base that a node has
	todo   []branch
	labels []byte
	starts []uint32
	first  int // where the search for free places begins
}

// grow adds a block. The first has only the root in it: a node without children has base 0, and finds none there.
func (b *builder) grow() {
	b.units = append(b.units, make([]uint64, block)...)
	b.taken = append(b.taken, make([]uint64, block/64)...)
	b.bases = append(b.bases, make([]uint64, block/64)...)
	b.first = max(b.first, block, len(b.units)-open*block)
}

// place gives the value of a node to its unit and places to its children.
func (b *builder) place(n branch) error {
	at := n.from
	for at < n.to && len(b.key(int(b.order[at]))) == int(n.depth) {
		b.units[n.at] = b.units[n.at]&^(valueMask<<valueShift) | uint64(b.order[at]+1)<<valueShift
		at++
	}
	b.labels, b.starts = b.labels[:0], b.starts[:0]
	for ; at < n.to; at++ {
		c := b.key(int(b.order[at]))[n.depth]
		if len(b.labels) == 0 || b.labels[len(b.labels)-1] != c {
			b.labels, b.starts = append(b.labels, c), append(b.starts, at)
		}
	}
	if len(b.labels) == 0 {
		return nil
	}
	base, err := b.find()
	if err != nil {
		return err
	}
	b.bases[base/64] |= 1 << (base % 64)
	b.units[n.at] |= uint64(base) << baseShift
	for i, c := range b.labels {
		to := n.to
		if i+1 < len(b.labels) {
			to = b.starts[i+1]
		}
		child := base ^ int(c)
		b.units[child] = used | uint64(c)
		b.taken[child/64] |= 1 << (child % 64)
		b.todo = append(b.todo, branch{uint32(child), b.starts[i], to, n.depth + 1})
	}
	return nil
}

// find returns a base at which all labels fall on free units. Where that takes many tries, half of the places that were
// tried are given up, so that no vocabulary takes more than linear time.
func (b *builder) find() (int, error) {
	const many = 64
	for tries := 0; ; {
		for word := b.first / 64; word < len(b.taken); word++ {
			for free := ^b.taken[word]; free != 0; free &= free - 1 {
				at := word*64 + bits.TrailingZeros64(free)
				if base := at ^ int(b.labels[0]); b.fits(base) {
					if tries > many {
						b.first += (at - b.first) / 2
					}
					return base, nil
				}
				tries++
			}
			if word == b.first/64 && b.taken[word] == math.MaxUint64 {
				b.first = (word + 1) * 64
			}
		}
		if len(b.units) >= maxUnits {
			return 0, format.Error(format.ErrUsage, "the vocabulary needs more than %d nodes", maxUnits)
		}
		b.grow()
	}
}

func (b *builder) fits(base int) bool {
	if b.bases[base/64]>>(base%64)&1 != 0 {
		return false
	}
	for _, c := range b.labels[1:] {
		if at := base ^ int(c); b.taken[at/64]>>(at%64)&1 != 0 {
			return false
		}
	}
	return true
}
