package dedup

import (
	"encoding/binary"
	"math"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/zeebo/xxh3"
)

// Kinds of values are told apart by the seed they are hashed with. Text has
// none. The numbers are part of the format of files of hashes.
const (
	kindNull = iota + 1
	kindBool
	kindInt
	kindLarge // integers above those of 64 bits with a sign
	kindFloat
	kindDecimal
	kindDate
	kindTimestamp
	kindTime
	kindDuration
	kindInterval
	kindList
	kindStruct
)

// values makes keys of single values.
type values struct {
	normal  bool
	scratch *HashScratch
}

// key is that of one value of an array, which is of a type that refused lets
// pass.
func (v values) key(col arrow.Array, i int) Key {
	if col.IsNull(i) {
		return pair(kindNull, 0, 0)
	}
	switch a := col.(type) {
	case *array.String:
		return v.text(a.Value(i))
	case *array.LargeString:
		return v.text(a.Value(i))
	case *array.StringView:
		return v.text(a.Value(i))
	case *array.Binary:
		return octets(a.Value(i))
	case *array.LargeBinary:
		return octets(a.Value(i))
	case *array.BinaryView:
		return octets(a.Value(i))
	case *array.FixedSizeBinary:
		return octets(a.Value(i))
	case *array.Int64:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Float64:
		return float(a.Value(i))
	case *array.Boolean:
		if a.Value(i) {
			return pair(kindBool, 1, 0)
		}
		return pair(kindBool, 0, 0)
	case *array.Dictionary:
		return v.key(a.Dictionary(), a.GetValueIndex(i))
	case *array.RunEndEncoded:
		return v.key(a.Values(), a.GetPhysicalIndex(i))
	case array.ExtensionArray:
		return v.key(a.Storage(), i)
	case *array.Struct:
		k := pair(kindStruct, uint64(a.NumField()), 0)
		for f := range a.NumField() {
			k = chain(k, v.key(a.Field(f), i))
		}
		return k
	case array.ListLike:
		from, to := a.ValueOffsets(i)
		k, in := pair(kindList, uint64(to-from), 0), a.ListValues()
		for at := from; at < to; at++ {
			k = chain(k, v.key(in, int(at)))
		}
		return k
	}
	return number(col, i)
}

// number is key for the many widths that numbers have.
func number(col arrow.Array, i int) Key {
	switch a := col.(type) {
	case *array.Int8:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Int16:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Int32:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Uint8:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Uint16:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Uint32:
		return pair(kindInt, uint64(a.Value(i)), 0)
	case *array.Uint64:
		if x := a.Value(i); x > math.MaxInt64 {
			return pair(kindLarge, x, 0)
		}
		return pair(kindInt, a.Value(i), 0)
	case *array.Float16:
		return float(float64(a.Value(i).Float32()))
	case *array.Float32:
		return float(float64(a.Value(i)))
	case *array.Decimal32:
		return decimal(a.ValueStr(i))
	case *array.Decimal64:
		return decimal(a.ValueStr(i))
	case *array.Decimal128:
		return decimal(a.ValueStr(i))
	case *array.Decimal256:
		return decimal(a.ValueStr(i))
	}
	return clock(col, i)
}

// clock is key for what is measured in time.
func clock(col arrow.Array, i int) Key {
	switch a := col.(type) {
	case *array.Date32:
		return pair(kindDate, uint64(a.Value(i)), 0)
	case *array.Date64:
		const day = 24 * 60 * 60 * 1000
		days, rest := split(int64(a.Value(i)), day)
		return pair(kindDate, uint64(days), uint64(rest))
	case *array.Timestamp:
		return span(kindTimestamp, int64(a.Value(i)), a.DataType().(*arrow.TimestampType).Unit)
	case *array.Time32:
		return span(kindTime, int64(a.Value(i)), a.DataType().(*arrow.Time32Type).Unit)
	case *array.Time64:
		return span(kindTime, int64(a.Value(i)), a.DataType().(*arrow.Time64Type).Unit)
	case *array.Duration:
		return span(kindDuration, int64(a.Value(i)), a.DataType().(*arrow.DurationType).Unit)
	case *array.MonthInterval:
		return interval(int32(a.Value(i)), 0, 0)
	case *array.DayTimeInterval:
		x := a.Value(i)
		return interval(0, x.Days, int64(x.Milliseconds)*int64(time.Millisecond))
	case *array.MonthDayNanoInterval:
		x := a.Value(i)
		return interval(x.Months, x.Days, x.Nanoseconds)
	}
	return pair(kindNull, 0, 0) // of the null type; nothing else gets here
}

func (v values) text(s string) Key {
	if v.normal {
		return v.scratch.normal(s)
	}
	return text(s)
}

func octets(b []byte) Key {
	sum := xxh3.Hash128(b)
	return Key{sum.Hi, sum.Lo}
}

func float(x float64) Key {
	bits := math.Float64bits(x + 0) // -0 + 0 is 0
	if x != x {
		bits = math.Float64bits(math.NaN())
	}
	return pair(kindFloat, bits, 0)
}

// decimal does not tell 1.5 from 1.50.
func decimal(s string) Key {
	if strings.ContainsRune(s, '.') {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	sum := xxh3.HashString128Seed(s, kindDecimal)
	return Key{sum.Hi, sum.Lo}
}

// span does not tell units apart.
func span(kind uint64, n int64, unit arrow.TimeUnit) Key {
	per := int64(time.Second / unit.Multiplier())
	whole, rest := split(n, per)
	return pair(kind, uint64(whole), uint64(rest*(int64(time.Second)/per)))
}

func interval(months, days int32, nanos int64) Key {
	return pair(kindInterval, uint64(uint32(months))<<32|uint64(uint32(days)), uint64(nanos))
}

// split divides and rounds down.
func split(n, by int64) (whole, rest int64) {
	whole, rest = n/by, n%by
	if rest < 0 {
		whole, rest = whole-1, rest+by
	}
	return whole, rest
}

// pair is the key of a value that fits two words.
func pair(kind, a, b uint64) Key {
	var p [16]byte
	binary.LittleEndian.PutUint64(p[:], a)
	binary.LittleEndian.PutUint64(p[8:], b)
	sum := xxh3.Hash128Seed(p[:], kind)
	return Key{sum.Hi, sum.Lo}
}

// chain is the key of one value behind others. Each is a whole key, so that no
// two sequences run together.
func chain(before, k Key) Key {
	var p [32]byte
	binary.LittleEndian.PutUint64(p[:], before[0])
	binary.LittleEndian.PutUint64(p[8:], before[1])
	binary.LittleEndian.PutUint64(p[16:], k[0])
	binary.LittleEndian.PutUint64(p[24:], k[1])
	sum := xxh3.Hash128(p[:])
	return Key{sum.Hi, sum.Lo}
}

// refused is the type inside of t whose values have no key; nil: none.
func refused(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case arrow.ExtensionType:
		return refused(t.StorageType())
	case *arrow.DictionaryType:
		return refused(t.ValueType)
	case *arrow.RunEndEncodedType:
		return refused(t.Encoded())
	case arrow.NestedType:
		if t.ID() == arrow.DENSE_UNION || t.ID() == arrow.SPARSE_UNION {
			return t
		}
		for _, f := range t.Fields() {
			if in := refused(f.Type); in != nil {
				return in
			}
		}
	}
	return nil
}
