package near

import (
	"context"
	"math/bits"
	"slices"
	"sort"
	"sync/atomic"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stream"
)

// placesBuffer is what a thread reads of the places at a time.
const placesBuffer = 16 << 10

// judge is what a thread needs to compare sets of n-grams. Pairs come by their
// later rows first: as many sets of those as find room are in memory together.
// Then the earlier rows of their pairs are gone through, front to back.
type judge struct {
	block  *mem.Block
	chunk  []byte   // of pairs
	arena  []uint64 // sets from the front, slots from the back
	slots  int
	early  side
	late   side
	streak []uint64 // memory of an earlier row's set, or a piece of it
	stray  []uint64 // memory of a piece of a later row's set

	places *spill.Reader
	sets   *spill.Reader
	buf    []byte // places
	from   uint64 // the first row of buf
	have   uint64 // rows of buf
}

// judgeBytes is what one takes.
func judgeBytes(chunk, arena int) int { return chunk + arena + arena/2 + placesBuffer }

// judges is a pool of them.
type judges struct {
	pool *stream.Pool[judge]
	all  []*judge
}

func (s *solving) openJudges(ctx context.Context) (*judges, error) {
	j := new(judges)
	for range s.l.checkers {
		block, err := s.c.Share.Map(ctx, judgeBytes(s.l.chunk, s.l.arena))
		if err != nil {
			j.close()
			return nil, err
		}
		k := &judge{block: block}
		b, piece := block.Bytes(), s.l.arena/4
		k.chunk, b = b[:s.l.chunk], b[s.l.chunk:]
		k.arena, b = viewOf[uint64](b[:s.l.arena]), b[s.l.arena:]
		k.streak, b = viewOf[uint64](b[:piece]), b[piece:]
		k.stray, k.buf = viewOf[uint64](b[:piece]), b[piece:]
		j.all = append(j.all, k)
	}
	var given atomic.Int32 // each thread asks for its own
	j.pool = stream.NewPool(s.l.checkers, func() *judge { return j.all[given.Add(1)-1] })
	return j, nil
}

func (j *judges) close() {
	if j.pool != nil {
		j.pool.Close()
	}
	for _, k := range j.all {
		k.block.Free()
	}
}

// judge joins the pairs of a window whose texts are as alike as the threshold
// says.
func (s *solving) judge(ctx context.Context, j *judges, i int) error {
	size := s.pairs.entries(i) * pairBytes
	if size == 0 {
		return nil
	}
	var files [3]*spill.Reader
	for n, name := range []string{s.pairs.file(i), placesName, setsName} {
		r, err := s.c.Scratch.Reader(name)
		if err != nil {
			return err
		}
		defer r.Close()
		files[n] = r
	}
	pieces := (size + int64(s.l.chunk) - 1) / int64(s.l.chunk)
	return j.pool.Each(int(pieces), func(piece int, k *judge) error {
		off := int64(piece) * int64(s.l.chunk)
		p := k.chunk[:min(int64(s.l.chunk), size-off)]
		if _, err := files[0].ReadAt(p, off); err != nil {
			return err
		}
		k.places, k.sets, k.have = files[1], files[2], 0
		good, err := k.good(ctx, sorted(p), s.win.lo, s.c.Threshold)
		if err != nil {
			return err
		}
		return s.joinAll(ctx, good)
	})
}

// good moves the pairs that are alike enough to the front.
func (k *judge) good(ctx context.Context, pairs []uint64, lo uint64, threshold float64) ([]uint64, error) {
	for i, p := range pairs {
		pairs[i] = bits.RotateLeft64(p, rowBits) // the later row above the earlier one
	}
	slices.Sort(pairs)
	good := pairs[:0]
	for len(pairs) > 0 {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		n, err := k.load(pairs, lo)
		if err != nil {
			return nil, err
		}
		block := pairs[:n]
		for i, p := range block {
			block[i] = bits.RotateLeft64(p, windowBits)
		}
		slices.Sort(block)
		k.early = side{row: noRow}
		for _, p := range block {
			ok, err := k.alike(p>>windowBits, p&windowMask, threshold)
			if err != nil {
				return nil, err
			}
			if ok {
				good = append(good, p)
			}
		}
		pairs = pairs[n:]
	}
	return good, nil
}

// streamed marks a slot whose set found no room: it says where the set lies.
const streamed = 1 << 63

// load fills the arena with the sets of later rows, and is how many pairs those
// have: at least one.
func (k *judge) load(pairs []uint64, lo uint64) (int, error) {
	k.slots = 0
	used := 0
	for i := 0; i < len(pairs); {
		late := pairs[i] >> rowBits
		p, err := k.place(lo + late)
		if err != nil {
			return 0, err
		}
		room := len(k.arena) - used - 2*(k.slots+1)
		fits := int64(p.n) <= int64(room)
		if !fits && k.slots > 0 {
			return i, nil
		}
		k.slots++
		slot := k.slot(k.slots - 1)
		slot[0], slot[1] = late<<32|uint64(p.n), uint64(used)
		if fits {
			if err := k.read(k.arena[used:used+int(p.n)], p.at); err != nil {
				return 0, err
			}
			used += int(p.n)
		} else {
			slot[1] = streamed | uint64(p.at)
		}
		for i < len(pairs) && pairs[i]>>rowBits == late {
			i++
		}
		if !fits {
			return i, nil
		}
	}
	return len(pairs), nil
}

// slot is the i-th: a later row and the size of its set, and where that lies.
func (k *judge) slot(i int) []uint64 {
	at := len(k.arena) - 2*(i+1)
	return k.arena[at : at+2]
}

// alike says whether two rows have n-grams in common by the threshold.
func (k *judge) alike(early, late uint64, threshold float64) (bool, error) {
	slot := k.slot(sort.Search(k.slots-1, func(i int) bool { return k.slot(i)[0]>>32 >= late }))
	k.late = side{n: int64(uint32(slot[0]))}
	if slot[1]&streamed != 0 {
		k.late.at, k.late.buf = int64(slot[1]&^streamed), k.stray
	} else {
		k.late.whole = k.arena[slot[1]:][:k.late.n]
	}
	if k.early.row != early {
		p, err := k.place(early)
		if err != nil {
			return false, err
		}
		k.early = side{row: early, n: int64(p.n), at: p.at, buf: k.streak}
	}
	a, b := &k.early, &k.late
	if a.n+b.n == 0 {
		return true, nil
	}
	if float64(min(a.n, b.n))/float64(max(a.n, b.n)) < threshold {
		return false, nil // even if one has all of the other
	}
	if a.whole == nil && a.n <= int64(len(a.buf)) {
		if err := k.read(a.buf[:a.n], a.at); err != nil {
			return false, err
		}
		a.whole = a.buf[:a.n]
	}
	same, err := k.common(a, b)
	return float64(same)/float64(a.n+b.n-same) >= threshold, err
}

// side is one of two sets that are compared.
type side struct {
	row   uint64
	n, at int64    // n-grams, and where they lie in the file
	whole []uint64 // all of them; nil: they are read by pieces
	buf   []uint64 // for those
	done  int64    // that were given
}

// common is how many n-grams two sets have in common.
func (k *judge) common(a, b *side) (n int64, err error) {
	a.done, b.done = 0, 0
	var x, y []uint64
	for {
		if len(x) == 0 {
			if x, err = k.next(a); len(x) == 0 {
				return n, err
			}
		}
		if len(y) == 0 {
			if y, err = k.next(b); len(y) == 0 {
				return n, err
			}
		}
		same, i, j := merge(x, y)
		n, x, y = n+same, x[i:], y[j:]
	}
}

// next is the piece of a set that comes next; none: that was all.
func (k *judge) next(s *side) ([]uint64, error) {
	if s.whole != nil {
		p := s.whole[s.done:]
		s.done = s.n
		return p, nil
	}
	p := s.buf[:min(int64(len(s.buf)), s.n-s.done)]
	err := k.read(p, s.at+s.done)
	s.done += int64(len(p))
	return p, err
}

// merge counts what two ascending sets have in common until one of them ends, and
// is how far it came in each.
func merge(x, y []uint64) (same int64, i, j int) {
	for i < len(x) && j < len(y) {
		a, b := x[i], y[j]
		if a == b {
			same++
		}
		if a <= b {
			i++
		}
		if b <= a {
			j++
		}
	}
	return same, i, j
}

// read fills dst with the n-grams that lie at a place.
func (k *judge) read(dst []uint64, at int64) error {
	if len(dst) == 0 {
		return nil
	}
	_, err := k.sets.ReadAt(bytesOf(dst), at*gramBytes)
	return err
}

// place is where the n-grams of a row lie.
func (k *judge) place(row uint64) (Place, error) {
	if row < k.from || row >= k.from+k.have {
		off := int64(row) * placeBytes
		p := k.buf[:min(int64(len(k.buf)/placeBytes*placeBytes), k.places.Size()-off)]
		if _, err := k.places.ReadAt(p, off); err != nil {
			return Place{}, err
		}
		k.from, k.have = row, uint64(len(p)/placeBytes)
	}
	return placeOf(k.buf[(row-k.from)*placeBytes:]), nil
}
