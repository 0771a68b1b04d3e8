package json

import (
	"encoding/hex"
	"math"
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/build"
)

// count reads exactly width digits.
func count(p []byte, width int) (v int64, rest []byte, ok bool) {
	if len(p) < width {
		return 0, p, false
	}
	for _, c := range p[:width] {
		if c-'0' > 9 {
			return 0, p, false
		}
		v = 10*v + int64(c-'0')
	}
	return v, p[width:], true
}

// date reads an ISO 8601 date, a year of more than four digits behind a sign,
// as days since 1970-01-01.
func date(p []byte) (day int64, rest []byte, ok bool) {
	neg, width := false, 4
	if len(p) > 0 && (p[0] == '-' || p[0] == '+') {
		neg, p, width = p[0] == '-', p[1:], 0
		for width < len(p) && width < 13 && p[width]-'0' <= 9 {
			width++
		}
		if width < 4 {
			return 0, p, false
		}
	}
	y, p, ok := count(p, width)
	if !ok || len(p) == 0 || p[0] != '-' {
		return 0, p, false
	}
	m, p, ok := count(p[1:], 2)
	if !ok || len(p) == 0 || p[0] != '-' {
		return 0, p, false
	}
	d, p, ok := count(p[1:], 2)
	if neg {
		y = -y
	}
	if !ok || m < 1 || m > 12 || d < 1 || d > monthDays(y, m) {
		return 0, p, false
	}
	// Years begin in March, so that a leap day is the last of its year.
	if m <= 2 {
		y--
		m += 12
	}
	era := y / 400
	if y%400 < 0 {
		era--
	}
	yoe := y - 400*era
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + (153*(m-3)+2)/5 + d - 1 - 719_468, p, true
}

func monthDays(y, m int64) int64 {
	if m == 2 && (y%4 != 0 || y%100 == 0 && y%400 != 0) {
		return 28
	}
	return [...]int64{31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[m-1]
}

// clockTime reads hh:mm, hh:mm:ss or hh:mm:ss with decimals, as units since
// midnight. Decimals that the unit does not have must be zeros.
func clockTime(p []byte, per int64) (v int64, rest []byte, ok bool) {
	h, p, ok := count(p, 2)
	if !ok || len(p) == 0 || p[0] != ':' {
		return 0, p, false
	}
	m, p, ok := count(p[1:], 2)
	if !ok || h > 23 || m > 59 {
		return 0, p, false
	}
	sec, frac := int64(0), int64(0)
	if len(p) > 0 && p[0] == ':' {
		if sec, p, ok = count(p[1:], 2); !ok || sec > 59 {
			return 0, p, false
		}
		if len(p) > 1 && p[0] == '.' && p[1]-'0' <= 9 {
			p = p[1:]
			for unit := per; len(p) > 0 && p[0]-'0' <= 9; p = p[1:] {
				unit /= 10
				if unit == 0 && p[0] != '0' {
					return 0, p, false
				}
				frac += unit * int64(p[0]-'0')
			}
		}
	}
	return (h*3600+m*60+sec)*per + frac, p, true
}

// zone reads Z or an offset of hours and minutes from UTC, in seconds.
func zone(p []byte) (v int64, ok bool) {
	if len(p) == 1 && p[0]|0x20 == 'z' {
		return 0, true
	}
	if len(p) < 3 || p[0] != '+' && p[0] != '-' {
		return 0, false
	}
	h, rest, ok := count(p[1:], 2)
	if ok && len(rest) > 0 && rest[0] == ':' {
		rest = rest[1:]
	}
	m := int64(0)
	if ok && len(rest) > 0 {
		m, rest, ok = count(rest, 2)
	}
	v = h*3600 + m*60
	if p[0] == '-' {
		v = -v
	}
	return v, ok && len(rest) == 0 && m < 60
}

func perSecond(u arrow.TimeUnit) int64 { return [...]int64{1, 1e3, 1e6, 1e9}[u] }

func readDate32(c *build.Column, p []byte) bool {
	day, rest, ok := date(p)
	if !ok || len(rest) > 0 || day != int64(int32(day)) {
		return false
	}
	c.Uint32(uint32(day))
	return true
}

func readDate64(c *build.Column, p []byte) bool {
	day, rest, ok := date(p)
	if !ok || len(rest) > 0 || day != int64(int32(day)) {
		return false
	}
	c.Uint64(uint64(day * 86_400_000))
	return true
}

func times(unit arrow.TimeUnit, width int) func(*build.Column, []byte) bool {
	per := perSecond(unit)
	return func(c *build.Column, p []byte) bool {
		v, rest, ok := clockTime(p, per)
		if !ok || len(rest) > 0 {
			return false
		}
		if width == 4 {
			c.Uint32(uint32(v))
		} else {
			c.Uint64(uint64(v))
		}
		return true
	}
}

// instants reads a date, or a date and a time with T or a space between them.
// Where the column has a zone, a time without one is in UTC; where it has
// none, a time must not have one.
func instants(unit arrow.TimeUnit, zoned bool) func(*build.Column, []byte) bool {
	per := perSecond(unit)
	return func(c *build.Column, p []byte) bool {
		day, p, ok := date(p)
		if !ok {
			return false
		}
		in := int64(0)
		if len(p) > 0 {
			if p[0]|0x20 != 't' && p[0] != ' ' {
				return false
			}
			if in, p, ok = clockTime(p[1:], per); !ok {
				return false
			}
		}
		if len(p) > 0 {
			off, ok := zone(p)
			if !ok || !zoned {
				return false
			}
			in -= off * per
		}
		v, ok := total(day, 86_400*per, in)
		if ok {
			c.Uint64(uint64(v))
		}
		return ok
	}
}

// total is a*b + plus, if an int64 has it; b is not negative.
func total(a, b, plus int64) (int64, bool) {
	// The part of a day is taken from the side of zero, so that the earliest
	// instants need no more bits than they have.
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

// readUUID reads the usual form, or one without its hyphens.
func readUUID(c *build.Column, p []byte) bool {
	var text [32]byte
	k := 0
	for i, ch := range p {
		if ch == '-' && len(p) == 36 && (i == 8 || i == 13 || i == 18 || i == 23) {
			continue
		}
		if k == len(text) {
			return false
		}
		text[k] = ch
		k++
	}
	var id [16]byte
	if n, err := hex.Decode(id[:], text[:k]); err != nil || n != len(id) {
		return false
	}
	c.Value(id[:])
	return true
}
