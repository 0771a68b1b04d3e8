package meta

import "github.com/apache/arrow-go/v18/arrow"

// plainTypes are the Arrow types of values that stand for themselves.
var plainTypes = [...]arrow.DataType{
	Boolean:   arrow.FixedWidthTypes.Boolean,
	Int32:     arrow.PrimitiveTypes.Int32,
	Int64:     arrow.PrimitiveTypes.Int64,
	Int96:     &arrow.TimestampType{Unit: arrow.Nanosecond},
	Float:     arrow.PrimitiveTypes.Float32,
	Double:    arrow.PrimitiveTypes.Float64,
	ByteArray: arrow.BinaryTypes.Binary,
}

// arrowType is the type of the leaf's values in Arrow. A meaning that does not
// go with the physical type is ignored, like one nobody knows.
func (e *element) arrowType() (arrow.DataType, error) {
	typ := Type(e.typ)
	if typ == FixedLenByteArray && (e.width <= 0 || e.width > maxWidth) {
		return nil, bad("values of %d bytes", e.width)
	}
	if e.meaning == isNull {
		return arrow.Null, nil
	}
	if e.meaning == isDecimal && typ != Boolean && typ != Int96 && typ != Float && typ != Double {
		return e.decimal()
	}
	var t arrow.DataType
	switch typ {
	case Int32:
		t = e.int32Type()
	case Int64:
		t = e.int64Type()
	case ByteArray:
		if e.meaning == isString {
			t = arrow.BinaryTypes.String
		}
	case FixedLenByteArray:
		t = &arrow.FixedSizeBinaryType{ByteWidth: int(e.width)}
		if e.meaning == isFloat16 && e.width == 2 {
			t = arrow.FixedWidthTypes.Float16
		}
	}
	if t == nil {
		t = plainTypes[typ]
	}
	return t, nil
}

// maxWidth is the longest value of fixed length, far above anything useful.
const maxWidth = 64 << 20

// int32Type is nil for plain numbers.
func (e *element) int32Type() arrow.DataType {
	switch {
	case e.meaning == isDate:
		return arrow.FixedWidthTypes.Date32
	case e.meaning == isTime && e.unit == millis:
		return arrow.FixedWidthTypes.Time32ms
	case e.meaning == isInteger && e.bits <= 32:
		return e.integer()
	}
	return nil
}

// int64Type is nil for plain numbers.
func (e *element) int64Type() arrow.DataType {
	switch {
	case e.meaning == isTime && e.unit == micros:
		return arrow.FixedWidthTypes.Time64us
	case e.meaning == isTime && e.unit == nanos:
		return arrow.FixedWidthTypes.Time64ns
	case e.meaning == isTimestamp && e.unit != noUnit:
		return timestamps[e.utc][e.unit]
	case e.meaning == isInteger && e.bits == 64:
		return e.integer()
	}
	return nil
}

// timestamps by whether they are in UTC, and by unit.
var timestamps = map[bool][4]arrow.DataType{
	false: {
		millis: &arrow.TimestampType{Unit: arrow.Millisecond},
		micros: &arrow.TimestampType{Unit: arrow.Microsecond},
		nanos:  &arrow.TimestampType{Unit: arrow.Nanosecond},
	},
	true: {
		millis: arrow.FixedWidthTypes.Timestamp_ms,
		micros: arrow.FixedWidthTypes.Timestamp_us,
		nanos:  arrow.FixedWidthTypes.Timestamp_ns,
	},
}

// integer is nil for a width that does not exist.
func (e *element) integer() arrow.DataType {
	pick := func(signed, unsigned arrow.DataType) arrow.DataType {
		if e.signed {
			return signed
		}
		return unsigned
	}
	t := &arrow.PrimitiveTypes
	switch e.bits {
	case 8:
		return pick(t.Int8, t.Uint8)
	case 16:
		return pick(t.Int16, t.Uint16)
	case 32:
		return pick(t.Int32, t.Uint32)
	case 64:
		return pick(t.Int64, t.Uint64)
	}
	return nil
}

// The most digits that Arrow's decimals of 16 and 32 bytes hold.
const (
	digits128 = 38
	digits256 = 76
)

func (e *element) decimal() (arrow.DataType, error) {
	switch {
	case e.precision < 1 || e.precision > digits256 || e.scale < 0 || e.scale > e.precision:
		return nil, bad("decimal(%d, %d): precision must be 1 to %d, scale 0 to the precision",
			e.precision, e.scale, digits256)
	case e.precision <= digits128:
		return &arrow.Decimal128Type{Precision: e.precision, Scale: e.scale}, nil
	}
	return &arrow.Decimal256Type{Precision: e.precision, Scale: e.scale}, nil
}
