package split

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// outside has the high bit set in every byte of x that is not from 'a' to 'z'. Bits other than these are zero. Where x was
// or-ed with 0x20 in every byte, capitals are letters too.
func outside(x uint64) uint64 {
	low := x &^ highs
	// A sum carries into the high bit of its own byte and no further, for both terms are below 0x80.
	within := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
	return (^within | x) & highs
}

// letters goes on from at as long as characters are ASCII letters or have a bit of mask, which those letters must have.
// Eight bytes at a time, for most words then end in the first step: a loop over bytes would be mispredicted at each end.
func (s scan) letters(text []byte, at int, mask uint8) int {
	for at+8 <= len(text) {
		if rest := outside(binary.LittleEndian.Uint64(text[at:]) | 0x20*ones); rest != 0 {
			at += bits.TrailingZeros64(rest) >> 3
			if text[at] < utf8.RuneSelf {
				return at
			}
			break
		}
		at += 8
	}
	return s.while(text, at, mask)
}

// small is letters for those from 'a' to 'z' alone.
func (s scan) small(text []byte, at int, mask uint8) int {
	for at+8 <= len(text) {
		if rest := outside(binary.LittleEndian.Uint64(text[at:])); rest != 0 {
			at += bits.TrailingZeros64(rest) >> 3
			if text[at] < utf8.RuneSelf {
				return at
			}
			break
		}
		at += 8
	}
	return s.while(text, at, mask)
}

// plainWord is where the ASCII letter stands with which a word at text[at] begins, at once or behind a space.
func plainWord(text []byte, at int) (letter int, is bool) {
	letter = at
	if text[at] == ' ' {
		letter++
	}
	return letter, letter < len(text) && asciiLetter(text[letter])
}
