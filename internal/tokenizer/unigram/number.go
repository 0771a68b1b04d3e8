package unigram

import (
	"math"
	"strconv"
)

// score reads a JSON number as the reference's parser does: digits that fit 64 bits, as a float, times or divided by a
// power of ten. That is not always the float nearest to the text, and the choice between two paths can hang on the
// difference. False: the number is out of range.
func score(text []byte) (float64, bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	significand, exponent, at := uint64(0), 0, 0
	full := func(c byte) bool {
		d := uint64(c - '0')
		if significand > (math.MaxUint64-d)/10 {
			return true
		}
		significand = significand*10 + d
		return false
	}
	isDigit := func() bool { return at < len(text) && text[at]-'0' < 10 }
	for ; isDigit(); at++ {
		if exponent > 0 || full(text[at]) {
			exponent++ // every digit from the first that does not fit
		}
	}
	if at < len(text) && text[at] == '.' {
		for at++; isDigit(); at++ {
			if full(text[at]) {
				for at++; isDigit(); at++ {
				}
				break
			}
			exponent--
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		e, _ := strconv.ParseInt(string(text[at+1:]), 10, 32) // beyond 32 bits it is the limit, which does
		exponent += int(e)
	}
	f, ok := scale(float64(significand), exponent)
	if negative {
		f = -f
	}
	return f, ok
}

// scale multiplies by a power of ten in the steps in which the reference does it.
func scale(f float64, exponent int) (float64, bool) {
	const most = 308
	for exponent < -most && f != 0 {
		f /= 1e308
		exponent += most
	}
	switch {
	case f == 0:
		return 0, true
	case exponent > most:
		return 0, false
	case exponent < 0:
		return f / power(-exponent), true
	}
	f *= power(exponent)
	return f, !math.IsInf(f, 0)
}

// power is the float nearest to ten to the n, 0 to 308.
func power(n int) float64 {
	p, err := strconv.ParseFloat("1e"+strconv.Itoa(n), 64)
	if err != nil {
		return math.Inf(1)
	}
	return p
}
