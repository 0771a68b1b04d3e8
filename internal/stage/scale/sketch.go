package scale

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

const (
	// keep is how many values stand for those of one summary; not fewer than a
	// block has.
	keep = Block
	// blockBits of a key are the block in its object, the others the object.
	blockBits = 34
	// sketchBytes are 32 summaries: enough for 2^29 blocks of rows, however
	// they are divided into objects, and one being made.
	sketchBytes = 32 * 8 * keep
)

// summary stands for the values of blocks first to last. Each of its values, in
// ascending order, stands for as many as the others, to one: the i-th of n for
// ranks i*count/n to (i+1)*count/n.
type summary struct {
	first, last uint64 // keys
	count       uint64
	err         uint64 // most ranks that a value may be off
	values      []float64
	block       *mem.Block
}

// rankAt is the first rank that the i-th value stands for.
func (s *summary) rankAt(i int) uint64 {
	hi, lo := bits.Mul64(uint64(i), s.count)
	q, _ := bits.Div64(hi, lo, uint64(len(s.values)))
	return q
}

// sketch is the summaries of a column, by position. Two are joined when nothing
// can come any more that lies nearer to either in the binary tree of all keys:
// so what a sketch holds in the end depends on the rows and their positions
// only, not on when and where they were added.
type sketch struct {
	share *mem.Budget
	start uint64 // the first key that can be added
	nodes []summary
}

// add adds the values of a whole block, which it sorts; spare has room for as
// many.
func (s *sketch) add(key uint64, values, spare []float64) error {
	sortFloats(values, spare)
	n, err := s.make(len(values))
	if err != nil {
		return err
	}
	copy(n.values, values)
	n.first, n.last, n.count = key, key, uint64(len(values))
	s.nodes = append(s.nodes, n)
	return nil
}

// make leases a summary of n values.
func (s *sketch) make(n int) (summary, error) {
	block, ok := s.share.TryMap(8 * n)
	if !ok {
		return summary{}, &mem.TooSmallError{Share: "fit: quantiles", Need: s.share.Limit() + int64(8*n) - s.share.Free(), Limit: s.share.Limit()}
	}
	return summary{block: block, values: arrow.GetData[float64](block.Bytes())}, nil
}

// settle joins all pairs that no key from next on, and none before start, can
// come between.
func (s *sketch) settle(next uint64) error {
	for {
		at := s.nearest(func(low, high uint64) bool { return low >= s.start && high < next })
		if at < 0 {
			return nil
		}
		if err := s.join(at); err != nil {
			return err
		}
	}
}

// nearest is the first of the two neighbours that lie nearest in the tree of
// keys, of those whose part of it may be joined; -1: there are none.
func (s *sketch) nearest(may func(low, high uint64) bool) int {
	best, at := 65, -1
	for i := range max(0, len(s.nodes)-1) {
		l := bits.Len64(s.nodes[i].first ^ s.nodes[i+1].last)
		if low := s.nodes[i].first >> l << l; l < best && may(low, low+(1<<l-1)) {
			best, at = l, i
		}
	}
	return at
}

// finish joins all; there is one at least.
func (s *sketch) finish() (*summary, error) {
	for len(s.nodes) > 1 {
		if err := s.join(s.nearest(func(_, _ uint64) bool { return true })); err != nil {
			return nil, err
		}
	}
	return &s.nodes[0], nil
}

// join makes one of the nodes at i and i+1.
func (s *sketch) join(i int) error {
	a, b := &s.nodes[i], &s.nodes[i+1]
	n, err := s.make(min(keep, len(a.values)+len(b.values)))
	if err != nil {
		return err
	}
	n.first, n.last = a.first, b.last
	n.count, n.err = a.count+b.count, a.err+b.err
	if len(a.values)+len(b.values) > keep {
		n.err += n.count/(2*keep) + 1 // a rank is rounded
	}
	merge(n.values, n.count, a, b)
	a.block.Free()
	b.block.Free()
	s.nodes[i] = n
	s.nodes = slices.Delete(s.nodes, i+1, i+2)
	return nil
}

// merge fills dst with the values in the middle of equal shares of all ranks.
// The middle often lies between two values: the lower and the upper are taken
// in turn, so that errors cancel instead of adding up.
func merge(dst []float64, count uint64, a, b *summary) {
	target := newSteps(count, 2*count, 2*uint64(len(dst)))
	x, y := newSteps(0, a.count, uint64(len(a.values))), newSteps(0, b.count, uint64(len(b.values)))
	var i, j int
	var v float64
	for k := range dst {
		middle := target.at
		if k&1 == 0 && middle > 0 && count > uint64(len(dst)) {
			middle--
		}
		for x.at+y.at <= middle { // ranks taken so far
			if j == len(b.values) || i < len(a.values) && a.values[i] <= b.values[j] {
				v = a.values[i]
				i++
				x.next()
			} else {
				v = b.values[j]
				j++
				y.next()
			}
		}
		dst[k] = v
		target.next()
	}
}

// steps counts from a fraction on by another, rounded down; it divides once.
type steps struct{ at, rest, whole, part, of uint64 }

func newSteps(from, by, of uint64) steps {
	return steps{at: from / of, rest: from % of, whole: by / of, part: by % of, of: of}
}

func (s *steps) next() {
	s.at += s.whole
	if s.rest += s.part; s.rest >= s.of {
		s.rest -= s.of
		s.at++
	}
}

// at is the value of a rank.
func (s *summary) at(rank uint64) float64 {
	i := sort.Search(len(s.values), func(i int) bool { return s.rankAt(i+1) > rank })
	return s.values[min(i, len(s.values)-1)]
}

// below is the number of values less than v.
func (s *summary) below(v float64) uint64 {
	i, _ := slices.BinarySearch(s.values, v)
	return s.rankAt(i)
}

// free gives all memory back.
func (s *sketch) free() {
	for _, n := range s.nodes {
		n.block.Free()
	}
	s.nodes = nil
}
