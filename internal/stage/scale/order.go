package scale

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/mem"
)

// order keeps the values of a column for its quantiles: all of them while they
// fit their memory, a sketch of them from then on.
type order struct {
	block *mem.Block
	words []uint64 // runs: key, count, and so many values; nil: there is a sketch
	used  int
	run   int // where the run begun lies; -1: none
	sketch
	open    []float64 // values of the block that the sketch does not have yet
	openKey uint64
	spare   []float64  // to sort them with
	page    *mem.Block // that both lie in
}

// newOrder takes exact bytes for values, and of share what a sketch needs.
func newOrder(share *mem.Budget, exact int) (*order, error) {
	block, ok := share.TryMap(exact)
	if !ok {
		return nil, &mem.TooSmallError{Share: "fit: quantiles", Need: int64(exact), Limit: share.Free()}
	}
	o := &order{block: block, words: arrow.GetData[uint64](block.Bytes()), run: -1}
	o.sketch.share = share
	return o, nil
}

// add adds values of the block key. Keys ascend.
func (o *order) add(key uint64, values []float64) error {
	if len(values) == 0 {
		return nil
	}
	if o.words != nil {
		if o.store(key, values) {
			return nil
		}
		if err := o.overflow(); err != nil {
			return err
		}
	}
	if len(o.open) > 0 && key != o.openKey {
		if err := o.end(); err != nil {
			return err
		}
	}
	if err := o.settle(key); err != nil {
		return err
	}
	o.openKey = key
	o.open = append(o.open, values...)
	return nil
}

// store keeps values as they are; false: there is no room.
func (o *order) store(key uint64, values []float64) bool {
	same := o.run >= 0 && o.words[o.run] == key
	need := len(values)
	if !same {
		need += 2
	}
	if need > len(o.words)-o.used {
		return false
	}
	if !same {
		o.run = o.used
		o.words[o.used], o.words[o.used+1] = key, 0
		o.used += 2
	}
	o.words[o.run+1] += uint64(len(values))
	copy(arrow.GetData[float64](arrow.GetBytes(o.words[o.used:])), values)
	o.used += len(values)
	return true
}

// overflow makes a sketch of the values kept.
func (o *order) overflow() error {
	page, ok := o.share.TryMap(2 * 8 * Block)
	if !ok {
		return &mem.TooSmallError{Share: "fit: quantiles", Need: 2 * 8 * Block, Limit: o.share.Free()}
	}
	both := arrow.GetData[float64](page.Bytes())
	o.page, o.open, o.spare = page, both[:0:Block], both[Block:]
	words, used, block := o.words, o.used, o.block
	o.words, o.used, o.run, o.block = nil, 0, -1, nil
	defer block.Free()
	for at := 0; at < used; {
		key, n := words[at], int(words[at+1])
		at += 2
		if err := o.add(key, arrow.GetData[float64](arrow.GetBytes(words[at:at+n]))); err != nil {
			return err
		}
		at += n
	}
	return nil
}

// end gives the open block to the sketch.
func (o *order) end() error {
	if len(o.open) == 0 {
		return nil
	}
	err := o.sketch.add(o.openKey, o.open, o.spare)
	o.open = o.open[:0]
	return err
}

// free gives all memory back.
func (o *order) free() {
	o.sketch.free()
	o.block.Free()
	o.page.Free()
	o.words, o.block, o.page = nil, nil, nil
}

// ranks answers what value has which rank.
type ranks interface {
	at(rank uint64) float64
	below(v float64) uint64
}

// ranks ends the adding. The error is that of a rank, as a part of all.
func (o *order) ranks() (r ranks, exact bool, off float64, err error) {
	if o.words != nil {
		return &selection{values: o.compact()}, true, 0, nil
	}
	if err := o.end(); err != nil {
		return nil, false, 0, err
	}
	s, err := o.finish()
	if err != nil {
		return nil, false, 0, err
	}
	return s, false, float64(s.err+1) / float64(s.count), nil
}

// compact moves the values kept together.
func (o *order) compact() []float64 {
	n := 0
	for at := 0; at < o.used; {
		k := int(o.words[at+1])
		copy(o.words[n:], o.words[at+2:at+2+k])
		n += k
		at += 2 + k
	}
	return arrow.GetData[float64](arrow.GetBytes(o.words))[:n]
}

// sortFloats sorts v, which holds no NaN, digit by digit, with the help of
// spare. Minus zero comes before zero.
func sortFloats(v, spare []float64) {
	from, to := arrow.GetData[uint64](arrow.GetBytes(v)), arrow.GetData[uint64](arrow.GetBytes(spare[:len(v)]))
	var counts [8][256]uint16 // a block has at most 4096 values
	for i, b := range from {
		b ^= uint64(int64(b)>>63) | 1<<63 // ascending as numbers do
		from[i] = b
		for d := range counts {
			counts[d][byte(b>>(8*d))]++
		}
	}
	for d := range counts {
		at, same := uint16(0), false
		for i, n := range &counts[d] {
			same = same || int(n) == len(v)
			counts[d][i] = at
			at += n
		}
		if same {
			continue
		}
		for _, b := range from {
			p := &counts[d][byte(b>>(8*d))]
			to[*p] = b
			*p++
		}
		from, to = to, from
	}
	out := arrow.GetData[uint64](arrow.GetBytes(v))
	for i, b := range from {
		out[i] = b ^ (uint64(int64(^b)>>63) | 1<<63)
	}
}

// selection finds ranks among values in no order, and puts them there.
type selection struct {
	values []float64
	known  []int // places that hold what they would hold in order
}

func (s *selection) at(rank uint64) float64 {
	r := int(rank)
	i, found := slices.BinarySearch(s.known, r)
	if !found {
		lo, hi := 0, len(s.values)
		if i > 0 {
			lo = s.known[i-1] + 1
		}
		if i < len(s.known) {
			hi = s.known[i]
		}
		nth(s.values[lo:hi], r-lo)
		s.known = slices.Insert(s.known, i, r)
	}
	return s.values[r]
}

func (s *selection) below(v float64) uint64 {
	var n uint64
	for _, x := range s.values {
		if x < v {
			n++
		}
	}
	return n
}

// nth puts the value there that v[k] has in order, nothing greater before it
// and nothing less behind.
func nth(v []float64, k int) {
	for rounds := 4 * bits.Len(uint(len(v))); len(v) > 32 && rounds > 0; rounds-- {
		p := middle(v[0], v[len(v)/2], v[len(v)-1])
		i, j := 0, len(v)-1
		for i <= j {
			for v[i] < p {
				i++
			}
			for v[j] > p {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			v = v[:j+1]
		case k >= i:
			v, k = v[i:], k-i
		default:
			return
		}
	}
	slices.Sort(v)
}

func middle(a, b, c float64) float64 {
	return math.Max(math.Min(a, b), math.Min(math.Max(a, b), c))
}

// quantile is the value at a part q of n values and of copies more of fill, as
// numpy interpolates between two.
func quantile(r ranks, q float64, n, copies uint64, fill float64) float64 {
	h := q * float64(n+copies-1)
	low := math.Floor(h)
	a := withCopies(r, uint64(low), copies, fill)
	if low == h {
		return a
	}
	b := withCopies(r, uint64(low)+1, copies, fill)
	t := h - low
	if sum := a + b; q == 0.5 && sum-sum == 0 {
		return sum / 2 // numpy's median
	}
	if t < 0.5 {
		return a + float64((b-a)*t)
	}
	return b - float64((b-a)*(1-t))
}

// withCopies is the value of a rank among the values and the copies.
func withCopies(r ranks, rank, copies uint64, fill float64) float64 {
	if copies == 0 {
		return r.at(rank)
	}
	switch less := r.below(fill); {
	case rank < less:
		return r.at(rank)
	case rank < less+copies:
		return fill
	}
	return r.at(rank - copies)
}
