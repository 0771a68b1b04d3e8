package normal

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"io"
)

// packed holds what the reference library knows of Unicode. Decompositions, composites, marks, control characters and
// lower case are its own answers to every code point (its normalization forms are those of Unicode 9); the values of
// combining classes are Unicode's, for the code points that the reference reorders; grapheme cluster classes are those
// of Unicode 17. Go's own tables are of other versions and change with the toolchain, so that ids would, too.
// tables.py writes it ("make tables").
//
// It is deflated varints: lists of ranges (gap, length-1, value) and maps (gap, number of runes, differences), in the
// order in which load reads them. Hangul syllables and private use follow from their numbers and are left out.
//
//go:embed tables.bin
var packed []byte

// What one code point is, in the bits of a word of tables.props.
const (
	classMask = 0xff // canonical combining class

	propCanonical   = 1 << 8  // has a canonical decomposition
	propCompatible  = 1 << 9  // has a compatibility decomposition that differs from the canonical one
	propBackward    = 1 << 10 // may compose with the rune before it
	propNotComposed = 1 << 11 // has a canonical decomposition that does not compose back to it
	propMark        = 1 << 12 // general category M
	propNonspacing  = 1 << 13 // general category Mn, of the older table that BERT's accents are taken from
	propRemoved     = 1 << 14 // taken out by BERT's cleaning
	propLower       = 1 << 15 // has a lower case other than itself
	propLinker      = 1 << 16 // Indic conjunct break: linker
	propExtend      = 1 << 17 // Indic conjunct break: extend

	graphemeShift = 24 // the grapheme cluster break class is the highest byte
)

const (
	blockBits = 7
	blockSize = 1 << blockBits
	maxRune   = 0x10ffff
)

// tables answers what a rune is; it never changes once loaded.
type tables struct {
	index   [maxRune>>blockBits + 1]uint16
	blocks  [][blockSize]uint32
	decomp  map[rune]decomposition
	runes   []rune // all decompositions, one behind the other
	compose map[[2]rune]rune
	lower   map[rune]rune
}

// decomposition is where a rune's two decompositions lie in tables.runes.
type decomposition struct {
	canonical, compatible span
}

type span struct{ from, to uint16 }

func (t *tables) prop(r rune) uint32 {
	if uint32(r) > maxRune {
		return 0
	}
	return t.blocks[t.index[r>>blockBits]][r&(blockSize-1)]
}

// mark sets bits of one rune while the tables are made.
func (t *tables) mark(r rune, bits uint32) {
	at := &t.index[r>>blockBits]
	if *at == 0 {
		t.blocks = append(t.blocks, [blockSize]uint32{})
		*at = uint16(len(t.blocks) - 1)
	}
	t.blocks[*at][r&(blockSize-1)] |= bits
}

// unpacker reads the varints of packed.
type unpacker struct {
	data []byte
	at   int
}

func (u *unpacker) next() int {
	n, shift := 0, 0
	for {
		b := u.data[u.at]
		u.at++
		n |= int(b&0x7f) << shift
		if b < 0x80 {
			return n
		}
		shift += 7
	}
}

func (u *unpacker) signed() rune {
	n := u.next()
	if n&1 != 0 {
		return rune(-(n + 1) / 2)
	}
	return rune(n / 2)
}

// ranges calls f with every rune of a list of ranges and its value.
func (u *unpacker) ranges(f func(r rune, value int)) {
	at := rune(0)
	for n := u.next(); n > 0; n-- {
		at += rune(u.next())
		length, value := u.next()+1, u.next()
		for ; length > 0; length-- {
			f(at, value)
			at++
		}
	}
}

// entries calls f with every rune of a map and what it is mapped to; f must not keep to.
func (u *unpacker) entries(f func(r rune, to []rune)) {
	at, to := rune(0), make([]rune, 0, 18) // 18: the longest decomposition there is
	for n := u.next(); n > 0; n-- {
		at += rune(u.next())
		prev := at
		to = to[:0]
		for k := u.next(); k > 0; k-- {
			prev += u.signed()
			to = append(to, prev)
		}
		f(at, to)
	}
}

// load unpacks the tables, in about a millisecond.
func load() *tables {
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed)))
	if err != nil {
		panic("normal: the embedded tables are damaged: " + err.Error()) // a broken build, never an input
	}
	u := &unpacker{data: data}
	t := &tables{
		blocks:  make([][blockSize]uint32, 1, 512),
		decomp:  make(map[rune]decomposition, 6000),
		compose: make(map[[2]rune]rune, 1024),
		lower:   make(map[rune]rune, 1600),
	}
	u.ranges(func(r rune, class int) { t.mark(r, uint32(class)) })
	t.loadForms(u)
	for _, bit := range []uint32{propMark, propNonspacing, propRemoved} {
		u.ranges(func(r rune, _ int) { t.mark(r, bit) })
	}
	t.loadLower(u)
	u.ranges(func(r rune, class int) { t.mark(r, uint32(class)<<graphemeShift) })
	u.ranges(func(r rune, kind int) { t.mark(r, [...]uint32{0, propExtend, propLinker}[kind]) })
	t.addHangul()
	return t
}

func (t *tables) loadForms(u *unpacker) {
	keep := func(to []rune) span {
		from := len(t.runes)
		t.runes = append(t.runes, to...)
		return span{uint16(from), uint16(len(t.runes))}
	}
	u.entries(func(r rune, to []rune) {
		s := keep(to)
		t.decomp[r] = decomposition{s, s}
		t.mark(r, propCanonical|propNotComposed)
	})
	u.entries(func(r rune, to []rune) {
		d := t.decomp[r]
		d.compatible = keep(to)
		t.decomp[r] = d
		t.mark(r, propCompatible)
	})
	u.entries(func(r rune, first []rune) {
		s := t.decomp[r].canonical
		last := t.runes[s.to-1]
		t.compose[[2]rune{first[0], last}] = r
		t.mark(last, propBackward)
		t.blocks[t.index[r>>blockBits]][r&(blockSize-1)] &^= propNotComposed
	})
}

// loadLower reads runs of runes, each 0, 1 or 2 behind the one before, that lie equally far from their lower case.
func (t *tables) loadLower(u *unpacker) {
	at := rune(0)
	for n := u.next(); n > 0; n-- {
		at += rune(u.next())
		last, stride, off := at+rune(u.next()), rune(u.next()), u.signed()
		for r := at; r <= last; r += max(stride, 1) {
			t.lower[r] = r + off
			t.mark(r, propLower)
		}
		at = last
	}
	t.mark(dottedI, propLower)
}

func (t *tables) addHangul() {
	for r := rune(hangulBase); r < hangulEnd; r++ {
		class := uint32(graphemeLVT)
		if (r-hangulBase)%jamoTCount == 0 {
			class = graphemeLV
		}
		t.mark(r, propCanonical|class<<graphemeShift)
	}
	for r := rune(jamoVBase); r < jamoVBase+jamoVCount; r++ {
		t.mark(r, propBackward)
	}
	for r := rune(jamoTBase + 1); r < jamoTBase+jamoTCount; r++ {
		t.mark(r, propBackward)
	}
}
