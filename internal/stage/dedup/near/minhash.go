package near

import (
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Places is the number of places of a signature.
const Places = 128

// Signature stands for the set of a text's n-grams: two of them agree in about
// as many of their places as the sets have elements in common, by Jaccard.
// Those of texts without n-grams agree in all.
type Signature [Places]uint32

// Gram says what a text is a set of.
type Gram struct {
	N     int  `json:"n"`               // words or bytes in a row, at least 1
	Bytes bool `json:"bytes,omitempty"` // bytes; else words, which white space separates
}

const (
	// throws is how many rounds throw every n-gram to some place; the places
	// that are empty behind them get n-grams of their own. With 16, a text of
	// any length is about 5 looks at every place.
	throws = 16
	// empty is a place that no n-gram has come to, above all others.
	empty = 1 << 63
	// gramsHeld is how many n-grams are collected before they are thrown.
	gramsHeld = 512
)

// Signer makes signatures. It is used by one goroutine, and holds 8 KiB and 8
// bytes a word of the n-grams' length.
//
// A place takes the least number that a random function makes of the n-grams
// that are thrown there; it takes those of the first round that throws any
// there. Two texts have the same number where the n-gram that wins among both
// is in both, which is as likely as they are alike (the sketches of Dahlgaard,
// Knudsen and Thorup). It is as exact as a function for each place and n-gram,
// of which it needs a fraction.
type Signer struct {
	gram   Gram
	mul    [throws + Places]uint64
	add    [throws + Places]uint64
	window []uint64       // hashes of the last words, as a ring
	grams  []uint64       // that were not thrown yet
	places [Places]uint64 // round, number in the lower half
	left   int            // places that are empty
	last   int            // no place has an n-gram of a later round, once none is empty
	held   [gramsHeld]uint64
	visit  func(grams []uint64) // sees all n-grams of a text on the way; nil: nobody does
}

// NewSigner makes signatures that can be compared with those of every other
// Signer of the same Gram.
func NewSigner(g Gram) *Signer {
	g.N = max(g.N, 1)
	s := &Signer{gram: g, window: make([]uint64, g.N)}
	state := uint64(0x6e656172) // any number, but always the same
	next := func() uint64 {     // splitmix64
		state += 0x9e3779b97f4a7c15
		x := state
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		return x ^ x>>31
	}
	for i := range s.mul {
		s.mul[i], s.add[i] = next()|1, next()
	}
	return s
}

// Sign sets dst to the signature of a text. A text shorter than an n-gram is
// one n-gram as a whole.
func (s *Signer) Sign(dst *Signature, text []byte) {
	s.begin()
	if s.gram.Bytes {
		s.bytes(text)
	} else {
		s.words(text)
	}
	s.end(dst)
}

// begin makes all places empty.
func (s *Signer) begin() {
	for i := range s.places {
		s.places[i] = empty | 1<<32 - 1
	}
	s.grams, s.left, s.last = s.held[:0], Places, throws
}

// end is the signature of the n-grams that were taken.
func (s *Signer) end(dst *Signature) {
	s.throw()
	for i := range dst {
		dst[i] = uint32(s.places[i])
	}
}

func (s *Signer) bytes(text []byte) {
	if len(text) == 0 {
		return
	}
	n := min(s.gram.N, len(text))
	for i := 0; i+n <= len(text); i++ {
		s.take(xxh3.Hash(text[i : i+n]))
	}
}

func (s *Signer) words(text []byte) {
	count := 0
	for at := 0; ; {
		from, to := word(text, at)
		if from == to {
			break
		}
		s.window[count%len(s.window)] = xxh3.Hash(text[from:to])
		if count++; count >= len(s.window) {
			s.take(s.join(count, len(s.window)))
		}
		at = to
	}
	if count > 0 && count < len(s.window) {
		s.take(s.join(count, count))
	}
}

// join is the hash of the last n words of count.
func (s *Signer) join(count, n int) uint64 {
	h, at := uint64(n), (count-n)%len(s.window)
	for range n {
		h = bits.RotateLeft64((h^s.window[at])*0x9fb21c651e98df25, 29)
		if at++; at == len(s.window) {
			at = 0
		}
	}
	return h ^ h>>32
}

// take collects an n-gram.
func (s *Signer) take(gram uint64) {
	if len(s.grams) == gramsHeld {
		s.throw()
	}
	s.grams = append(s.grams, gram)
}

// throw gives the n-grams to the places, round by round until no place could
// take one of a later round.
func (s *Signer) throw() {
	grams := s.grams
	s.grams = s.held[:0]
	if len(grams) == 0 {
		return
	}
	if s.visit != nil {
		s.visit(grams)
	}
	for i := 0; i < throws && i <= s.last; i++ {
		filled := round(&s.places, grams, uint64(i)<<32, s.mul[i], s.add[i])
		if s.left -= filled; filled > 0 && s.left == 0 {
			s.last = i
		}
	}
	if s.last < throws {
		return
	}
	for i, p := range s.places {
		if p>>32 >= throws {
			s.places[i] = min(p, throws<<32|least(grams, s.mul[throws+i], s.add[throws+i]))
		}
	}
	s.left = 0
}

// round throws n-grams to places, and is how many of those were empty.
func round(places *[Places]uint64, grams []uint64, tag, mul, add uint64) (filled int) {
	for _, g := range grams {
		x := (g ^ add) * mul
		p := &places[x>>57]
		was := *p
		filled += int(was >> 63)
		*p = min(was, tag|x>>25&(1<<32-1))
	}
	return filled
}

// least is the least number that a function makes of n-grams.
func least(grams []uint64, mul, add uint64) uint64 {
	m := ^uint64(0)
	for _, g := range grams {
		m = min(m, (g^add)*mul)
	}
	return m >> 32
}

// Agree is the share of places in which two signatures agree: about the
// Jaccard similarity of the texts, with a standard deviation of at most 0.045.
func Agree(a, b *Signature) float64 {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return float64(n) / Places
}
