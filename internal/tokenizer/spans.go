package tokenizer

import "unicode/utf8"

// spans collects where tokens begin.
type spans struct {
	starts []int
	base   int   // where the part under way begins in the text
	origin []int // by byte of the normalized part: where it was in the part; nil: at the same place
}

// EncodeSpans appends the ids of a text as Encode does and, for every one of
// them, the byte of the text at which it begins (tokens that AddSpecial adds
// begin at 0 and at the end).
//
// Where the text is UTF-8 and nothing changes it before it is split, these are
// the beginnings of the library's offsets (without its trim_offsets), but for a
// token that begins inside a character: here its first byte counts. A
// normalizer that only replaces characters one by one or prepends some keeps
// that; behind one that composes, drops or expands characters, or a
// pre-tokenizer that inserts text, a place may be off by that much. Of text
// that is not UTF-8, places are those of the repaired text.
func (e *Encoder) EncodeSpans(ids []uint32, starts []int, text []byte, o EncodeOptions) ([]uint32, []int) {
	s := &spans{starts: starts}
	if o.AddSpecial {
		for range e.t.frame.before {
			s.starts = append(s.starts, 0)
		}
	}
	e.spans = s
	ids = e.encode(ids, text, o)
	e.spans = nil
	if o.AddSpecial {
		for range e.t.frame.behind {
			s.starts = append(s.starts, len(text))
		}
	}
	return ids, s.starts
}

// begin starts a part of the text; src and dst are it before and after it was
// normalized, nil where that changed nothing.
func (s *spans) begin(base int, src, dst []byte) {
	if s == nil {
		return
	}
	s.base, s.origin = base, nil
	if dst != nil {
		s.origin = align(src, dst)
	}
}

// add notes a token that begins at a place of the part under way.
func (s *spans) add(at int) {
	if s == nil {
		return
	}
	if s.origin != nil {
		at = s.origin[min(at, len(s.origin)-1)]
	}
	s.starts = append(s.starts, s.base+at)
}

// nearby is how many characters further both texts are looked through for the
// next place where they agree.
const nearby = 4

// align is, for every byte of dst and its end, the place in src that it came
// from. Characters go one to one while they agree; where they do not, up to the
// nearest place where they agree again; a first character that the rest does
// without was prepended.
func align(src, dst []byte) []int {
	origin := make([]int, 0, len(dst)+1)
	from, to := 0, 0
	if _, n := utf8.DecodeRune(dst); n > 0 && sameText(src, dst[n:]) {
		origin, to = repeat(origin, 0, n), n
	}
	for to < len(dst) {
		i, j := step(src[from:], dst[to:])
		for ; i > 0 || j > 0; i, j = i-1, j-1 {
			if j > 0 {
				_, n := utf8.DecodeRune(dst[to:])
				origin, to = repeat(origin, from, n), to+n
			}
			if i > 0 {
				_, n := utf8.DecodeRune(src[from:])
				from += n
			}
		}
	}
	return append(origin, len(src))
}

func repeat(origin []int, place, times int) []int {
	for range times {
		origin = append(origin, place)
	}
	return origin
}

// step is how many characters of src became how many of dst.
func step(src, dst []byte) (i, j int) {
	if agree(src, dst) {
		return 1, 1
	}
	for far := 1; far <= nearby; far++ {
		for less := 0; less <= far; less++ {
			if agree(behind(src, far), behind(dst, far-less)) {
				return far, far - less
			}
			if agree(behind(src, far-less), behind(dst, far)) {
				return far - less, far
			}
		}
	}
	return 1, 1
}

// behind is a text without its first n characters.
func behind(text []byte, n int) []byte {
	for range n {
		_, size := utf8.DecodeRune(text)
		text = text[size:]
	}
	return text
}

// agree says that two texts go on with the same character, or both end.
func agree(a, b []byte) bool {
	p, n := utf8.DecodeRune(a)
	q, m := utf8.DecodeRune(b)
	return n == 0 && m == 0 || n > 0 && m > 0 && same(p, q)
}

// same counts the mark that stands for a space as one.
func same(p, q rune) bool { return p == q || p == ' ' && q == '\u2581' }

func sameText(a, b []byte) bool {
	for len(a) > 0 && len(b) > 0 {
		if !agree(a, b) {
			return false
		}
		a, b = behind(a, 1), behind(b, 1)
	}
	return len(a) == len(b)
}

// cut keeps the starts from and to of those of the text, which are the last.
func (s *spans) cut(total, from, to int) {
	if s == nil {
		return
	}
	begin := len(s.starts) - total
	s.starts = append(s.starts[:begin], s.starts[begin+from:begin+to]...)
}

// splitSpans does what split does, and notes where tokens begin.
func (e *Encoder) splitSpans(text []byte, at int) {
	done := 0
	e.t.splitter.Split(text, e.lead-at, &e.scratch, func(p []byte) {
		if place, ok := placeIn(text, p); ok {
			done = place
		}
		first := len(e.ids)
		e.ids = e.pieces.Encode(p, e.ids)
		place := done
		for _, id := range e.ids[first:] {
			e.spans.add(at + place)
			place = min(place+e.t.width(id), done+len(p))
		}
		done = min(done+len(p), len(text))
	})
}

// placeIn is where a part of text begins in it; false: it lies elsewhere.
func placeIn(text, part []byte) (int, bool) {
	at := cap(text) - cap(part)
	return at, len(part) > 0 && at >= 0 && at < len(text) && &text[at] == &part[0]
}
