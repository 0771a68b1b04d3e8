package write

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/parquet/meta"
)

// form is how an Arrow value becomes a Parquet value.
type form uint8

const (
	asIs       form = iota // the same bytes
	fromInt8               // to 32 bits
	fromInt16              // to 32 bits
	fromUint8              // to 32 bits
	fromUint16             // to 32 bits
	fromBool
	fromBytes32 // with offsets of 32 bits
	fromBytes64
	fromView
	fromSeconds32  // to milliseconds
	fromSeconds64  // to milliseconds
	fromDate64     // milliseconds to days
	fromDecimal    // to an integer of 4 or 8 bytes
	fromBigDecimal // to big-endian bytes
	fromNothing    // the type of nulls only
)

// order is how values compare in statistics.
type order uint8

const (
	noOrder order = iota
	byBool
	byInt32
	byUint32
	byInt64
	byUint64
	byFloat16
	byFloat32
	byFloat64
	byBytes  // unsigned, lexicographic
	byText   // as byBytes, and cut between characters
	bySigned // two's complement, big-endian
)

// stored says how the values of a leaf are stored.
type stored struct {
	typ   meta.Type
	form  form
	order order
	from  int // bytes of a value in Arrow
	width int // bytes of a value in Parquet; 0 for bytes of any length and for truth values
	// annotate writes the converted type's number and the logical type, nil
	// if there is none.
	converted int32 // -1: none
	scale     int32 // decimals
	precision int32 // decimals; 0: not one
	logical   func(*thrift)
}

// Numbers of Parquet's converted types.
const (
	noConverted       = -1
	convertedUTF8     = 0
	convertedMap      = 1
	convertedList     = 3
	convertedDecimal  = 5
	convertedDate     = 6
	convertedStampMS  = 9
	convertedStampUS  = 10
	convertedUnsigned = 11 // of 8 bits; then 16, 32, 64
	convertedSigned   = 15
)

// Fields of the union of logical types.
const (
	logicalString    = 1
	logicalMap       = 2
	logicalList      = 3
	logicalDecimal   = 5
	logicalDate      = 6
	logicalTime      = 7
	logicalTimestamp = 8
	logicalInteger   = 10
	logicalNull      = 11
	logicalFloat16   = 15
)

// just is a logical type without details.
func just(id int16) func(*thrift) { return func(t *thrift) { t.empty(id) } }

// inTime is the logical type of a time or timestamp.
func inTime(id int16, utc bool, unit arrow.TimeUnit) func(*thrift) {
	return func(t *thrift) {
		outer := t.begin(id)
		t.bool(1, utc)
		of := t.begin(2)
		t.empty(map[arrow.TimeUnit]int16{arrow.Second: 1, arrow.Millisecond: 1, arrow.Microsecond: 2, arrow.Nanosecond: 3}[unit])
		t.end(of)
		t.end(outer)
	}
}

// integer is a column of integers stored in 4 or 8 bytes.
func integer(size int, signed bool, f form) stored {
	s := stored{typ: meta.Int32, form: f, order: byInt32, from: size, width: 4, converted: noConverted}
	if !signed {
		s.order = byUint32
	}
	if size == 8 {
		s.typ, s.width = meta.Int64, 8
		s.order += byInt64 - byInt32
	}
	if signed && size >= 4 {
		return s
	}
	s.converted = convertedUnsigned + int32(bits.TrailingZeros(uint(size)))
	if signed {
		s.converted += convertedSigned - convertedUnsigned
	}
	s.logical = func(t *thrift) {
		outer := t.begin(logicalInteger)
		t.b = append(t.b, 1<<4|3, byte(8*size)) // field 1, a byte
		t.last = 1
		t.bool(2, signed)
		t.end(outer)
	}
	return s
}

func number(typ meta.Type, o order, width int) stored {
	return stored{typ: typ, order: o, from: width, width: width, converted: noConverted}
}

func texts(f form) stored {
	return stored{typ: meta.ByteArray, form: f, order: byText, converted: convertedUTF8, logical: just(logicalString)}
}

func fixed(width int, o order) stored {
	return stored{typ: meta.FixedLenByteArray, order: o, from: width, width: width, converted: noConverted}
}

// storedAs says how an Arrow type that is not nested is stored; false: it
// cannot be.
func storedAs(t arrow.DataType) (stored, bool) {
	switch t.ID() {
	case arrow.NULL:
		return stored{typ: meta.Int32, form: fromNothing, converted: noConverted, logical: just(logicalNull)}, true
	case arrow.BOOL:
		return stored{typ: meta.Boolean, form: fromBool, order: byBool, converted: noConverted}, true
	case arrow.INT8:
		return integer(1, true, fromInt8), true
	case arrow.INT16:
		return integer(2, true, fromInt16), true
	case arrow.INT32:
		return integer(4, true, asIs), true
	case arrow.INT64, arrow.DURATION:
		return integer(8, true, asIs), true
	case arrow.UINT8:
		return integer(1, false, fromUint8), true
	case arrow.UINT16:
		return integer(2, false, fromUint16), true
	case arrow.UINT32:
		return integer(4, false, asIs), true
	case arrow.UINT64:
		return integer(8, false, asIs), true
	case arrow.FLOAT16:
		s := fixed(2, byFloat16)
		s.logical = just(logicalFloat16)
		return s, true
	case arrow.FLOAT32:
		return number(meta.Float, byFloat32, 4), true
	case arrow.FLOAT64:
		return number(meta.Double, byFloat64, 8), true
	case arrow.STRING:
		return texts(fromBytes32), true
	case arrow.LARGE_STRING:
		return texts(fromBytes64), true
	case arrow.STRING_VIEW:
		return texts(fromView), true
	case arrow.BINARY:
		return stored{typ: meta.ByteArray, form: fromBytes32, order: byBytes, converted: noConverted}, true
	case arrow.LARGE_BINARY:
		return stored{typ: meta.ByteArray, form: fromBytes64, order: byBytes, converted: noConverted}, true
	case arrow.BINARY_VIEW:
		return stored{typ: meta.ByteArray, form: fromView, order: byBytes, converted: noConverted}, true
	case arrow.FIXED_SIZE_BINARY:
		w := t.(*arrow.FixedSizeBinaryType).ByteWidth
		return fixed(w, byBytes), w > 0
	}
	if d, ok := t.(arrow.DecimalType); ok {
		return decimal(d)
	}
	return inTimeUnits(t)
}

// inTimeUnits is storedAs for dates and times.
func inTimeUnits(t arrow.DataType) (stored, bool) {
	s := number(meta.Int64, byInt64, 8)
	switch t := t.(type) {
	case *arrow.Date32Type:
		s = number(meta.Int32, byInt32, 4)
		s.converted, s.logical = convertedDate, just(logicalDate)
	case *arrow.Date64Type:
		s = number(meta.Int32, byInt32, 4)
		s.form, s.from = fromDate64, 8
		s.converted, s.logical = convertedDate, just(logicalDate)
	case *arrow.Time32Type:
		s = number(meta.Int32, byInt32, 4)
		s.logical = inTime(logicalTime, false, t.Unit)
		if t.Unit == arrow.Second {
			s.form = fromSeconds32
		}
	case *arrow.Time64Type:
		s.logical = inTime(logicalTime, false, t.Unit)
	case *arrow.TimestampType:
		utc := t.TimeZone != ""
		s.logical = inTime(logicalTimestamp, utc, t.Unit)
		switch {
		case !utc: // converted types are all in UTC
		case t.Unit == arrow.Microsecond:
			s.converted = convertedStampUS
		case t.Unit != arrow.Nanosecond:
			s.converted = convertedStampMS
		}
		if t.Unit == arrow.Second {
			s.form = fromSeconds64
		}
	default:
		return s, false
	}
	return s, true
}

// decimal is stored in the least bytes that hold its digits: 4 or 8 as an
// integer, more as big-endian bytes.
func decimal(d arrow.DecimalType) (stored, bool) {
	p, sc := d.GetPrecision(), d.GetScale()
	s := stored{typ: meta.Int32, form: fromDecimal, order: byInt32, from: d.BitWidth() / 8, width: 4,
		converted: convertedDecimal, precision: p, scale: sc}
	switch {
	case p < 1 || sc < 0 || sc > p:
		return s, false
	case p > 18:
		// log2(10) is 3.3219…: digits, and a bit for the sign.
		width := int((int64(p)*332193+99999)/100000+1+7) / 8
		s.typ, s.form, s.order, s.width = meta.FixedLenByteArray, fromBigDecimal, bySigned, min(width, s.from)
	case p > 9:
		s.typ, s.order, s.width = meta.Int64, byInt64, 8
	}
	s.logical = func(t *thrift) {
		outer := t.begin(logicalDecimal)
		t.i32(1, sc)
		t.i32(2, p)
		t.end(outer)
	}
	return s, true
}

// cannot is the error for a type that Parquet or weir does not store.
func cannot(path string, t arrow.DataType, way string) error {
	return format.Error(format.ErrUsage, "column %q: %s cannot be written to Parquet%s", path, t, way)
}
