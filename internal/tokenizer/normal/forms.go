package normal

import "unicode/utf8"

// Conjoining Jamo: Unicode, section 3.12.
const (
	hangulBase = 0xac00
	jamoLBase  = 0x1100
	jamoVBase  = 0x1161
	jamoTBase  = 0x11a7
	jamoLCount = 19
	jamoVCount = 21
	jamoTCount = 28
	hangulEnd  = hangulBase + jamoLCount*jamoVCount*jamoTCount
)

// form is one of the four normalization forms, as the reference has them: without the stream-safe limit that cuts long
// runs of marks.
type form struct {
	*tables
	compatible bool
	composed   bool
	// active are the properties that keep a rune from passing as it is, whatever lies before and behind it.
	active uint32
}

func newForm(t *tables, compatible, composed bool) form {
	f := form{tables: t, compatible: compatible, composed: composed, active: classMask}
	if composed {
		f.active |= propBackward | propNotComposed
	} else {
		f.active |= propCanonical
	}
	if compatible {
		f.active |= propCompatible
	}
	return f
}

// pending is a run of decomposed runes that may still be reordered or composed with each other; its first is a starter,
// unless it begins the text.
type pending struct {
	runes []rune
	class []uint8
}

// Unchanged reports that the text is normalized; false promises nothing.
func (f form) Unchanged(src []byte) bool {
	_, at := f.passing(src, 0)
	return at == len(src)
}

// passing returns where the first rune at or behind i lies that is active, and where the rune before it begins.
func (f form) passing(src []byte, i int) (before, at int) {
	before = i
	for i < len(src) {
		if src[i] < utf8.RuneSelf {
			for i++; i < len(src) && src[i] < utf8.RuneSelf; i++ {
			}
			before = i - 1
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if f.prop(r)&f.active != 0 {
			return before, i
		}
		before = i
		i += n
	}
	return before, i
}

func (f form) Normalize(dst, src []byte) []byte {
	var runes [32]rune
	var class [32]uint8
	p := pending{runes[:0], class[:0]}
	for i := 0; i < len(src); {
		before, at := f.passing(src, i)
		if at == len(src) {
			return append(dst, src[i:]...)
		}
		dst = append(dst, src[i:before]...)
		// The rune before may compose with this one, so it is taken along; behind the active runes it is flushed.
		for i = before; i < len(src); {
			r, n := utf8.DecodeRune(src[i:])
			if i > before && f.prop(r)&f.active == 0 {
				break
			}
			if r == utf8.RuneError && n == 1 { // not UTF-8: the byte passes
				dst = append(f.flush(dst, &p), src[i])
			} else {
				dst = f.push(dst, &p, r)
			}
			i += n
		}
		dst = f.flush(dst, &p)
	}
	return dst
}

// push decomposes r into p; where a rune begins that what came before cannot reach, what came before goes to dst.
func (f form) push(dst []byte, p *pending, r rune) []byte {
	prop := f.prop(r)
	if prop&propCanonical == 0 && (prop&propCompatible == 0 || !f.compatible) {
		return f.add(dst, p, r, prop)
	}
	if r >= hangulBase && r < hangulEnd {
		s := r - hangulBase
		dst = f.flush(dst, p)
		p.runes = append(p.runes, jamoLBase+s/(jamoVCount*jamoTCount), jamoVBase+s/jamoTCount%jamoVCount)
		p.class = append(p.class, 0, 0)
		if t := s % jamoTCount; t != 0 {
			p.runes = append(p.runes, jamoTBase+t)
			p.class = append(p.class, 0)
		}
		return dst
	}
	s := f.decomp[r].canonical
	if f.compatible {
		s = f.decomp[r].compatible
	}
	for _, d := range f.runes[s.from:s.to] {
		dst = f.add(dst, p, d, f.prop(d))
	}
	return dst
}

func (f form) add(dst []byte, p *pending, r rune, prop uint32) []byte {
	class := uint8(prop & classMask)
	if class == 0 && (!f.composed || prop&propBackward == 0) {
		dst = f.flush(dst, p)
	}
	p.runes = append(p.runes, r)
	p.class = append(p.class, class)
	return dst
}

// flush appends what is pending, in canonical order and composed where the form asks for it.
func (f form) flush(dst []byte, p *pending) []byte {
	if len(p.runes) > 1 {
		p.order()
		if f.composed {
			f.recompose(p)
		}
	}
	for _, r := range p.runes {
		dst = utf8.AppendRune(dst, r)
	}
	p.runes, p.class = p.runes[:0], p.class[:0]
	return dst
}

// order sorts every run of marks by class, marks of one class staying in their order.
func (p *pending) order() {
	for i := 0; i < len(p.class); {
		if p.class[i] == 0 {
			i++
			continue
		}
		from, sorted := i, true
		for i++; i < len(p.class) && p.class[i] != 0; i++ {
			sorted = sorted && p.class[i-1] <= p.class[i]
		}
		if !sorted {
			orderRun(p.runes[from:i], p.class[from:i])
		}
	}
}

// orderRun sorts one run of marks; a long one is counted out, so that no text takes more than linear time.
func orderRun(runes []rune, class []uint8) {
	if len(runes) <= 32 {
		for i := 1; i < len(runes); i++ {
			r, c := runes[i], class[i]
			k := i
			for ; k > 0 && class[k-1] > c; k-- {
				runes[k], class[k] = runes[k-1], class[k-1]
			}
			runes[k], class[k] = r, c
		}
		return
	}
	var at [257]int
	for _, c := range class {
		at[int(c)+1]++
	}
	for c := range 256 {
		at[c+1] += at[c]
	}
	sorted, classes := make([]rune, len(runes)), make([]uint8, len(runes))
	for i, c := range class {
		sorted[at[c]], classes[at[c]] = runes[i], c
		at[c]++
	}
	copy(runes, sorted)
	copy(class, classes)
}

// recompose joins starters with the runes behind them that nothing blocks.
func (f form) recompose(p *pending) {
	out, starter, last := 0, -1, -1 // last is the class of the rune kept behind the starter, -1 where there is none
	for i, r := range p.runes {
		class := int(p.class[i])
		if starter >= 0 && last < class {
			if c, ok := f.pair(p.runes[starter], r); ok {
				p.runes[starter] = c
				continue
			}
		}
		if class == 0 {
			starter, last = out, -1
		} else {
			last = class
		}
		p.runes[out] = r
		out++
	}
	p.runes = p.runes[:out]
}

// pair returns what two runes compose to.
func (f form) pair(a, b rune) (rune, bool) {
	if f.prop(b)&propBackward == 0 {
		return 0, false
	}
	if l, v := a-jamoLBase, b-jamoVBase; l >= 0 && l < jamoLCount && v >= 0 && v < jamoVCount {
		return hangulBase + (l*jamoVCount+v)*jamoTCount, true
	}
	if s, t := a-hangulBase, b-jamoTBase; s >= 0 && a < hangulEnd && s%jamoTCount == 0 && t > 0 && t < jamoTCount {
		return a + t, true
	}
	c, ok := f.compose[[2]rune{a, b}]
	return c, ok
}
