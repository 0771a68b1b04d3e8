package write

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// shred appends rows of the batch at hand to the page that is being filled;
// the caller has seen to it that they fit.
func (l *leaf) shred(from, to int) error {
	l.rows += to - from
	return l.walk(0, l.first+from, l.first+to, 0)
}

// walk appends what hangs below places a to b of step d; the first of them
// begins with the repetition level first, the others with the step's own.
func (l *leaf) walk(d, a, b int, first uint8) error {
	s := &l.steps[d]
	if a >= b {
		return nil
	}
	if s.valid != nil && !s.nullable {
		if bit, next := bitRun(s.valid, a, b); bit == 0 || next < b {
			return format.Error(format.ErrData, "column %q: a null where the schema allows none", l.name)
		}
	}
	if s.shape == isLeaf {
		return l.take(s, a, b, first)
	}
	if s.valid == nil {
		return l.below(s, d, a, b, first)
	}
	for a < b {
		bit, next := bitRun(s.valid, a, b)
		if bit == 0 {
			l.levels(first, s.rep, s.def-1, next-a)
		} else if err := l.below(s, d, a, next, first); err != nil {
			return err
		}
		a, first = next, s.rep
	}
	return nil
}

// levels appends n pairs of levels.
func (l *leaf) levels(first, rep, def uint8, n int) {
	l.count += n
	l.defs.repeat(def, n)
	if l.maxRep > 0 {
		l.reps.repeat(first, 1)
		l.reps.repeat(rep, n-1)
	}
}

// below goes on to the children of places a to b, none of which is null.
func (l *leaf) below(s *step, d, a, b int, first uint8) error {
	switch s.shape {
	case isStruct:
		return l.walk(d+1, a+s.shift, b+s.shift, first)
	case isFixedList:
		for ; a < b; a++ {
			if s.size == 0 {
				l.levels(first, s.rep, s.def, 1)
			} else if err := l.walk(d+1, a*s.size+s.shift, (a+1)*s.size+s.shift, first); err != nil {
				return err
			}
			first = s.rep
		}
		return nil
	}
	next := &l.steps[d+1]
	plain := next.shape == isLeaf && next.valid == nil && l.form != fromNothing && l.dictValid == nil
	at := s.place(a)
	for run := at; a < b; a++ {
		end := s.place(a + 1)
		switch {
		case at == end:
			l.levels(first, s.rep, s.def, 1)
		case plain:
			l.levels(first, next.rep, l.maxDef, end-at)
		default:
			if err := l.walk(d+1, at+s.shift, end+s.shift, first); err != nil {
				return err
			}
		}
		at, first = end, s.rep
		if plain && a == b-1 {
			return l.append(run+s.shift, end+s.shift)
		}
	}
	return nil
}

// place is where the elements of the list at place i begin.
func (s *step) place(i int) int {
	if s.shape == isList64 {
		return int(s.off64[i])
	}
	return int(s.off32[i])
}

// take appends the values of places a to b with their levels.
func (l *leaf) take(s *step, a, b int, first uint8) error {
	n := b - a
	l.count += n
	if l.maxRep > 0 {
		l.reps.repeat(first, 1)
		l.reps.repeat(s.rep, n-1)
	}
	switch {
	case l.form == fromNothing:
		l.defs.repeat(s.def-1, n)
		return nil
	case l.dictValid != nil:
		return l.takeEach(s, a, b)
	case s.valid == nil:
		if l.maxDef > 0 {
			l.defs.repeat(s.def, n)
		}
		return l.append(a, b)
	case l.maxDef == 1:
		l.defs.bitmap(s.valid, a, n)
	default:
		for i := a; i < b; {
			bit, next := bitRun(s.valid, i, b)
			l.defs.repeat(s.def-1+bit, next-i)
			i = next
		}
	}
	if l.form == asIs && l.index == arrow.NULL && (l.width == 8 || l.width == 4) {
		l.pick(s.valid, a, b)
		return nil
	}
	for i := a; i < b; {
		bit, next := bitRun(s.valid, i, b)
		if bit == 1 {
			if err := l.append(i, next); err != nil {
				return err
			}
		}
		i = next
	}
	return nil
}

// takeEach is take for a dictionary with a null among its values.
func (l *leaf) takeEach(s *step, a, b int) error {
	for i := a; i < b; i++ {
		null := s.valid != nil && s.valid[i>>3]>>(i&7)&1 == 0
		if !null {
			k := l.at(i)
			null = l.dictValid[k>>3]>>(k&7)&1 == 0
		}
		if null && !s.nullable {
			return format.Error(format.ErrData, "column %q: a null where the schema allows none", l.name)
		}
		if null {
			l.defs.repeat(s.def-1, 1)
			continue
		}
		if l.maxDef > 0 {
			l.defs.repeat(s.def, 1)
		}
		if err := l.append(i, i+1); err != nil {
			return err
		}
	}
	return nil
}

// pick appends the values of 4 or 8 bytes whose bit is set.
func (l *leaf) pick(valid []byte, a, b int) {
	if l.width == 8 {
		dst := arrow.Uint64Traits.CastFromBytes(l.buf[l.start+l.used:])
		n := pick(dst, arrow.Uint64Traits.CastFromBytes(l.src.data)[a:b], valid, a)
		l.used, l.vals = l.used+8*n, l.vals+n
		return
	}
	dst := arrow.Uint32Traits.CastFromBytes(l.buf[l.start+l.used:])
	n := pick(dst, arrow.Uint32Traits.CastFromBytes(l.src.data)[a:b], valid, a)
	l.used, l.vals = l.used+4*n, l.vals+n
}

// pick copies the values of src whose bit in valid, from bit at on, is set to
// the beginning of dst, which has room for all of src, and returns how many
// they are.
func pick[T uint32 | uint64](dst, src []T, valid []byte, at int) int {
	n := 0
	dst = dst[:len(src)]
	for len(src) >= 64 {
		w := word(valid, at)
		block := src[:64]
		switch {
		case w == ^uint64(0):
			n += copy(dst[n:], block)
		case bits.OnesCount64(w) >= 48:
			// Few gaps: runs are long.
			for i := 0; i < 64; {
				i += bits.TrailingZeros64(w >> i)
				if i >= 64 {
					break
				}
				run := bits.TrailingZeros64(^(w >> i))
				n += copy(dst[n:], block[i:min(i+run, 64)])
				i += run
			}
		default:
			for ; w != 0; w &= w - 1 {
				dst[n] = block[bits.TrailingZeros64(w)&63]
				n++
			}
		}
		src, at = src[64:], at+64
	}
	for i, v := range src {
		if valid[(at+i)>>3]>>((at+i)&7)&1 == 1 {
			dst[n] = v
			n++
		}
	}
	return n
}
