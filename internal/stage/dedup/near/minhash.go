// Package near finds texts that are nearly the same: signatures whose places
// agree as often as the texts have n-grams in common (MinHash), and bands of
// them that agree as a whole only in texts that are alike enough (LSH).
package near

import (
	"math/bits"
	"unicode/utf8"

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
	N     int  // words or bytes in a row, at least 1
	Bytes bool // bytes; else words, which white space separates
}

// Signer makes signatures. It is used by one goroutine, and holds 24 bytes a
// word of the n-grams' length.
type Signer struct {
	gram   Gram
	mul    [Places]uint64
	add    [Places]uint64
	window []uint64 // hashes of the last words, as a ring
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
	for i := range dst {
		dst[i] = ^uint32(0)
	}
	if s.gram.Bytes {
		s.bytes(dst, text)
	} else {
		s.words(dst, text)
	}
}

func (s *Signer) bytes(dst *Signature, text []byte) {
	if len(text) == 0 {
		return
	}
	n := min(s.gram.N, len(text))
	for i := 0; i+n <= len(text); i++ {
		lower(dst, &s.mul, &s.add, xxh3.Hash(text[i:i+n]))
	}
}

func (s *Signer) words(dst *Signature, text []byte) {
	count := 0
	for at := 0; ; {
		from, to := word(text, at)
		if from == to {
			break
		}
		s.window[count%len(s.window)] = xxh3.Hash(text[from:to])
		if count++; count >= len(s.window) {
			lower(dst, &s.mul, &s.add, s.join(count, len(s.window)))
		}
		at = to
	}
	if count > 0 && count < len(s.window) {
		lower(dst, &s.mul, &s.add, s.join(count, count))
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

// word is the next one at or behind a place; an empty one: the end. Bytes that
// are no UTF-8 belong to words.
func word(text []byte, at int) (from, to int) {
	for at < len(text) {
		n := space(text[at:])
		if n == 0 {
			break
		}
		at += n
	}
	from = at
	for at < len(text) && space(text[at:]) == 0 {
		at++
	}
	return from, at
}

// space is the length of the white space that p begins with: 0 or one
// character.
func space(p []byte) int {
	c := p[0]
	if c < utf8.RuneSelf {
		if c == ' ' || c-'\t' < 5 {
			return 1
		}
		return 0
	}
	// U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F,
	// U+3000.
	if c != 0xc2 && (c < 0xe1 || c > 0xe3) {
		return 0
	}
	switch r, n := utf8.DecodeRune(p); {
	case r == 0x85, r == 0xa0, r == 0x1680, r >= 0x2000 && r <= 0x200a,
		r == 0x2028, r == 0x2029, r == 0x202f, r == 0x205f, r == 0x3000:
		return n
	}
	return 0
}

// lower takes one n-gram into a signature: every place keeps the least that a
// hash of its own makes of the n-grams.
func lower(dst *Signature, mul, add *[Places]uint64, gram uint64) {
	for i := range dst {
		dst[i] = min(dst[i], uint32((gram*mul[i]+add[i])>>32))
	}
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
