package csv

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/build"
)

const (
	daySeconds = 86_400
	dayMillis  = 1000 * daySeconds
)

// putsClock finds how dates, times and instants are read; nil: t is none.
func putsClock(t arrow.DataType) put {
	switch t := t.(type) {
	case *arrow.Date32Type:
		return func(c *build.Column, b []byte) bool {
			day, n, ok := date(b)
			if ok = ok && n == len(b); ok {
				c.Uint32(uint32(day))
			}
			return ok
		}
	case *arrow.Date64Type:
		return func(c *build.Column, b []byte) bool {
			day, n, ok := date(b)
			if ok = ok && n == len(b); ok {
				c.Uint64(uint64(int64(day) * dayMillis))
			}
			return ok
		}
	case *arrow.Time32Type:
		return putTime(t.Unit)
	case *arrow.Time64Type:
		return putTime(t.Unit)
	case *arrow.TimestampType:
		return putInstant(t.Unit, t.TimeZone != "")
	}
	return nil
}

func putTime(u arrow.TimeUnit) put {
	per := perSecond(u)
	return func(c *build.Column, b []byte) bool {
		sec, nano, n, ok := clock(b)
		v, exact := inUnit(sec, nano, per)
		if !ok || n != len(b) || !exact {
			return false
		}
		putBits(c, uint64(v))
		return true
	}
}

func putInstant(u arrow.TimeUnit, zoned bool) put {
	per := perSecond(u)
	return func(c *build.Column, b []byte) bool {
		sec, nano, zone, ok := instant(b)
		v, exact := inUnit(sec, nano, per)
		if !ok || !exact || zone && !zoned {
			return false
		}
		c.Uint64(uint64(v))
		return true
	}
}

func perSecond(u arrow.TimeUnit) int64 {
	return int64(time.Second / u.Multiplier())
}

// inUnit is a time in units, of which there are per to the second; not exact:
// they cannot say it.
func inUnit(sec int64, nano int, per int64) (v int64, exact bool) {
	const safe = math.MaxInt64/1_000_000_000 - 1
	if sec > safe || sec < -safe {
		if most := math.MaxInt64/per - 1; sec > most || sec < -most {
			return 0, false
		}
	}
	if nano == 0 {
		return sec * per, true
	}
	each := int(1_000_000_000 / per)
	return sec*per + int64(nano/each), nano%each == 0
}

// instant reads a date, or a date and a time of day with a T or a space
// between and an optional zone. Seconds are counted from 1970 in UTC, which is
// also the zone of what has none.
func instant(b []byte) (sec int64, nano int, zone, ok bool) {
	day, n, ok := date(b)
	if !ok {
		return 0, 0, false, false
	}
	sec = int64(day) * daySeconds
	if n == len(b) {
		return sec, 0, false, true
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
	return sec + s - ahead, nano, zone, ok
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

// clock reads 12:34, 12:34:56 and 12:34:56.789, up to nine decimals, at the
// front of b.
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
		if unit == 0 {
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

// date reads 2024-02-29 at the front of b, as days from 1970 on.
func date(b []byte) (day int32, n int, ok bool) {
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
	return int32(365*y+y/4-c+c/4+mon.before+d) - (146_097 + 719_468 + 1), 10, true
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
