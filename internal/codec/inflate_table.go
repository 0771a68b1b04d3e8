package codec

import "math/bits"

// A table maps the next bits of a DEFLATE stream to what they mean. It is
// looked up by its primary bits; longer codes have a second table behind the
// first, looked up by the bits that follow.
//
// An entry has in bits 0 to 7 how many bits it takes in all, and
//   - for a literal in bits 8 and 9 how many there are, 1 or 2, and from bit
//     16 on the literals: two short codes are decoded as one;
//   - for a length or a distance in bits 8 to 11 how many of the bits are its
//     code (the rest are added to it), and its base from bit 16 on;
//   - for a second table its place from bit 16 on.
const (
	entryLiteral = 1 << 15
	entryOther   = 1 << 14 // not a length or a distance: a second table, the end, or no code at all
	entrySecond  = 1 << 13
	entryEnd     = 1 << 12

	maxCode  = 15
	litBits  = 10
	distBits = 9
	// A second table has at least two of a code's symbols in it.
	litSize  = 1<<litBits + 286/2<<(maxCode-litBits)
	distSize = 1<<distBits + 30/2<<(maxCode-distBits)

	litSymbols  = 288
	distSymbols = 32
	endSymbol   = 256
)

// litEntries and distEntries have what the symbols mean, without the bits of
// their codes.
var (
	litEntries = func() (t [litSymbols]uint32) {
		for i := range t {
			switch {
			case i < endSymbol:
				t[i] = uint32(i)<<16 | 1<<8 | entryLiteral
			case i == endSymbol:
				t[i] = entryOther | entryEnd
			case i == 285:
				t[i] = 258 << 16
			case i > 285:
				t[i] = entryOther
			default:
				k := i - 257
				extra := max(0, k/4-1)
				base := 3 + k
				if extra > 0 {
					base = 3 + (4+k%4)<<extra
				}
				t[i] = uint32(base)<<16 | uint32(extra)
			}
		}
		return t
	}()
	distEntries = func() (t [distSymbols]uint32) {
		for i := range t {
			extra := max(0, i/2-1)
			base := 1 + i
			if extra > 0 {
				base = 1 + (2+i%2)<<extra
			}
			t[i] = uint32(base)<<16 | uint32(extra)
			if i >= 30 {
				t[i] = entryOther
			}
		}
		return t
	}()
)

// buildTable fills table for codes of the given lengths, whose symbols mean
// what entries say, and gives the mask of its second tables. It is false for
// lengths that are no prefix code, or one that is not complete. A single code
// of one bit need not be, nor none at all.
func buildTable(table []uint32, primary int, lens []uint8, entries []uint32) (mask uint32, ok bool) {
	var count, next [maxCode + 1]int
	for _, n := range lens {
		count[n]++
	}
	count[0] = 0
	code, longest, codes := 0, 0, 0
	for n := 1; n <= maxCode; n++ {
		code <<= 1
		next[n] = code
		code += count[n]
		codes += count[n]
		if count[n] > 0 {
			longest = n
		}
		if code > 1<<n {
			return 0, false
		}
	}
	if code != 1<<maxCode {
		if codes > 1 || longest > 1 {
			return 0, false
		}
		for i := range table[:1<<primary] {
			table[i] = entryOther
		}
	}
	second := max(0, longest-primary)
	free := 1 << primary
	if second > 0 {
		clear(table[:1<<primary]) // no second tables yet
	}
	for symbol, n := range lens {
		if n == 0 {
			continue
		}
		at := int(bits.Reverse16(uint16(next[n])) >> (16 - n))
		next[n]++
		e := entries[symbol] + uint32(n)
		if e&(entryLiteral|entryOther) == 0 {
			e += uint32(n) << 8
		}
		if int(n) <= primary {
			for ; at < 1<<primary; at += 1 << n {
				table[at] = e
			}
			continue
		}
		first := at & (1<<primary - 1)
		if table[first] == 0 {
			table[first] = uint32(free)<<16 | entryOther | entrySecond
			free += 1 << second
		}
		base := int(table[first] >> 16)
		for at >>= primary; at < 1<<second; at += 1 << (int(n) - primary) {
			table[base+at] = e
		}
	}
	return 1<<second - 1, true
}

// pairLiterals makes entries of two literals where both codes fit.
func pairLiterals(table *[litSize]uint32) {
	// From the end: the second literal is looked up further to the front,
	// where entries are still single.
	for i := 1<<litBits - 1; i >= 0; i-- {
		e := table[i]
		if e&entryLiteral == 0 {
			continue
		}
		n := e & 0xff
		then := table[i>>n]
		if m := then & 0xff; then&entryLiteral != 0 && n+m <= litBits {
			table[i] = then>>16&0xff<<24 | e&0xff0000 | entryLiteral | 2<<8 | (n + m)
		}
	}
}
