package normal

import (
	"encoding/base64"
	"encoding/binary"
	"unicode/utf8"
)

// precompiled is SentencePiece's table of replacements: a double array from byte strings to offsets in texts that end
// with a zero byte. The reference looks whole grapheme clusters of less than six bytes up, and takes the shortest key
// they begin with for all of them; other clusters go rune by rune.
type precompiled struct {
	*tables
	units []uint32
	texts []byte
	// ascii is what every ASCII byte becomes that is a cluster by itself.
	ascii [utf8.RuneSelf]replacement
}

// replacement is what a key is replaced by, if it is found.
type replacement struct {
	found bool
	text  []byte
}

// longestCluster is the first length in bytes at which a cluster is not looked up as a whole.
const longestCluster = 6

func newPrecompiled(s *settings, t *tables) (Normalizer, error) {
	if s.Charsmap == nil {
		return nil, dataError("precompiled_charsmap is missing")
	}
	blob, err := base64.StdEncoding.DecodeString(*s.Charsmap)
	if err != nil {
		return nil, dataError("precompiled_charsmap: %v", err)
	}
	if len(blob) < 4 {
		return nil, dataError("precompiled_charsmap: %d bytes are too few", len(blob))
	}
	size := int64(binary.LittleEndian.Uint32(blob)) / 4
	if size*4 > int64(len(blob)-4) || size == 0 {
		return nil, dataError("precompiled_charsmap: a trie of %d units in %d bytes", size, len(blob))
	}
	p := &precompiled{tables: t, units: make([]uint32, size), texts: blob[4+size*4:]}
	for i := range p.units {
		p.units[i] = binary.LittleEndian.Uint32(blob[4+4*i:])
	}
	if !utf8.Valid(p.texts) {
		return nil, dataError("precompiled_charsmap: its texts are not UTF-8")
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	for b := range p.ascii {
		text, found := p.lookup([]byte{byte(b)})
		p.ascii[b] = replacement{found, text}
	}
	return p, nil
}

func hasLeaf(unit uint32) bool  { return unit>>8&1 == 1 }
func label(unit uint32) uint32  { return unit & (1<<31 | 0xff) }
func value(unit uint32) uint32  { return unit & (1<<31 - 1) }
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }

// check refuses an array in which a walk can leave it: the reference fails on text that does.
func (p *precompiled) check() error {
	size := uint32(len(p.units))
	for at, unit := range p.units {
		// But for the root, a walk goes only over units whose label is a byte other than zero; values have the highest bit.
		if l := label(unit); at > 0 && (l == 0 || l > 0xff) {
			continue
		}
		base := uint32(at) ^ offset(unit)
		if base|0xff >= size {
			return dataError("precompiled_charsmap: unit %d points to %d of %d", at, base, size)
		}
		if !hasLeaf(unit) {
			continue
		}
		if v := value(p.units[base]); v > uint32(len(p.texts)) || v < uint32(len(p.texts)) && !utf8.RuneStart(p.texts[v]) {
			return dataError("precompiled_charsmap: unit %d has a text at %d of %d", at, v, len(p.texts))
		}
	}
	return nil
}

// lookup returns the text of the shortest key that chunk begins with.
func (p *precompiled) lookup(chunk []byte) ([]byte, bool) {
	at := offset(p.units[0])
	for _, b := range chunk {
		if b == 0 {
			break
		}
		at ^= uint32(b)
		unit := p.units[at]
		if label(unit) != uint32(b) {
			break
		}
		at ^= offset(unit)
		if hasLeaf(unit) {
			from := value(p.units[at])
			to := from
			for int(to) < len(p.texts) && p.texts[to] != 0 {
				to++
			}
			return p.texts[from:to], true
		}
	}
	return nil, false
}

// alone reports that the ASCII byte at i is a cluster by itself, for sure.
func alone(src []byte, i int) bool {
	return i+1 == len(src) || src[i+1] < utf8.RuneSelf && (src[i] != '\r' || src[i+1] != '\n')
}

func (p *precompiled) Unchanged(src []byte) bool {
	for _, b := range src {
		if b >= utf8.RuneSelf || p.ascii[b].found {
			return false
		}
	}
	return true
}

func (p *precompiled) Normalize(dst, src []byte) []byte {
	var c cluster
	for i := 0; i < len(src); {
		if b := src[i]; b < utf8.RuneSelf && alone(src, i) {
			if p.ascii[b].found {
				dst = append(dst, p.ascii[b].text...)
			} else {
				dst = append(dst, b)
			}
			c = cluster{}
			i++
			continue
		}
		end := p.next(src, i, &c)
		dst = p.replace(dst, src[i:end])
		i = end
	}
	return dst
}

// replace appends what one cluster becomes.
func (p *precompiled) replace(dst, chunk []byte) []byte {
	p.parts(chunk, func(_, text []byte) { dst = append(dst, text...) })
	return dst
}

// parts calls f with the parts of one cluster that are looked up by themselves, and what each becomes.
func (p *precompiled) parts(chunk []byte, f func(part, text []byte)) {
	if len(chunk) < longestCluster {
		if text, found := p.lookup(chunk); found {
			f(chunk, text)
			return
		}
	}
	for len(chunk) > 0 {
		_, n := utf8.DecodeRune(chunk)
		text, found := p.lookup(chunk[:n])
		if !found {
			text = chunk[:n]
		}
		f(chunk[:n], text)
		chunk = chunk[n:]
	}
}
