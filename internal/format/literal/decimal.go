package literal

import (
	"encoding/binary"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/number"
)

// longest is the most characters of a decimal.
const longest = 512

// decimals reads numbers that a decimal type holds exactly: no more digits
// than its precision, and none but zeros below its scale.
func decimals(t arrow.DecimalType) Reader {
	precision, scale := int(t.GetPrecision()), int(t.GetScale())
	return func(c *build.Column, p []byte) bool {
		v, ok := decimal(p, precision, scale)
		if !ok {
			return false
		}
		var out [32]byte
		for i, w := range v {
			binary.LittleEndian.PutUint64(out[8*i:], w)
		}
		c.Value(out[:c.Width])
		return true
	}
}

// wide is an integer of 256 bits in two's complement, lowest first.
type wide [4]uint64

// decimal is p times 10^scale, if that is an integer of at most precision
// digits.
func decimal(p []byte, precision, scale int) (v wide, ok bool) {
	neg := len(p) > 0 && p[0] == '-'
	if neg || len(p) > 0 && p[0] == '+' {
		p = p[1:]
	}
	var buf [longest]byte
	digits, power, ok := significant(&buf, p)
	if !ok {
		return v, false
	}
	if len(digits) > 0 {
		zeros := power + scale
		if zeros < 0 || len(digits)+zeros > precision {
			return v, false
		}
		for _, d := range digits {
			v.shift(uint64(d - '0'))
		}
		for range zeros {
			v.shift(0)
		}
	}
	if neg {
		v.negate()
	}
	return v, true
}

// significant takes a number without sign apart: its value is digits, without
// zeros on either side, times a power of ten.
// buf holds the digits.
func significant(buf *[longest]byte, p []byte) (digits []byte, power int, ok bool) {
	n, i, point := 0, 0, -1
	for ; i < len(p) && i < len(buf); i++ {
		if p[i] == '.' && point < 0 {
			point = n
			continue
		}
		if p[i]-'0' > 9 {
			break
		}
		buf[n] = p[i]
		n++
	}
	if n == 0 {
		return nil, 0, false
	}
	if i < len(p) {
		if p[i]|0x20 != 'e' {
			return nil, 0, false
		}
		e, k, ok := number.Int64(p[i+1:])
		if !ok || i+1+k != len(p) || max(e, -e) > 1000 {
			return nil, 0, false
		}
		power = int(e)
	}
	if point >= 0 {
		power -= n - point
	}
	digits = buf[:n]
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
		power++
	}
	return digits, power, true
}

// shift is v = 10*v + d.
func (v *wide) shift(d uint64) {
	for i := range v {
		hi, lo := bits.Mul64(v[i], 10)
		sum, carry := bits.Add64(lo, d, 0)
		v[i], d = sum, hi+carry
	}
}

func (v *wide) negate() {
	carry := uint64(1)
	for i := range v {
		v[i], carry = bits.Add64(^v[i], 0, carry)
	}
}
