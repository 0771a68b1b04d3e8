// Package literal reads Arrow values from text: what render writes, and the
// other usual forms of it.
package literal

import (
	"encoding/hex"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/build"
)

// Reader appends the value that a text is as a whole; false: it is none, and
// nothing was appended.
type Reader func(c *build.Column, text []byte) bool

// For finds how values of a type are read; nil: the type is none of dates,
// times, timestamps and decimals.
func For(t arrow.DataType) Reader {
	switch t := t.(type) {
	case arrow.DecimalType:
		return decimals(t)
	case *arrow.Date32Type:
		return date32
	case *arrow.Date64Type:
		return date64
	case *arrow.Time32Type:
		return times(t.Unit)
	case *arrow.Time64Type:
		return times(t.Unit)
	case *arrow.TimestampType:
		return instants(t.Unit, t.TimeZone != "")
	}
	return nil
}

func date32(c *build.Column, b []byte) bool {
	day, n, ok := date(b)
	if !ok || n != len(b) || day != int64(int32(day)) {
		return false
	}
	c.Uint32(uint32(day))
	return true
}

func date64(c *build.Column, b []byte) bool {
	day, n, ok := date(b)
	if !ok || n != len(b) || day != int64(int32(day)) {
		return false
	}
	c.Uint64(uint64(day * 1000 * daySeconds))
	return true
}

// times reads times of day.
func times(u arrow.TimeUnit) Reader {
	per := PerSecond(u)
	return func(c *build.Column, b []byte) bool {
		sec, nano, n, ok := clock(b)
		v, exact := InUnit(sec, nano, per)
		if !ok || n != len(b) || !exact {
			return false
		}
		if c.Width == 4 {
			c.Uint32(uint32(v))
		} else {
			c.Uint64(uint64(v))
		}
		return true
	}
}

// instants reads what Instant does. Where the column has a zone, a time without
// one is in UTC; where it has none, a time must not have one.
func instants(u arrow.TimeUnit, zoned bool) Reader {
	per := PerSecond(u)
	return func(c *build.Column, b []byte) bool {
		sec, nano, zone, ok := Instant(b)
		v, exact := InUnit(sec, nano, per)
		if !ok || !exact || zone && !zoned {
			return false
		}
		c.Uint64(uint64(v))
		return true
	}
}

// UUID reads the usual form, or one without its hyphens.
func UUID(c *build.Column, p []byte) bool {
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
