package render

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
)

// Text appends the value of row i, which is not null, in at most MaxText
// bytes.
type Text func(dst []byte, i int) []byte

// Form says how JSON must treat a Text.
type Form int

const (
	Bare   Form = iota // a number, true or false
	Float              // a number, unless it is NaN or infinite
	Quoted             // a string; it has nothing to escape
)

// Scalar renders the values of a that are short: numbers, booleans, times,
// decimals. It is false for strings, binary and nested values.
//
// Integers and decimals are exact; floats are the shortest text that reads
// back the same, NaN, inf and -inf; dates and times are ISO 8601, an instant
// in UTC with a Z, a time without zone without one, with as many decimals as
// its unit has; durations are whole numbers of their unit; UUIDs are in their
// usual form.
func Scalar(a arrow.Array) (Text, Form, bool) {
	if t, ok := integer(a); ok {
		return t, Bare, true
	}
	switch a := a.(type) {
	case *array.Boolean:
		return func(dst []byte, i int) []byte { return strconv.AppendBool(dst, a.Value(i)) }, Bare, true
	case *array.Float64:
		v := a.Float64Values()
		return func(dst []byte, i int) []byte { return appendFloat(dst, v[i], 64) }, Float, true
	case *array.Float32:
		v := a.Float32Values()
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(v[i]), 32) }, Float, true
	case *array.Float16:
		return func(dst []byte, i int) []byte { return appendFloat(dst, float64(a.Value(i).Float32()), 32) }, Float, true
	case array.ExtensionArray:
		return extension(a)
	}
	if t, ok := exact(a); ok {
		return t, Bare, true
	}
	t, ok := clock(a)
	return t, Quoted, ok
}

func integer(a arrow.Array) (Text, bool) {
	switch a := a.(type) {
	case *array.Int64:
		return signed(a.Int64Values()), true
	case *array.Int32:
		return signed(a.Int32Values()), true
	case *array.Int16:
		return signed(a.Int16Values()), true
	case *array.Int8:
		return signed(a.Int8Values()), true
	case *array.Uint64:
		return unsigned(a.Uint64Values()), true
	case *array.Uint32:
		return unsigned(a.Uint32Values()), true
	case *array.Uint16:
		return unsigned(a.Uint16Values()), true
	case *array.Uint8:
		return unsigned(a.Uint8Values()), true
	case *array.Duration:
		return signed(a.DurationValues()), true
	}
	return nil, false
}

func signed[T ~int8 | ~int16 | ~int32 | ~int64](v []T) Text {
	return func(dst []byte, i int) []byte { return strconv.AppendInt(dst, int64(v[i]), 10) }
}

func unsigned[T uint8 | uint16 | uint32 | uint64](v []T) Text {
	return func(dst []byte, i int) []byte { return strconv.AppendUint(dst, uint64(v[i]), 10) }
}

func appendFloat(dst []byte, v float64, bits int) []byte {
	switch {
	case math.IsNaN(v):
		return append(dst, "NaN"...)
	case math.IsInf(v, 1):
		return append(dst, "inf"...)
	case math.IsInf(v, -1):
		return append(dst, "-inf"...)
	}
	return strconv.AppendFloat(dst, v, 'g', -1, bits)
}

// exact renders decimals.
func exact(a arrow.Array) (Text, bool) {
	switch a := a.(type) {
	case *array.Decimal32:
		return decimals(a.Value, a.DataType()), true
	case *array.Decimal64:
		return decimals(a.Value, a.DataType()), true
	case *array.Decimal128:
		return decimals(a.Value, a.DataType()), true
	case *array.Decimal256:
		return decimals(a.Value, a.DataType()), true
	}
	return nil, false
}

func decimals[T decimal.DecimalTypes](value func(int) T, t arrow.DataType) Text {
	scale := t.(arrow.DecimalType).GetScale()
	return func(dst []byte, i int) []byte {
		v := any(value(i)).(interface{ ToString(int32) string })
		return append(dst, v.ToString(scale)...)
	}
}

// extension renders an extension type as its storage, but for UUIDs.
func extension(a array.ExtensionArray) (Text, Form, bool) {
	ids, ok := a.Storage().(*array.FixedSizeBinary)
	if !ok || a.ExtensionType().ExtensionName() != "arrow.uuid" {
		return Scalar(a.Storage())
	}
	return func(dst []byte, i int) []byte {
		id := ids.Value(i)
		for k, end := range [5]int{4, 6, 8, 10, 16} {
			from := [5]int{0, 4, 6, 8, 10}[k]
			if k > 0 {
				dst = append(dst, '-')
			}
			dst = hex.AppendEncode(dst, id[from:end])
		}
		return dst
	}, Quoted, true
}
