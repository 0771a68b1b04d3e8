package literal

import (
	"math"
	"math/bits"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
)

const daySeconds = 86_400

// PerSecond is how many units a second has.
func PerSecond(u arrow.TimeUnit) int64 { return int64(time.Second / u.Multiplier()) }

// InUnit is a time in units, of which there are per to the second; not exact:
// they cannot say it.
func InUnit(sec int64, nano int, per int64) (v int64, exact bool) {
	each := int64(1_000_000_000) / per
	v, ok := total(sec, per, int64(nano)/each)
	return v, ok && int64(nano)%each == 0
}

// total is a*b + plus, if an int64 has it; b is not negative.
func total(a, b, plus int64) (int64, bool) {
	const safe = math.MaxInt32
	if a <= safe && a >= -safe && b <= 1_000_000_000 {
		return a*b + plus, true
	}
	// The rest is taken from the side of zero, so that the earliest instants
	// need no more bits than they have.
	if a < 0 && plus > 0 {
		a, plus = a+1, plus-b
	}
	hi, lo := bits.Mul64(uint64(max(a, -a)), uint64(b))
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	v := int64(lo)
	if a < 0 {
		v = -v
	}
	sum := v + plus
	return sum, (sum > v) == (plus > 0)
}

// Instant reads a date, or a date and a time of day with a T or a space
// between and an optional zone. Seconds are counted from 1970 in UTC, which is
// also the zone of what has none.
func Instant(b []byte) (sec int64, nano int, zone, ok bool) {
	day, n, ok := date(b)
	if !ok {
		return 0, 0, false, false
	}
	if n == len(b) {
		sec, ok = total(day, daySeconds, 0)
		return sec, 0, false, ok
	}
	if b[n] != 'T' && b[n] != ' ' && b[n] != 't' {
		return 0, 0, false, false
	}
	b = b[n+1:]
	s, nano, n, ok := clock(b)
	if !ok {
		return 0, 0, false, false
	}
	ahead, zone, ok := offset(b[n:])
	sec, fits := total(day, daySeconds, s-ahead)
	return sec, nano, zone, ok && fits
}

// offset reads Z, +01, +0100 or +01:00, and nothing.
func offset(b []byte) (sec int64, zone, ok bool) {
	if len(b) == 0 {
		return 0, false, true
	}
	if len(b) == 1 && b[0]|0x20 == 'z' {
		return 0, true, true
	}
	if b[0] != '+' && b[0] != '-' {
		return 0, false, false
	}
	h, ok := two(b[1:])
	m := 0
	switch {
	case len(b) == 5:
		var fine bool
		m, fine = two(b[3:])
		ok = ok && fine
	case len(b) == 6 && b[3] == ':':
		var fine bool
		m, fine = two(b[4:])
		ok = ok && fine
	case len(b) != 3:
		return 0, false, false
	}
	if !ok || h > 23 || m > 59 {
		return 0, false, false
	}
	sec = int64(3600*h + 60*m)
	if b[0] == '-' {
		sec = -sec
	}
	return sec, true, true
}

// clock reads 12:34, 12:34:56 and 12:34:56.789 at the front of b. Decimals
// behind the ninth must be zeros.
func clock(b []byte) (sec int64, nano, n int, ok bool) {
	h, ok := two(b)
	if !ok || len(b) < 5 || b[2] != ':' {
		return 0, 0, 0, false
	}
	m, ok := two(b[3:])
	if !ok || h > 23 || m > 59 {
		return 0, 0, 0, false
	}
	sec, n = int64(3600*h+60*m), 5
	if len(b) < 8 || b[5] != ':' {
		return sec, 0, n, true
	}
	s, ok := two(b[6:])
	if !ok || s > 59 {
		return 0, 0, 0, false
	}
	sec, n = sec+int64(s), 8
	if len(b) < 10 || b[8] != '.' {
		return sec, 0, n, true
	}
	unit := 100_000_000
	for n = 9; n < len(b) && b[n]-'0' <= 9; n++ {
		if unit == 0 && b[n] != '0' {
			return 0, 0, 0, false
		}
		nano += int(b[n]-'0') * unit
		unit /= 10
	}
	return sec, nano, n, n > 9
}

// two reads two digits.
func two(b []byte) (v int, ok bool) {
	if len(b) < 2 || b[0]-'0' > 9 || b[1]-'0' > 9 {
		return 0, false
	}
	return int(b[0]-'0')*10 + int(b[1]-'0'), true
}
