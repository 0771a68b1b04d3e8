package dedup

import (
	"context"

	"github.com/weir-data/weir/internal/mem"
)

const (
	orderBuffer = 64 << 10
	// mostAnswers is what is read at a time of a partition's answers.
	mostAnswers = 16 << 10
	// mostExamples bounds what examples take on the Go heap.
	mostExamples = 1000
)

// merge puts the answers of the partitions together in the order of the rows.
func (s *Set) merge(ctx context.Context, answers *[parts]series) (*Kept, error) {
	each := mostAnswers
	for each > 1<<10 && int64(mem.BlockSize(parts*each+orderBuffer)+keptBuffer) > s.c.Share.Free() {
		each /= 2
	}
	block, err := s.c.Share.Map(ctx, parts*each+orderBuffer)
	if err != nil {
		return nil, err
	}
	defer block.Free()
	answer, err := NewAnswer(ctx, s.c.Scratch, s.c.Share)
	if err != nil {
		return nil, err
	}
	defer answer.Discard()
	out := &weave{out: answer, show: min(s.c.Examples, mostExamples)}
	for p := range out.in {
		out.in[p].scan = answers[p].scan(s.c.Scratch, s.arena, block.Bytes()[p*each:(p+1)*each])
	}
	rows := s.order.scan(s.c.Scratch, s.arena, block.Bytes()[parts*each:])
	skip := s.before
	for {
		b, err := rows.next()
		if err != nil {
			return nil, err
		}
		if len(b) == 0 {
			break
		}
		n := int(min(skip, int64(len(b))))
		if err := out.skip(b[:n]); err != nil {
			return nil, err
		}
		skip -= int64(n)
		if err := out.rows(b[n:]); err != nil {
			return nil, err
		}
	}
	if err := out.end(); err != nil {
		return nil, err
	}
	k, err := answer.End()
	if err != nil {
		return nil, err
	}
	block.Free()
	k.Examples, err = s.examples(ctx, out.dropped)
	return k, err
}

// weave deals the bits of partitions out to rows.
type weave struct {
	in  [parts]wordsIn
	out *Answer

	acc  uint64 // bits that do not yet fill a word
	have uint

	show    int     // rows to collect in dropped
	dropped []int64 // the first rows that are not kept
}

// skip takes the bits of rows that are not asked for.
func (v *weave) skip(order []byte) error {
	for _, p := range order {
		if _, err := v.in[p].bit(); err != nil {
			return err
		}
	}
	return nil
}

// rows writes the bits of rows whose partitions are in order.
func (v *weave) rows(order []byte) error {
	acc, have := v.acc, v.have
	for _, p := range order {
		in := &v.in[p]
		if in.bits == 0 {
			if err := in.next(); err != nil {
				return err
			}
		}
		acc |= in.now & 1 << have
		in.now >>= 1
		in.bits--
		if have++; have == 64 {
			if err := v.put(acc, 64); err != nil {
				return err
			}
			acc, have = 0, 0
		}
	}
	v.acc, v.have = acc, have
	return nil
}

// put writes the bits of n rows.
func (v *weave) put(word uint64, n int) error {
	for i := 0; i < n && len(v.dropped) < v.show; i++ {
		if word>>i&1 == 0 {
			v.dropped = append(v.dropped, v.out.rows+int64(i))
		}
	}
	return v.out.Put(word, n)
}

// end writes the last word.
func (v *weave) end() error {
	if v.have == 0 {
		return nil
	}
	return v.put(v.acc, int(v.have))
}
