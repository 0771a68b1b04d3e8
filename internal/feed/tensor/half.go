package tensor

import "math"

// half rounds to float16, to the nearest and of two equally near to the even.
func half(f float32) uint16 {
	b := math.Float32bits(f)
	sign, b := uint16(b>>16)&0x8000, b&0x7fffffff
	switch {
	case b >= 0x47800000: // from 65536 on, infinite or NaN
		if b > 0x7f800000 {
			return sign | 0x7e00
		}
		return sign | 0x7c00
	case b < 0x38800000: // below 2^-14 the last place is 2^-24, that of numbers about 0.5
		return sign | uint16(math.Float32bits(math.Float32frombits(b)+0.5)-0x3f000000)
	}
	return sign | uint16((b-0x38000000+0xfff+b>>13&1)>>13)
}

// brain rounds to bfloat16 likewise.
func brain(f float32) uint16 {
	b := math.Float32bits(f)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// unhalf is the value of a float16.
func unhalf(h uint16) float32 {
	sign, b := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case b >= 0x7c00:
		return math.Float32frombits(sign | 0x7f800000 | b&0x3ff<<13)
	case b < 0x400:
		return math.Float32frombits(sign | math.Float32bits(float32(b)*0x1p-24))
	}
	return math.Float32frombits(sign | (b<<13 + 0x38000000))
}

// odd32 rounds to float32 such that rounding the result again, to a type that is
// shorter by two bits or more, gives what rounding x at once would: of the two
// neighbours of a number that float32 has not, the one with an odd last bit.
func odd32(x float64) float32 {
	if u := math.Float64bits(x); u<<1 >= smallest32 {
		return cut32(u)
	}
	f := float32(x)
	if float64(f) == x {
		return f
	}
	b := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(x) {
		b--
	}
	return math.Float32frombits(b | 1)
}

// smallest32 is the bits of 2^-126, from which on float32 has 24 bits, without
// the sign.
const smallest32 = (1023 - 126) << 53

// cut32 is odd32 for the bits of numbers from 2^-126 on, zero, infinity and NaN:
// it keeps 24 bits, the last of which says too whether there were more.
func cut32(u uint64) float32 {
	const low = 1<<29 - 1
	return float32(math.Float64frombits((u | (u&low+low)&(low+1)) &^ low))
}

// odd64 is odd32 for whole numbers that float64 has not.
func odd64(u uint64) float64 {
	if u>>53 != 0 && u&0x7ff != 0 {
		u = u&^0x7ff | 0x800 // 53 bits, the last of which says that there were more
	}
	return float64(u)
}
