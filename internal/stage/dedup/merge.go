package dedup

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
)

const (
	orderBuffer = 64 << 10
	keptBuffer  = 64 << 10
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
	w, err := s.c.Scratch.Create(ctx, keptName, s.c.Share, keptBuffer)
	if err != nil {
		return nil, err
	}
	defer w.Discard()
	out := &weave{out: w, show: min(s.c.Examples, mostExamples)}
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
	if err := w.Sync(); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	k := &Kept{Rows: s.rows - s.before, Distinct: out.kept}
	block.Free()
	k.Examples, err = s.examples(ctx, out.dropped)
	return k, err
}

// weave deals the bits of partitions out to rows.
type weave struct {
	in  [parts]wordsIn
	out *spill.Writer

	acc  uint64 // bits that do not yet fill a word
	have uint
	kept int64

	show    int     // rows to collect in dropped
	dropped []int64 // the first rows that are not kept
	done    int64   // rows of the words that were put
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
func (v *weave) put(word uint64, n int64) error {
	for i := int64(0); i < n && len(v.dropped) < v.show; i++ {
		if word>>i&1 == 0 {
			v.dropped = append(v.dropped, v.done+i)
		}
	}
	v.done += n
	v.kept += int64(bits.OnesCount64(word))
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], word)
	_, err := v.out.Write(b[:])
	return err
}

// end writes the last word.
func (v *weave) end() error {
	if v.have == 0 {
		return nil
	}
	return v.put(v.acc, int64(v.have))
}
