package render

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// clock renders dates, times, instants and intervals.
func clock(a arrow.Array) (Text, bool) {
	switch a := a.(type) {
	case *array.Date32:
		return func(dst []byte, i int) []byte { return appendDate(dst, int64(a.Value(i))) }, true
	case *array.Date64:
		return func(dst []byte, i int) []byte {
			day, _ := split(int64(a.Value(i)), 86_400_000)
			return appendDate(dst, day)
		}, true
	case *array.Time32:
		unit := a.DataType().(*arrow.Time32Type).Unit
		return func(dst []byte, i int) []byte { return appendTime(dst, int64(a.Value(i)), unit) }, true
	case *array.Time64:
		unit := a.DataType().(*arrow.Time64Type).Unit
		return func(dst []byte, i int) []byte { return appendTime(dst, int64(a.Value(i)), unit) }, true
	case *array.Timestamp:
		return instants(a), true
	case *array.MonthInterval:
		return func(dst []byte, i int) []byte { return appendInterval(dst, int64(a.Value(i)), 0, 0) }, true
	case *array.DayTimeInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return appendInterval(dst, 0, int64(v.Days), int64(v.Milliseconds)*1_000_000)
		}, true
	case *array.MonthDayNanoInterval:
		return func(dst []byte, i int) []byte {
			v := a.Value(i)
			return appendInterval(dst, int64(v.Months), int64(v.Days), v.Nanoseconds)
		}, true
	}
	return nil, false
}

func instants(a *array.Timestamp) Text {
	t := a.DataType().(*arrow.TimestampType)
	values, perDay, zone := a.TimestampValues(), 86_400*perSecond(t.Unit), t.TimeZone != ""
	return func(dst []byte, i int) []byte {
		day, rest := split(int64(values[i]), perDay)
		dst = appendDate(dst, day)
		dst = append(dst, 'T')
		dst = appendTime(dst, rest, t.Unit)
		if zone {
			dst = append(dst, 'Z')
		}
		return dst
	}
}

func perSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1_000
	case arrow.Microsecond:
		return 1_000_000
	}
	return 1_000_000_000
}

// split divides so that the rest is never negative.
func split(v, by int64) (whole, rest int64) {
	whole, rest = v/by, v%by
	if rest < 0 {
		whole, rest = whole-1, rest+by
	}
	return whole, rest
}

// appendDate writes the Gregorian date of a day counted from 1970-01-01.
// Years outside 0 to 9999 have a sign, as ISO 8601 wants it.
func appendDate(dst []byte, day int64) []byte {
	// Days are counted from 0000-03-01 in eras of 400 years, so that a leap
	// day is the last of its year.
	era, doe := split(day+719_468, 146_097)
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	mp := (5*doy + 2) / 153
	d := doy - (153*mp+2)/5 + 1
	m := mp + 3
	if m > 12 {
		m -= 12
	}
	y := yoe + era*400
	if m <= 2 {
		y++
	}
	switch {
	case y < 0:
		dst, y = append(dst, '-'), -y
	case y > 9999:
		dst = append(dst, '+')
	}
	dst = appendPadded(dst, y, 4)
	dst = append(dst, '-')
	dst = appendPadded(dst, m, 2)
	dst = append(dst, '-')
	return appendPadded(dst, d, 2)
}

// appendTime writes a time of day in units since midnight.
func appendTime(dst []byte, v int64, unit arrow.TimeUnit) []byte {
	per := perSecond(unit)
	sec, frac := split(v, per)
	dst = appendPadded(dst, sec/3600, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, sec/60%60, 2)
	dst = append(dst, ':')
	dst = appendPadded(dst, sec%60, 2)
	if per == 1 {
		return dst
	}
	dst = append(dst, '.')
	return appendPadded(dst, frac, len(strconv.FormatInt(per, 10))-1)
}

// appendInterval writes an ISO 8601 duration, each part with its own sign.
func appendInterval(dst []byte, months, days, nanos int64) []byte {
	dst = append(dst, 'P')
	dst = strconv.AppendInt(dst, months, 10)
	dst = append(dst, 'M')
	dst = strconv.AppendInt(dst, days, 10)
	dst = append(dst, "DT"...)
	if nanos < 0 {
		dst = append(dst, '-')
	}
	sec, frac := nanos/1_000_000_000, nanos%1_000_000_000
	dst = strconv.AppendInt(dst, max(sec, -sec), 10)
	if frac != 0 {
		dst = append(dst, '.')
		dst = appendPadded(dst, max(frac, -frac), 9)
	}
	return append(dst, 'S')
}

// appendPadded writes v, not negative, with at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	var buf [20]byte
	i := len(buf)
	for ; v > 0 || width > 0; width-- {
		i--
		buf[i] = byte('0' + v%10)
		v /= 10
	}
	return append(dst, buf[i:]...)
}
