package prepare

import (
	"encoding/binary"
	"slices"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/weight"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stream"
)

// A span is the rows that one part of each split is made of: a task of the
// second pass. Where spans end is decided in the first, by the weight of the
// rows as they are read, so that it depends on the data alone.

// ruler measures spans.
type ruler struct {
	scales *weight.Scales
	size   int64 // weight of a span
	weight int64 // of the rows of the one under way
}

// take says how many of the rows of rec belong to the span under way; full:
// it ends behind them.
func (r *ruler) take(rec arrow.RecordBatch) (n int, full bool) {
	n = int(rec.NumRows())
	all := r.scales.Sum(rec, n)
	if r.weight+all < r.size {
		r.weight += all
		return n, false
	}
	n = sort.Search(n, func(k int) bool { return r.weight+r.scales.Sum(rec, k+1) >= r.size }) + 1
	r.weight = 0
	return n, true
}

// span is one of the list.
type span struct {
	run.Piece
	rows []int64 // of each split
}

// spans is the list of all spans, as text: it is long and is kept for as long
// as the run takes.
type spans []byte

// add puts one more to the end.
func (s spans) add(one span) spans {
	for _, n := range []int64{int64(one.From.Object), one.From.Row, one.From.Offset, one.Skip} {
		s = binary.AppendVarint(s, n)
	}
	for _, n := range one.rows {
		s = binary.AppendUvarint(s, uint64(n))
	}
	return s
}

// all reads the list back, of so many splits each.
func (s spans) all(splits int) ([]span, error) {
	var out []span
	var bad bool
	next := func(read func([]byte) (int64, int)) int64 {
		v, n := read(s)
		if n <= 0 || v < 0 {
			bad, s = true, nil
			return 0
		}
		s = s[n:]
		return v
	}
	unsigned := func(b []byte) (int64, int) { v, n := binary.Uvarint(b); return int64(v), n }
	for len(s) > 0 {
		one := span{rows: make([]int64, splits)}
		one.From = stream.Cursor{Object: int(next(binary.Varint)), Row: next(binary.Varint), Offset: next(binary.Varint)}
		one.Skip = next(binary.Varint)
		for i := range one.rows {
			one.rows[i] = next(unsigned)
			one.Rows += one.rows[i]
		}
		if bad || one.Rows <= 0 {
			return nil, format.Error(format.ErrData, "the state of a checkpoint is damaged: its spans")
		}
		out = append(out, one)
	}
	return out, nil
}

// left are the spans that are not done when so many parts of each split are.
func left(all []span, parts []int64) ([]span, error) {
	done := make([]int64, len(parts))
	for i, s := range all {
		if slices.Equal(done, parts) {
			return all[i:], nil
		}
		for k, n := range s.rows {
			if n > 0 {
				done[k]++
			}
		}
	}
	if !slices.Equal(done, parts) {
		return nil, format.Error(format.ErrData, "the state of a checkpoint does not agree with its parts")
	}
	return nil, nil
}
