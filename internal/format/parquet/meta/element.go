package meta

// annotation says what a group or the values of a leaf stand for: Parquet's
// logical type, or the converted type that older writers used.
type annotation uint8

const (
	noAnnotation annotation = iota
	isString
	isMap
	isList
	isDecimal
	isDate
	isTime
	isTimestamp
	isInteger
	isNull
	isFloat16
)

// timeUnit is that of times and timestamps, in Parquet's order.
type timeUnit uint8

const (
	noUnit timeUnit = iota
	millis
	micros
	nanos
)

// element is one node of the footer's schema, which lists them depth first.
type element struct {
	name       string
	typ        int8 // -1: a group
	repetition int8
	meaning    annotation
	unit       timeUnit
	utc        bool // timestamps
	signed     bool // integers
	bits       int8 // integers
	width      int32
	children   int32
	scale      int32
	precision  int32
}

// Parquet's repetitions.
const (
	required = iota
	optional
	repeated
)

// maxName is the longest name of a column.
const maxName = 64 << 10

// element reads one schema element. Before it stores a name it asks pay for
// the name's length.
func (d *decoder) element(pay func(int64) error) element {
	e := element{typ: -1}
	var f field
	converted, logical := int32(-1), element{}
	for d.next(&f) {
		switch f.id {
		case 1:
			e.typ = d.small(f, int8(FixedLenByteArray), "type")
		case 2:
			e.width = d.int32(f)
		case 3:
			e.repetition = d.small(f, repeated, "repetition")
		case 4:
			e.name = d.name(f, pay)
		case 5:
			e.children = d.size(f)
		case 6:
			converted = d.int32(f)
		case 7:
			e.scale = d.int32(f)
		case 8:
			e.precision = d.int32(f)
		case 10:
			if d.enter(f) {
				logical = d.logicalType()
			}
		default:
			d.skip(f)
		}
	}
	if e.children > 0 {
		e.typ = -1
	}
	if logical.meaning == noAnnotation {
		e.convert(converted)
		return e
	}
	e.meaning, e.unit, e.utc, e.signed, e.bits = logical.meaning, logical.unit, logical.utc, logical.signed, logical.bits
	if e.meaning == isDecimal {
		e.scale, e.precision = logical.scale, logical.precision
	}
	return e
}

func (d *decoder) name(f field, pay func(int64) error) string {
	n := d.length(f)
	if n > maxName {
		d.fail("a name of %d bytes", n)
	}
	if d.err == nil {
		d.err = pay(int64(n))
	}
	return d.text(n)
}

// small reads a number from 0 to most.
func (d *decoder) small(f field, most int8, what string) int8 {
	v := d.int32(f)
	if v < 0 || v > int32(most) {
		d.fail("unknown %s %d", what, v)
		return 0
	}
	return int8(v)
}

// convert sets the meaning that Parquet's converted type has; precision and
// scale are fields of their own. Enumerations, BSON and intervals are plain
// bytes to weir, as they are to pyarrow.
func (e *element) convert(converted int32) {
	switch converted {
	case 0, 19: // UTF8, JSON
		e.meaning = isString
	case 1, 2: // MAP, MAP_KEY_VALUE
		e.meaning = isMap
	case 3:
		e.meaning = isList
	case 5:
		e.meaning = isDecimal
	case 6:
		e.meaning = isDate
	case 7, 8: // TIME_MILLIS, TIME_MICROS
		e.meaning, e.unit = isTime, millis+timeUnit(converted-7)
	case 9, 10: // TIMESTAMP_MILLIS, TIMESTAMP_MICROS
		e.meaning, e.unit, e.utc = isTimestamp, millis+timeUnit(converted-9), true
	case 11, 12, 13, 14: // UINT_8 to UINT_64
		e.meaning, e.bits = isInteger, 8<<(converted-11)
	case 15, 16, 17, 18: // INT_8 to INT_64
		e.meaning, e.bits, e.signed = isInteger, 8<<(converted-15), true
	}
}

// logicalType reads the union of logical types; one it does not know is no
// annotation.
func (d *decoder) logicalType() (e element) {
	var f field
	for d.next(&f) {
		if f.typ != wireStruct {
			d.skip(f)
			continue
		}
		switch f.id {
		case 1, 12: // STRING, JSON
			e.meaning = isString
		case 2:
			e.meaning = isMap
		case 3:
			e.meaning = isList
		case 5:
			e.meaning = isDecimal
			d.decimalType(&e)
			continue
		case 6:
			e.meaning = isDate
		case 7:
			e.meaning = isTime
			d.timeType(&e)
			continue
		case 8:
			e.meaning = isTimestamp
			d.timeType(&e)
			continue
		case 10:
			e.meaning = isInteger
			d.intType(&e)
			continue
		case 11:
			e.meaning = isNull
		case 15:
			e.meaning = isFloat16
		}
		d.skip(f)
	}
	return e
}

func (d *decoder) decimalType(e *element) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			e.scale = d.int32(f)
		case 2:
			e.precision = d.int32(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) intType(e *element) {
	var f field
	for d.next(&f) {
		switch f.id {
		case 1:
			e.bits = d.small(f, 64, "integer width")
		case 2:
			e.signed = d.bool(f)
		default:
			d.skip(f)
		}
	}
}

func (d *decoder) timeType(e *element) {
	var f field
	for d.next(&f) {
		switch {
		case f.id == 1:
			e.utc = d.bool(f)
		case f.id == 2 && f.typ == wireStruct:
			var unit field
			for d.next(&unit) {
				if unit.id >= 1 && unit.id <= 3 {
					e.unit = timeUnit(unit.id)
				}
				d.skip(unit)
			}
		default:
			d.skip(f)
		}
	}
}
