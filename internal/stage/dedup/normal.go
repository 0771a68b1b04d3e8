package dedup

import (
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"
	"golang.org/x/text/cases"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

// HashScratchBytes is about what a HashScratch takes on the Go heap.
const HashScratchBytes = 32 << 10

// HashScratch is what one goroutine needs to hash. The zero value is ready.
// Text of any length passes through it in pieces.
type HashScratch struct {
	chain transform.Transformer
	sum   xxh3.Hasher
	out   [4 << 10]byte
}

// normal is the key of a text in its normal form.
func (s *HashScratch) normal(t string) Key {
	if n, ok := s.short(t); ok {
		return octets(s.out[:n])
	}
	s.sum.Reset()
	s.pieces(t, func(p []byte) { s.sum.Write(p) })
	sum := s.sum.Sum128()
	return Key{sum.Hi, sum.Lo}
}

// Normal appends the normal form of a text to dst: the one that HashOptions
// takes texts for the same by.
func (s *HashScratch) Normal(dst []byte, t string) []byte {
	if n, ok := s.short(t); ok {
		return append(dst, s.out[:n]...)
	}
	s.pieces(t, func(p []byte) { dst = append(dst, p...) })
	return dst
}

// short writes the normal form of a short text of ASCII characters to out.
func (s *HashScratch) short(t string) (int, bool) {
	if len(t) > len(s.out) {
		return 0, false
	}
	return plain(s.out[:], t)
}

// pieces passes the normal form of any text on, piece by piece.
func (s *HashScratch) pieces(t string, pass func(p []byte)) {
	if s.chain == nil {
		// Folding can take apart what NFC put together: NFC comes twice.
		s.chain = transform.Chain(norm.NFC, cases.Fold(), norm.NFC, new(spaces))
	}
	s.chain.Reset()
	src := bytesOf(t)
	for {
		n, m, err := s.chain.Transform(s.out[:], src, true)
		pass(s.out[:n])
		src = src[m:]
		if err != transform.ErrShortDst {
			return // nothing else fails that has all of its input
		}
	}
}

// folded is the small letter of every ASCII character, and ' ' for white space.
var folded = foldASCII()

func foldASCII() (t [256]byte) {
	for c := range t {
		t[c] = byte(c)
	}
	for c := 'A'; c <= 'Z'; c++ {
		t[c] += 'a' - 'A'
	}
	for _, c := range "\t\n\v\f\r" {
		t[c] = ' '
	}
	return t
}

// plain writes the normal form of ASCII text, for which dst has room; false:
// there is other text. Every character is written, and the place moves on
// unless it is a space behind another: there is no branch to foretell.
func plain(dst []byte, t string) (int, bool) {
	dst = dst[:len(t)]
	n, all, gap := 0, byte(0), 1
	for i := range len(t) {
		c := t[i]
		all |= c
		c = folded[c]
		dst[n] = c
		space := int((uint32(c^' ') - 1) >> 31)
		n += 1 - space&gap
		gap = space
	}
	if n > 0 && dst[n-1] == ' ' {
		n--
	}
	return n, all < utf8.RuneSelf
}

// spaces makes one space of every run of white space, and none of those at
// both ends.
type spaces struct{ begun, gap bool }

// Reset begins a text.
func (s *spaces) Reset() { *s = spaces{} }

// Transform is what a transform.Transformer promises.
func (s *spaces) Transform(dst, src []byte, atEOF bool) (n, m int, err error) {
	for m < len(src) {
		if !atEOF && !utf8.FullRune(src[m:]) {
			return n, m, transform.ErrShortSrc
		}
		r, size := utf8.DecodeRune(src[m:])
		if unicode.IsSpace(r) {
			s.gap = s.begun
			m += size
			continue
		}
		if n+size+1 > len(dst) {
			return n, m, transform.ErrShortDst
		}
		if s.gap {
			dst[n] = ' '
			n++
		}
		s.begun, s.gap = true, false
		n += copy(dst[n:], src[m:m+size])
		m += size
	}
	return n, m, nil
}
