package literal

import "encoding/binary"

// date reads 2024-02-29, or a year of more than four digits behind a sign, at
// the front of b, as days from 1970 on.
func date(b []byte) (day int64, n int, ok bool) {
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		return farDate(b)
	}
	return nearDate(b)
}

// nearDate is date for years of four digits.
func nearDate(b []byte) (day int64, n int, ok bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return 0, 0, false
	}
	// Digits and signs at once: what differs from this pattern by more than a
	// digit is no date.
	x := binary.LittleEndian.Uint64(b) ^ 0x2d30302d30303030
	z := binary.LittleEndian.Uint16(b[8:]) ^ 0x3030
	if (x+0x7676767676767676|x)&0x8080808080808080 != 0 || (z+0x7676|z)&0x8080 != 0 {
		return 0, 0, false
	}
	y := 1000*uint32(x&15) + 100*uint32(x>>8&15) + 10*uint32(x>>16&15) + uint32(x>>24&15)
	m := 10*uint32(x>>40&15) + uint32(x>>48&15)
	d := 10*uint32(z&15) + uint32(z>>8&15)
	if m > 12 {
		return 0, 0, false
	}
	mon := &months[m]
	if d == 0 || d > mon.last && (m != 2 || d != 29 || y%4 != 0 || y%100 == 0 && y%400 != 0) {
		return 0, 0, false
	}
	// 400 years more, of which there are always as many days, keep the year
	// before the first from being negative.
	y += 400 - mon.back
	c := y / 100
	return int64(365*y+y/4-c+c/4+mon.before+d) - (146_097 + 719_468 + 1), 10, true
}

// months are counted from March on, so that the leap day is the last of its
// year.
var months = [13]struct {
	before uint32 // days from the first of March on
	last   uint32 // day of the month, in February without the leap day
	back   uint32 // 1: it belongs to the year before
}{
	1: {306, 31, 1}, 2: {337, 28, 1}, 3: {0, 31, 0}, 4: {31, 30, 0}, 5: {61, 31, 0}, 6: {92, 30, 0},
	7: {122, 31, 0}, 8: {153, 31, 0}, 9: {184, 30, 0}, 10: {214, 31, 0}, 11: {245, 30, 0}, 12: {275, 31, 0},
}

// farDate is date for a year behind a sign, of up to twelve digits: what
// seconds in 64 bits reach. It is the date of a near year that lies whole
// periods of the calendar, of 400 years, away.
func farDate(b []byte) (day int64, n int, ok bool) {
	y, i := int64(0), 1
	for ; i < len(b) && i <= 12 && b[i]-'0' <= 9; i++ {
		y = 10*y + int64(b[i]-'0')
	}
	if i < 5 || len(b) < i+6 {
		return 0, 0, false
	}
	if b[0] == '-' {
		y = -y
	}
	periods := y / 400
	if y%400 < 0 {
		periods--
	}
	y -= 400 * periods
	near := [10]byte{'0', byte('0' + y/100), byte('0' + y/10%10), byte('0' + y%10)}
	copy(near[4:], b[i:])
	day, _, ok = nearDate(near[:])
	return day + 146_097*periods, i + 6, ok
}
