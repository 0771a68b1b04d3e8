package csv

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format/literal"
	"github.com/weir-data/weir/internal/format/number"
)

// kind is what the values of a column seen so far are.
type kind uint8

const (
	nothing  kind = iota // nulls, or no rows
	empties              // "" at most
	booleans             // true, false
	integers             // an int64 holds them and gives them back as they stand
	longs                // integers, of which an int64 does not hold some
	floats
	dates
	instants // without a zone
	zoned
	strings_
)

// arrowType is what columns of a kind are read as.
func (k kind) arrowType() arrow.DataType {
	switch k {
	case booleans:
		return arrow.FixedWidthTypes.Boolean
	case integers:
		return arrow.PrimitiveTypes.Int64
	case floats:
		return arrow.PrimitiveTypes.Float64
	case dates:
		return arrow.FixedWidthTypes.Date32
	case instants:
		return &arrow.TimestampType{Unit: arrow.Microsecond}
	case zoned:
		return &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}
	}
	return arrow.BinaryTypes.String
}

// with is the kind that values of both are of.
func (k kind) with(other kind) kind {
	low, high := min(k, other), max(k, other)
	switch {
	case low == high || low <= empties:
		return high
	case low == integers && high == longs:
		return longs
	case low >= integers && high == floats:
		return floats
	case low >= dates && high <= zoned:
		return high
	}
	return strings_
}

// kindOf is what one field is.
func kindOf(b []byte) kind {
	if len(b) == 0 {
		return empties
	}
	switch c := b[0] | 0x20; {
	case c == 't' || c == 'f':
		if _, ok := boolean(b); ok {
			return booleans
		}
		return strings_
	case c == 'n' || c == 'i' || c == '+':
		if _, ok := named64(b); ok {
			return floats
		}
		return strings_
	}
	if k := kindOfNumber(b); k != strings_ {
		return k
	}
	return kindOfClock(b)
}

// kindOfNumber leaves what begins with a needless zero or a plus a string: it
// is a code, not a number.
func kindOfNumber(b []byte) kind {
	_, n, ok := number.Float64(b)
	if !ok || n != len(b) || !natural(b) {
		if _, ok := named64(b); ok {
			return floats
		}
		return strings_
	}
	_, n, fits := number.Int64(b)
	switch {
	case n < len(b):
		return floats
	case fits:
		return integers
	}
	return longs
}

// natural says that the number b has neither a plus nor a zero before its
// digits, which reading it as a number would lose.
func natural(b []byte) bool {
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	return len(b) == 0 || b[0] != '+' && (b[0] != '0' || len(b) == 1 || b[1]-'0' > 9)
}

func kindOfClock(b []byte) kind {
	sec, nano, zone, ok := literal.Instant(b)
	_, exact := literal.InUnit(sec, nano, literal.PerSecond(arrow.Microsecond))
	switch {
	case !ok || !exact:
		return strings_
	case zone:
		return zoned
	case len(b) == len("2006-01-02"):
		return dates
	}
	return instants
}

// sampled is what a sample shows of one column.
type sampled struct {
	kind   kind
	wanted bool
	text   int64 // bytes of its fields
	fields int64
}

// look adds the fields of the records in data, which are whole. Records of
// another number of fields are passed over.
func (d dialect) look(data []byte, fields []int, columns []sampled, none *nulls) (largest int) {
	single := len(fields) == 1
	for i := 0; i < len(data); {
		if n := blank(data[i:]); n > 0 && !single {
			i += n
			continue
		}
		start := i
		i = d.lookRecord(data, i, fields, columns, none)
		largest = max(largest, i-start)
	}
	return largest
}

func (d dialect) lookRecord(data []byte, i int, fields []int, columns []sampled, none *nulls) int {
	start := i
	for j := 0; ; j++ {
		if j == len(fields) {
			return d.recordEnd(data, start)
		}
		c := &columns[fields[j]]
		if c.kind == floats && c.wanted && d.besides {
			// Most columns of large files: found to be a number in passing.
			if _, n, ok := number.Float64(data[i:]); ok && i+n < len(data) && data[i+n] == d.delim && natural(data[i:]) {
				c.fields++
				i += n + 1
				continue
			}
		}
		t, after, last, err := d.next(data, i)
		if err != nil {
			return d.recordEnd(data, start)
		}
		if c.wanted {
			c.add(t, none)
		}
		i = after
		if last {
			return i
		}
	}
}

func (c *sampled) add(t text, none *nulls) {
	c.fields++
	c.text += int64(len(t.b))
	switch {
	case c.kind == strings_:
	case !t.quoted && (len(t.b) == 0 || none.has(t.b)):
	case t.doubled:
		c.kind = strings_
	case !c.kind.has(t.b):
		c.kind = c.kind.with(kindOf(t.b))
	}
}

// has says that b is of the kind, as most fields of a column are.
func (k kind) has(b []byte) bool {
	switch k {
	case integers:
		_, n, ok := number.Int64(b)
		return ok && n == len(b) && natural(b)
	case booleans:
		_, ok := boolean(b)
		return ok
	case dates, instants, zoned:
		return kindOfClock(b) == k
	}
	return false
}
