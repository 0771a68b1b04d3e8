package split

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"github.com/weir-data/weir/internal/format"
)

// mostLabels bounds what strata keep: more are not labels but identities.
const mostLabels = 1 << 15

// strata deals the rows of each label out. A round is as many rows of a label
// as the weights, reduced, add up to; each of them draws one of the places that
// the round has left.
type strata struct {
	column int
	name   string
	key    uint64
	round  []uint32 // places of each split in a round
	size   uint64   // their sum

	labels []uint64         // hashes, in the order of first appearance
	index  map[uint64]int32 // of labels
	seen   []uint64         // rows of each label so far
	left   []uint32         // places left of its round, by label and split

	object int   // where the next row must be
	row    int64 // or row 0 of a later object
}

func newStrata(c Config, schema *arrow.Schema) (*strata, error) {
	i, err := hashedColumn(schema, "stratify", c.Stratify)
	if err != nil {
		return nil, err
	}
	s := &strata{column: i, name: c.Stratify, key: xxh3.HashStringSeed("stratify", c.Seed), index: make(map[uint64]int32)}
	common := 0
	for _, w := range c.Weights {
		common = divisor(common, w)
	}
	for _, w := range c.Weights {
		s.round = append(s.round, uint32(w/common))
		s.size += uint64(w / common)
	}
	return s, nil
}

// divisor is the greatest that a and b share.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// cost counts 8 bytes in labels, 8 in seen, 4 a split in left, each twice
// while slices grow, and up to 64 in the map.
func (s *strata) cost() int64 { return mostLabels * int64(96+8*len(s.round)) }

func (s *strata) assign(dst []uint8, rec arrow.RecordBatch, object int, first int64) error {
	next := object == s.object && first == s.row || object > s.object && first == 0
	if !next {
		return fmt.Errorf("row %d is out of turn: stratified splits are assigned in order", first)
	}
	var values [block]uint64
	for at := 0; at < len(dst); at += block {
		n := min(block, len(dst)-at)
		if err := hashValues(values[:n], rec.Column(s.column), at); err != nil {
			return fmt.Errorf("column %q: %w", s.name, err)
		}
		for i, label := range values[:n] {
			place, ok := s.index[label]
			if !ok {
				if len(s.labels) == mostLabels {
					return format.Error(format.ErrUsage, "row %d: stratify: column %q has more than %d different values; split by that column instead", first+int64(at+i), s.name, mostLabels)
				}
				place = s.add(label)
			}
			dst[at+i] = s.draw(int(place))
		}
	}
	s.object, s.row = object, first+int64(len(dst))
	return nil
}

func (s *strata) add(label uint64) int32 {
	place := int32(len(s.labels))
	s.labels = append(s.labels, label)
	s.index[label] = place
	s.seen = append(s.seen, 0)
	s.left = append(s.left, s.round...)
	return place
}

// draw takes one of the places that the label's round has left.
func (s *strata) draw(label int) uint8 {
	n := s.seen[label]
	left := s.left[label*len(s.round):][:len(s.round)]
	open := s.size - n%s.size
	pick, _ := bits.Mul64(mix(mix(s.key^s.labels[label])+gamma*n), open)
	var split int
	for pick >= uint64(left[split]) {
		pick -= uint64(left[split])
		split++
	}
	left[split]--
	s.seen[label] = n + 1
	if open == 1 {
		copy(left, s.round)
	}
	return uint8(split)
}

// state is the next place, then each label with its counts, all little-endian.
func (s *strata) state() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 16+len(s.labels)*(16+4*len(s.round)))
	b = le.AppendUint64(b, uint64(s.object))
	b = le.AppendUint64(b, uint64(s.row))
	for i, label := range s.labels {
		b = le.AppendUint64(b, label)
		b = le.AppendUint64(b, s.seen[i])
		for _, n := range s.left[i*len(s.round):][:len(s.round)] {
			b = le.AppendUint32(b, n)
		}
	}
	return b
}

func (s *strata) restore(state []byte) error {
	le := binary.LittleEndian
	each := 16 + 4*len(s.round)
	wrong := format.Error(format.ErrData, "split: the state is not one of this configuration")
	if len(state) < 16 || (len(state)-16)%each != 0 || (len(state)-16)/each > mostLabels {
		return wrong
	}
	fresh := &strata{column: s.column, name: s.name, key: s.key, round: s.round, size: s.size,
		index: make(map[uint64]int32), object: int(le.Uint64(state)), row: int64(le.Uint64(state[8:]))}
	if fresh.object < 0 || fresh.row < 0 {
		return wrong
	}
	for b := state[16:]; len(b) > 0; b = b[each:] {
		label, seen := le.Uint64(b), le.Uint64(b[8:])
		if _, twice := fresh.index[label]; twice {
			return wrong
		}
		i := int(fresh.add(label))
		fresh.seen[i] = seen
		var open uint64
		for j, most := range s.round {
			n := le.Uint32(b[16+4*j:])
			if n > most {
				return wrong
			}
			fresh.left[i*len(s.round)+j] = n
			open += uint64(n)
		}
		if open != s.size-seen%s.size {
			return wrong
		}
	}
	*s = *fresh
	return nil
}
