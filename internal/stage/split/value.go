package split

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"
)

// Kinds of values that are never equal: each is a word that is added before
// mixing. They are drawn at random and are part of every golden assignment.
const (
	kindNull     = 0x243f6a8885a308d3
	kindBool     = 0x13198a2e03707344
	kindInt      = 0xa4093822299f31d0
	kindUint     = 0x082efa98ec4e6c89 // integers above the largest int64
	kindFloat    = 0x452821e638d01377
	kindBytes    = 0xbe5466cf34e90c6c
	kindInstant  = 0xc0ac29b7c97c50dd
	kindClock    = 0x3f84d5b5b5470917
	kindDuration = 0x9216d5d98979fb1b
	kindDecimal  = 0xd1310ba698dfb5ac
)

// nan is the one that stands for all.
const nan = 0x7ff8000000000001

// hashable says whether values of a type can be hashed.
func hashable(t arrow.DataType) bool {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return hashable(t.StorageType())
	case *arrow.DictionaryType:
		return hashable(t.ValueType)
	case arrow.DecimalType, arrow.TemporalWithUnit, *arrow.FixedSizeBinaryType, *arrow.Date32Type, *arrow.Date64Type,
		*arrow.NullType, *arrow.BooleanType, *arrow.Float16Type:
		return true
	case arrow.BinaryDataType:
		return true
	}
	return arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// hashValues sets dst[i] to the hash of value at+i of a: the same for the same
// value of whatever type. It fails for types that are not hashable.
func hashValues(dst []uint64, a arrow.Array, at int) error {
	if e, ok := a.(array.ExtensionArray); ok {
		return hashValues(dst, e.Storage(), at)
	}
	if err := hashValid(dst, a, at); err != nil {
		return err
	}
	if a.NullN() == 0 {
		return nil
	}
	for i := range dst {
		if a.IsNull(at + i) {
			dst[i] = mix(kindNull)
		}
	}
	return nil
}

// hashValid is hashValues for what is not null; elsewhere it sets anything.
func hashValid(dst []uint64, a arrow.Array, at int) error {
	switch a := a.(type) {
	case *array.Null:
		for i := range dst {
			dst[i] = mix(kindNull)
		}
	case *array.Int64:
		hashInts(dst, a.Int64Values()[at:])
	case *array.Int32:
		hashInts(dst, a.Int32Values()[at:])
	case *array.Int16:
		hashInts(dst, a.Int16Values()[at:])
	case *array.Int8:
		hashInts(dst, a.Int8Values()[at:])
	case *array.Uint64:
		for i, v := range a.Uint64Values()[at:][:len(dst)] {
			dst[i] = hashUint(v)
		}
	case *array.Uint32:
		hashInts(dst, a.Uint32Values()[at:])
	case *array.Uint16:
		hashInts(dst, a.Uint16Values()[at:])
	case *array.Uint8:
		hashInts(dst, a.Uint8Values()[at:])
	case *array.Float64:
		hashFloats(dst, a.Float64Values()[at:])
	case *array.Float32:
		hashFloats(dst, a.Float32Values()[at:])
	case interface{ Value(int) string }:
		for i := range dst {
			dst[i] = mix(xxh3.HashString(a.Value(at+i)) + kindBytes)
		}
	case interface{ Value(int) []byte }:
		for i := range dst {
			dst[i] = mix(xxh3.Hash(a.Value(at+i)) + kindBytes)
		}
	default:
		return hashRare(dst, a, at)
	}
	return nil
}

// hashRare goes value by value.
func hashRare(dst []uint64, a arrow.Array, at int) error {
	for i := range dst {
		row := at + i
		if a.IsNull(row) {
			continue
		}
		switch a := a.(type) {
		case *array.Dictionary:
			if err := hashValues(dst[i:i+1], a.Dictionary(), a.GetValueIndex(row)); err != nil {
				return err
			}
		case *array.Boolean:
			dst[i] = mix(kindBool)
			if a.Value(row) {
				dst[i] = mix(kindBool + 1)
			}
		case *array.Float16:
			dst[i] = hashFloat(float64(a.Value(row).Float32()))
		default:
			word, ok := hashUnits(a, row)
			if !ok {
				return fmt.Errorf("values of type %s cannot be hashed", a.DataType())
			}
			dst[i] = word
		}
	}
	return nil
}

// hashUnits hashes values that are a number of units, or a decimal.
func hashUnits(a arrow.Array, row int) (word uint64, ok bool) {
	switch a := a.(type) {
	case *array.Timestamp:
		return hashTime(kindInstant, int64(a.Value(row)), perSecond(a.DataType())), true
	case *array.Date32:
		return hashTime(kindInstant, int64(a.Value(row))*86400, 1), true
	case *array.Date64:
		return hashTime(kindInstant, int64(a.Value(row)), 1000), true
	case *array.Time32:
		return hashTime(kindClock, int64(a.Value(row)), perSecond(a.DataType())), true
	case *array.Time64:
		return hashTime(kindClock, int64(a.Value(row)), perSecond(a.DataType())), true
	case *array.Duration:
		return hashTime(kindDuration, int64(a.Value(row)), perSecond(a.DataType())), true
	}
	if _, ok := a.DataType().(arrow.DecimalType); ok {
		return hashDecimal(a.ValueStr(row)), true
	}
	return 0, false
}

func hashInts[T int8 | int16 | int32 | int64 | uint8 | uint16 | uint32](dst []uint64, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] = mix(uint64(int64(v[i])) + kindInt)
	}
}

func hashUint(v uint64) uint64 {
	if v > math.MaxInt64 {
		return mix(v + kindUint)
	}
	return mix(v + kindInt)
}

func hashFloats[T float32 | float64](dst []uint64, v []T) {
	v = v[:len(dst)]
	for i := range dst {
		dst[i] = hashFloat(float64(v[i]))
	}
}

// hashFloat hashes whole numbers as integers: a column of integers with nulls
// is one of floats in other tools' files.
func hashFloat(v float64) uint64 {
	switch {
	case v != v:
		return mix(nan + kindFloat)
	case v >= -(1<<63) && v < 1<<63 && v == math.Trunc(v):
		return mix(uint64(int64(v)) + kindInt)
	case v >= 1<<63 && v < 1<<64:
		return hashUint(uint64(v))
	}
	return mix(math.Float64bits(v) + kindFloat)
}

// hashTime hashes whole seconds and the nanoseconds beyond them, both of the
// sign of v.
func hashTime(kind uint64, v, perSecond int64) uint64 {
	seconds, nanos := v/perSecond, v%perSecond*(1_000_000_000/perSecond)
	return mix(mix(uint64(seconds)+kind) + uint64(nanos))
}

// perSecond is how many units a second has.
func perSecond(t arrow.DataType) int64 {
	switch t.(arrow.TemporalWithUnit).TimeUnit() {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1_000
	case arrow.Microsecond:
		return 1_000_000
	}
	return 1_000_000_000
}

// hashDecimal hashes a decimal by its text without zeros at its end, as an
// integer where it is one.
func hashDecimal(text string) uint64 {
	if strings.ContainsRune(text, '.') {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return mix(uint64(v) + kindInt)
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil {
		return hashUint(v)
	}
	return mix(xxh3.HashString(text) + kindDecimal)
}
