package csv

import "math/bits"

// wide is an integer of 256 bits in two's complement, lowest first.
type wide [4]uint64

// decimal is b times 10^scale, if that is an integer of at most precision
// digits.
func decimal(b []byte, precision, scale int) (v wide, ok bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg || len(b) > 0 && b[0] == '+' {
		b = b[1:]
	}
	behind, point, seen := 0, false, 0
	width := 0 // digits from the first that is not 0
	for i := 0; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c-'0' > 9 {
			return v, false
		}
		seen++
		if point {
			if behind >= scale {
				if c != '0' {
					return v, false // it would be rounded
				}
				continue
			}
			behind++
		}
		if width, ok = v.push(c-'0', width, precision); !ok {
			return v, false
		}
	}
	for ; behind < scale; behind++ {
		if width, ok = v.push(0, width, precision); !ok {
			return v, false
		}
	}
	// A negative scale counts zeros that are left out.
	if seen == 0 || scale < 0 {
		return v, false
	}
	if neg {
		v.negate()
	}
	return v, true
}

// push appends a digit to a number of width digits; false: it has too many.
func (v *wide) push(digit byte, width, most int) (int, bool) {
	if width > 0 || digit > 0 {
		width++
	}
	if width > most {
		return width, false
	}
	carry := uint64(digit)
	for i, x := range v {
		hi, lo := bits.Mul64(x, 10)
		var c uint64
		v[i], c = bits.Add64(lo, carry, 0)
		carry = hi + c
	}
	return width, true
}

func (v *wide) negate() {
	carry := uint64(1)
	for i, x := range v {
		v[i], carry = bits.Add64(^x, 0, carry)
	}
}
