package parquet

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/decimal256"
	"github.com/apache/arrow-go/v18/arrow/float16"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// dice makes values.
type dice struct {
	*rand.Rand
	nulls float64 // share of nulls, at every level that may be null
	kinds int     // number of different values; 0: any
	long  int     // strings are up to that long; 0: 12
	size  int     // lists are that long; 0: of any length
	run   int     // values stay the same for up to that many; 0: no
	last  uint64
	left  int
}

func newDice(seed uint64) *dice { return &dice{Rand: rand.New(rand.NewPCG(seed, 11))} }

// number is the bits of the next value.
func (d *dice) number() uint64 {
	if d.left > 0 {
		d.left--
		return d.last
	}
	if d.run > 0 {
		d.left = d.IntN(d.run)
	}
	d.last = d.Uint64() >> (d.IntN(4) * 20)
	if d.kinds > 0 {
		d.last = uint64(d.IntN(d.kinds)) * 0x9e3779b97f4a7c15
	}
	return d.last
}

func (d *dice) text() string {
	v := d.number()
	long := 13
	if d.long > 0 {
		long = d.long + 1
	}
	s := fmt.Sprintf("%x", v)
	n := int(v>>7) & math.MaxInt32 % long
	return strings.Repeat(s, n/len(s)+1)[:n]
}

// values makes n values of a type.
func (d *dice) values(t arrow.DataType, nullable bool, n int) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, t)
	defer b.Release()
	for range n {
		d.one(b, nullable)
	}
	return b.NewArray()
}

func (d *dice) one(b array.Builder, nullable bool) {
	if nullable && d.Float64() < d.nulls {
		b.AppendNull()
		return
	}
	v := d.number
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v()>>13&1 == 1)
	case *array.StringBuilder:
		b.Append(d.text())
	case *array.BinaryBuilder:
		b.Append([]byte(d.text()))
	case *array.FixedSizeBinaryBuilder:
		w := b.Type().(*arrow.FixedSizeBinaryType).ByteWidth
		b.Append([]byte(strings.Repeat(fmt.Sprintf("%016x", v()), w/16+1)[:w]))
	case *array.Decimal128Builder:
		most := int64(1)
		for range min(18, b.Type().(*arrow.Decimal128Type).Precision) {
			most *= 10
		}
		b.Append(decimal128.FromI64(int64(v()) % most))
	case *array.Decimal256Builder:
		b.Append(decimal256.FromI64(int64(v())))
	case *array.Float16Builder:
		b.Append(float16.FromBits(uint16(v())))
	case *array.Float32Builder:
		b.Append(float32(oneNaN(float64(math.Float32frombits(uint32(v()))))))
	case *array.Float64Builder:
		b.Append(oneNaN(math.Float64frombits(v())))
	case *array.ListBuilder:
		b.Append(true)
		elem := b.Type().(*arrow.ListType).ElemField()
		for range d.length() {
			d.one(b.ValueBuilder(), elem.Nullable)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		typ := b.Type().(*arrow.FixedSizeListType)
		for range typ.Len() {
			d.one(b.ValueBuilder(), typ.ElemField().Nullable)
		}
	case *array.MapBuilder:
		b.Append(true)
		for range d.length() {
			d.one(b.KeyBuilder(), false)
			d.one(b.ItemBuilder(), b.Type().(*arrow.MapType).ItemField().Nullable)
		}
	case *array.StructBuilder:
		b.Append(true)
		for i, f := range b.Type().(*arrow.StructType).Fields() {
			d.one(b.FieldBuilder(i), f.Nullable)
		}
	default:
		d.whole(b)
	}
}

// oneNaN makes all NaN one, as arrow-go's dictionaries do.
func oneNaN(v float64) float64 {
	if math.IsNaN(v) {
		return math.NaN()
	}
	return v
}

// length is that of a list: many are empty, few are long.
func (d *dice) length() int {
	if d.size > 0 {
		return d.size
	}
	switch d.IntN(10) {
	case 0, 1:
		return 0
	case 2:
		return d.IntN(40)
	}
	return d.IntN(4)
}

// whole appends a value of a type that is an integer at heart.
func (d *dice) whole(b array.Builder) {
	v := d.number()
	switch b := b.(type) {
	case *array.Int8Builder:
		b.Append(int8(v))
	case *array.Int16Builder:
		b.Append(int16(v))
	case *array.Int32Builder:
		b.Append(int32(v))
	case *array.Int64Builder:
		b.Append(int64(v))
	case *array.Uint8Builder:
		b.Append(uint8(v))
	case *array.Uint16Builder:
		b.Append(uint16(v))
	case *array.Uint32Builder:
		b.Append(uint32(v))
	case *array.Uint64Builder:
		b.Append(v)
	case *array.Date32Builder:
		b.Append(arrow.Date32(int32(v)))
	case *array.Time32Builder:
		b.Append(arrow.Time32(v % 86_400_000))
	case *array.Time64Builder:
		b.Append(arrow.Time64(v % 86_400_000_000))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(int64(v) % 4e18))
	default:
		panic(fmt.Sprintf("no values for %s", b.Type()))
	}
}
