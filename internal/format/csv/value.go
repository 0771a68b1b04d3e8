package csv

import (
	"encoding/base64"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/float16"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/build"
	"github.com/weir-data/weir/internal/format/literal"
	"github.com/weir-data/weir/internal/format/number"
)

// put appends the value that b says; false: it says none of the type.
type put func(c *build.Column, b []byte) bool

// puts finds how values of a type are read.
func puts(t arrow.DataType) (put, error) {
	switch t := t.(type) {
	case *arrow.NullType:
		return func(*build.Column, []byte) bool { return false }, nil
	case *arrow.BooleanType:
		return putBool, nil
	case *arrow.Float64Type:
		return putFloat64, nil
	case *arrow.Float32Type, *arrow.Float16Type:
		return putFloat, nil
	case *arrow.Int64Type, *arrow.Int32Type, *arrow.Int16Type, *arrow.Int8Type, *arrow.DurationType:
		return putSigned(8 * t.(arrow.FixedWidthDataType).Bytes()), nil
	case *arrow.Uint64Type, *arrow.Uint32Type, *arrow.Uint16Type, *arrow.Uint8Type:
		return putUnsigned(8 * t.(arrow.FixedWidthDataType).Bytes()), nil
	case *arrow.StringType:
		return func(c *build.Column, b []byte) bool { c.Bytes(b); return true }, nil
	case *arrow.BinaryType, *arrow.FixedSizeBinaryType:
		return putBase64, nil
	}
	if p := literal.For(t); p != nil {
		return put(p), nil
	}
	return nil, format.Error(format.ErrUsage, "csv has no values of type %s; read it as string", t)
}

func putBool(c *build.Column, b []byte) bool {
	v, ok := boolean(b)
	if !ok {
		switch string(b) {
		case "1", "t", "T", "y", "Y", "yes", "Yes", "YES":
			v, ok = true, true
		case "0", "f", "F", "n", "N", "no", "No", "NO":
			ok = true
		}
	}
	if ok {
		c.Bool(v)
	}
	return ok
}

// boolean reads the spellings that make a column one of booleans.
func boolean(b []byte) (v, ok bool) {
	switch string(b) {
	case "true", "True", "TRUE":
		return true, true
	case "false", "False", "FALSE":
		return false, true
	}
	return false, false
}

func putFloat64(c *build.Column, b []byte) bool {
	v, ok := float(b)
	if ok {
		c.Float64(v)
	}
	return ok
}

// float is the number that b is as a whole.
func float(b []byte) (float64, bool) {
	if v, n, ok := number.Float64(b); ok && n == len(b) {
		return v, true
	}
	return named64(b)
}

// named64 reads nan, inf and infinity, in any case and with any sign.
func named64(b []byte) (float64, bool) {
	sign := 1.0
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		if b[0] == '-' {
			sign = -1
		}
		b = b[1:]
	}
	var low [8]byte
	if len(b) != 3 && len(b) != len(low) {
		return 0, false
	}
	for i, x := range b {
		low[i] = x | 0x20
	}
	switch string(low[:len(b)]) {
	case "nan":
		return math.NaN(), true
	case "inf", "infinity":
		return math.Inf(int(sign)), true
	}
	return 0, false
}

// putFloat rounds once, from the text, to the width of the column.
func putFloat(c *build.Column, b []byte) bool {
	v, ok := float(b)
	if !ok {
		return false
	}
	f := float32(v)
	// Rounded first to 53 bits, what lies on a half, or below the normal
	// numbers, may have been rounded to it.
	const half = 1 << 28
	if math.Float64bits(v)&(2*half-1) == half || math.Abs(v) < 0x1p-126 && v != 0 {
		narrow, _ := strconv.ParseFloat(string(b), 32)
		f = float32(narrow)
	}
	if c.Width == 2 {
		c.Uint16(float16.New(f).Uint16())
		return true
	}
	c.Uint32(math.Float32bits(f))
	return true
}

func putSigned(bits int) put {
	least, most := int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	return func(c *build.Column, b []byte) bool {
		v, n, ok := number.Int64(b)
		if !ok || n != len(b) || v < least || v > most {
			return false
		}
		putBits(c, uint64(v))
		return true
	}
}

// putNatural appends an int64 that is written as it would be printed: a column
// whose type is inferred loses nothing.
func putNatural(c *build.Column, b []byte) bool {
	v, n, ok := number.Int64(b)
	if ok = ok && n == len(b) && natural(b); ok {
		c.Uint64(uint64(v))
	}
	return ok
}

func putUnsigned(bits int) put {
	most := uint64(math.MaxUint64) >> (64 - bits)
	return func(c *build.Column, b []byte) bool {
		v, ok := unsigned(b)
		if ok = ok && v <= most; ok {
			putBits(c, v)
		}
		return ok
	}
}

// unsigned is the number that b is as a whole.
func unsigned(b []byte) (uint64, bool) {
	if v, n, ok := number.Int64(b); ok && n == len(b) {
		return uint64(v), b[0] != '-'
	}
	if len(b) > 20 {
		return 0, false
	}
	v, err := strconv.ParseUint(string(b), 10, 64)
	return v, err == nil
}

// putBits appends the lowest bytes of v, as many as the column is wide.
func putBits(c *build.Column, v uint64) {
	switch c.Width {
	case 8:
		c.Uint64(v)
	case 4:
		c.Uint32(uint32(v))
	case 2:
		c.Uint16(uint16(v))
	default:
		c.Uint8(uint8(v))
	}
}

func putBase64(c *build.Column, b []byte) bool {
	if c.Kind == build.Fixed {
		if len(b) != base64.StdEncoding.EncodedLen(c.Width) {
			return false
		}
		buf := make([]byte, base64.StdEncoding.DecodedLen(len(b)))
		n, err := base64.StdEncoding.Decode(buf, b)
		if err != nil || n != c.Width {
			return false
		}
		c.Value(buf[:n])
		return true
	}
	dst := c.Room(base64.StdEncoding.DecodedLen(len(b)))
	if dst == nil {
		return true // the batch is full; the value comes again
	}
	n, err := base64.StdEncoding.Decode(dst, b)
	if err != nil {
		return false
	}
	c.Commit(n)
	return true
}
