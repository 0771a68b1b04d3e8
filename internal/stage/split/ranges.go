package split

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format"
)

// ranges decides by the order of a column. Values and bounds become words of
// the same order.
type ranges struct {
	column int
	name   string
	limits []uint64
}

func newRanges(c Config, schema *arrow.Schema) (*ranges, error) {
	i, err := column(schema, "range", c.Range.Column)
	if err != nil {
		return nil, err
	}
	r := &ranges{column: i, name: c.Range.Column}
	t := schema.Field(i).Type
	for n, text := range c.Range.Bounds {
		limit, err := bound(t, text)
		if err != nil {
			return nil, usage("range", "column %q: %w", r.name, err)
		}
		if n > 0 && limit <= r.limits[n-1] {
			return nil, usage("range", "column %q: bounds must grow: %s is not above %s", r.name, text, c.Range.Bounds[n-1])
		}
		r.limits = append(r.limits, limit)
	}
	return r, nil
}

func (r *ranges) assign(dst []uint8, rec arrow.RecordBatch, _ int, first int64) error {
	var words [block]uint64
	a := rec.Column(r.column)
	for at := 0; at < len(dst); at += block {
		n := min(block, len(dst)-at)
		bad, err := orders(words[:n], a, at)
		if err != nil {
			return fmt.Errorf("column %q: %w", r.name, err)
		}
		if bad >= 0 {
			value := "null"
			if a.IsValid(at + bad) {
				value = "NaN"
			}
			return format.Error(format.ErrData, "row %d: column %q is %s, which lies in no range", first+int64(at+bad), r.name, value)
		}
		place(dst[at:at+n], words[:n], r.limits)
	}
	return nil
}

// orders sets dst[i] to a word that grows with value at+i of a. It says which
// is the first that has none, or -1.
func orders(dst []uint64, a arrow.Array, at int) (bad int, err error) {
	bad = -1
	switch a := a.(type) {
	case *array.Int64:
		orderInts(dst, a.Int64Values()[at:])
	case *array.Int32:
		orderInts(dst, a.Int32Values()[at:])
	case *array.Int16:
		orderInts(dst, a.Int16Values()[at:])
	case *array.Int8:
		orderInts(dst, a.Int8Values()[at:])
	case *array.Uint64:
		copy(dst, a.Uint64Values()[at:])
	case *array.Uint32:
		orderInts(dst, a.Uint32Values()[at:])
	case *array.Uint16:
		orderInts(dst, a.Uint16Values()[at:])
	case *array.Uint8:
		orderInts(dst, a.Uint8Values()[at:])
	case *array.Float64:
		bad = orderFloats(dst, a.Float64Values()[at:])
	case *array.Float32:
		bad = orderFloats(dst, a.Float32Values()[at:])
	case *array.Timestamp:
		orderInts(dst, a.TimestampValues()[at:])
	case *array.Date32:
		orderInts(dst, a.Date32Values()[at:])
	case *array.Date64:
		orderInts(dst, a.Date64Values()[at:])
	default:
		return -1, fmt.Errorf("values of type %s have no ranges", a.DataType())
	}
	if a.NullN() == 0 {
		return bad, nil
	}
	for i := range dst {
		if i == bad || a.IsNull(at+i) {
			return i, nil
		}
	}
	return -1, nil
}

func orderInt(v int64) uint64 { return uint64(v) ^ 1<<63 }

func orderInts[T ~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32](dst []uint64, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] = orderInt(int64(v[i]))
	}
}

// orderFloat grows with v; both zeros are one, NaN has no place.
func orderFloat(v float64) uint64 {
	b := math.Float64bits(v + 0)
	return b ^ (uint64(int64(b)>>63) | 1<<63)
}

func orderFloats[T float32 | float64](dst []uint64, v []T) (bad int) {
	v = v[:len(dst)]
	bad = -1
	for i := range dst {
		if v[i] != v[i] && bad < 0 {
			bad = i
		}
		dst[i] = orderFloat(float64(v[i]))
	}
	return bad
}

// bound is the least word that is not below the bound that text says, for
// values of a type.
func bound(t arrow.DataType, text string) (uint64, error) {
	switch t := t.(type) {
	case *arrow.TimestampType:
		return timeBound(t, text, perSecond(t), 1)
	case *arrow.Date32Type:
		return timeBound(t, text, 1, 86400)
	case *arrow.Date64Type:
		return timeBound(t, text, 1000, 1)
	case *arrow.Uint64Type:
		if v, err := strconv.ParseUint(text, 10, 64); err == nil {
			return v, nil
		}
		v, err := strconv.ParseFloat(text, 64)
		if v = math.Ceil(v); err != nil || !(v < 1<<64) {
			return 0, fmt.Errorf("%q is not a bound for %s", text, t)
		}
		return uint64(max(v, 0)), nil
	case *arrow.Float64Type, *arrow.Float32Type:
		v, err := strconv.ParseFloat(text, 64)
		if err != nil || v != v {
			return 0, fmt.Errorf("%q is not a number", text)
		}
		return orderFloat(v), nil
	}
	if !arrow.IsInteger(t.ID()) {
		return 0, fmt.Errorf("it is %s; ranges need numbers, dates or timestamps", t)
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return orderInt(v), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if v = math.Ceil(v); err != nil || !(v >= -(1<<63) && v < 1<<63) {
		return 0, fmt.Errorf("%q is not a bound for %s", text, t)
	}
	return orderInt(int64(v)), nil
}

// timeBound counts in units of seconds/perSecond, rounded up: a value is below
// an instant where it is below the next whole unit.
func timeBound(t arrow.DataType, text string, perSecond, seconds int64) (uint64, error) {
	at, ok := parseTime(text)
	if !ok {
		return 0, fmt.Errorf("%q is not a date; write 2024-01-31 or 2024-01-31T12:30:00", text)
	}
	whole, nanos := at.Unix(), int64(at.Nanosecond())
	if limit := math.MaxInt64/perSecond - 1; whole > limit || whole < -limit {
		return 0, fmt.Errorf("%s lies outside of what %s can say", text, t)
	}
	part := 1_000_000_000 / perSecond
	units := whole*perSecond + (nanos+part-1)/part
	if seconds > 1 {
		up := int64(0)
		if units%seconds > 0 {
			up = 1
		}
		units = units/seconds + up
	}
	return orderInt(units), nil
}

// parseTime reads a date, or a date and a time; fractions of seconds may
// follow. Without an offset it is UTC.
func parseTime(text string) (time.Time, bool) {
	for _, layout := range []string{
		"2006-01-02", "2006-01-02T15:04", "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
		"2006-01-02T15:04Z07:00", "2006-01-02 15:04Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00",
	} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
