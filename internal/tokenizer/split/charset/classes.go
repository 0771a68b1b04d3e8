package charset

import (
	"sync"
	"unicode/utf8"
)

const (
	blockBits = 7
	blockSize = 1 << blockBits
	blocks    = (utf8.MaxRune + 1) >> blockBits
)

// Classes is one byte for every character, in two levels: blocks that are the same are there once.
type Classes struct {
	// ASCII is the class of a byte below 0x80, and zero for the bytes of longer characters.
	ASCII [256]uint8
	index [blocks]uint16
	data  []uint8
}

// NewClasses makes the table in which the characters of set i have class[i], the bits of several sets or-ed together.
func NewClasses(sets []Set, class []uint8) *Classes {
	flat := make([]uint8, utf8.MaxRune+1)
	for i, set := range sets {
		for _, r := range set {
			for c := r.Lo; c <= r.Hi; c++ {
				flat[c] |= class[i]
			}
		}
	}
	t := &Classes{}
	copy(t.ASCII[:], flat[:utf8.RuneSelf])
	seen := map[[blockSize]uint8]uint16{}
	for b := range t.index {
		block := [blockSize]uint8(flat[b<<blockBits:])
		at, known := seen[block]
		if !known {
			at = uint16(len(seen))
			seen[block] = at
			t.data = append(t.data, block[:]...)
		}
		t.index[b] = at
	}
	return t
}

// Of is the class of a character.
func (t *Classes) Of(c rune) uint8 {
	if uint32(c) > utf8.MaxRune {
		return 0
	}
	return t.data[int(t.index[c>>blockBits])<<blockBits|int(c&(blockSize-1))]
}

// At is the class and the size in bytes of the character at text[at]. Past the end both are zero. A byte that begins no
// character is taken for U+FFFD.
func (t *Classes) At(text []byte, at int) (class uint8, size int) {
	if at < len(text) && text[at] < utf8.RuneSelf {
		return t.ASCII[text[at]], 1
	}
	return t.Wide(text, at)
}

// Wide is At where the character is likely to be of several bytes. Most of those are of three, and are decoded in place.
func (t *Classes) Wide(text []byte, at int) (class uint8, size int) {
	if at >= len(text) {
		return 0, 0
	}
	rest := text[at:]
	if len(rest) >= 3 && rest[0]&0xF0 == 0xE0 && rest[1]&0xC0 == 0x80 && rest[2]&0xC0 == 0x80 {
		c := rune(rest[0]&0xF)<<12 | rune(rest[1]&0x3F)<<6 | rune(rest[2]&0x3F)
		if c >= 0x800 && (c < 0xD800 || c > 0xDFFF) {
			return t.Of(c), 3
		}
	}
	c, size := utf8.DecodeRune(rest)
	return t.Of(c), size
}

// Bits of the classes that Kinds gives, after Oniguruma.
const (
	Upper   = 1 << iota // Lu and Lt
	Lower               // Ll
	Uncased             // Lm and Lo
	Mark                // M
	Numeric             // N
	Blank               // \s
	Sign                // P and S
	Newline             // \r and \n, which are Blank too
	Letter  = Upper | Lower | Uncased
)

// Kinds is the table of the bits above for all characters.
var Kinds = sync.OnceValue(func() *Classes {
	category := func(names ...string) Set {
		var sets []Set
		for _, name := range names {
			set, _ := Category(name)
			sets = append(sets, set)
		}
		return Union(sets...)
	}
	sets := []Set{category("Lu", "Lt"), category("Ll"), category("Lm", "Lo"), category("M"), category("N"), Space(),
		category("P", "S"), Of(Range{'\n', '\n'}, Range{'\r', '\r'})}
	return NewClasses(sets, []uint8{Upper, Lower, Uncased, Mark, Numeric, Blank, Sign, Newline})
})
