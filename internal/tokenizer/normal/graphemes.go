package normal

import "unicode/utf8"

// Grapheme cluster break classes, numbered as packed has them.
const (
	graphemeAny = iota
	graphemeCR
	graphemeLF
	graphemeControl
	graphemeExtend
	graphemeZWJ
	graphemeRegional
	graphemePrepend
	graphemeSpacingMark
	graphemeL
	graphemeV
	graphemeT
	graphemeLV
	graphemeLVT
	graphemeConsonant // Indic conjunct break: consonant
	graphemePictographic
)

// cluster is what the runes of a grapheme cluster so far mean for the next one.
type cluster struct {
	prev      uint8 // class of the last rune
	regional  int   // regional indicators at the end, counted over clusters
	consonant bool  // an Indic consonant, then only linkers and extends
	linked    bool  // with a linker among them
	picture   bool  // a pictograph and extends, perhaps with a joiner behind them
}

// next returns where the extended grapheme cluster that begins at i ends. c goes from one cluster to the next.
func (t *tables) next(src []byte, i int, c *cluster) int {
	r, n := utf8.DecodeRune(src[i:])
	prop := t.prop(r)
	c.take(prop)
	for i += n; i < len(src); i += n {
		r, n = utf8.DecodeRune(src[i:])
		prop = t.prop(r)
		if c.breaks(uint8(prop >> graphemeShift)) {
			return i
		}
		c.take(prop)
	}
	return i
}

// take notes a rune.
func (c *cluster) take(prop uint32) {
	class := uint8(prop >> graphemeShift)
	if class == graphemeRegional {
		c.regional++
	} else {
		c.regional = 0
	}
	switch {
	case class == graphemeConsonant:
		c.consonant, c.linked = true, false
	case prop&propLinker != 0:
		c.linked = c.consonant
	case prop&propExtend == 0:
		c.consonant, c.linked = false, false
	}
	switch {
	case class == graphemePictographic:
		c.picture = true
	case class == graphemeExtend && c.prev != graphemeZWJ, class == graphemeZWJ && c.prev != graphemeZWJ:
	default:
		c.picture = false
	}
	c.prev = class
}

// breaks reports a boundary between the last rune and one of a class: the rules of UAX #29, GB3 to GB999.
func (c *cluster) breaks(class uint8) bool {
	prev := c.prev
	switch {
	case prev == graphemeCR && class == graphemeLF:
		return false
	case prev >= graphemeCR && prev <= graphemeControl, class >= graphemeCR && class <= graphemeControl:
		return true
	case prev == graphemeL && (class == graphemeL || class == graphemeV || class == graphemeLV || class == graphemeLVT):
		return false
	case (prev == graphemeLV || prev == graphemeV) && (class == graphemeV || class == graphemeT):
		return false
	case (prev == graphemeLVT || prev == graphemeT) && class == graphemeT:
		return false
	case class == graphemeExtend, class == graphemeZWJ, class == graphemeSpacingMark, prev == graphemePrepend:
		return false
	case class == graphemeConsonant:
		return !c.linked
	case prev == graphemeZWJ && class == graphemePictographic:
		return !c.picture
	case prev == graphemeRegional && class == graphemeRegional:
		return c.regional%2 == 0
	}
	return true
}
