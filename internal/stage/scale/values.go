package scale

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/format/layout"
)

// numbers gives n rows of col from the row from on, or those of rows if that
// is not nil, as float64; null is NaN. They lie in col itself or in dst, which
// has room for them.
func numbers(dst []float64, col arrow.Array, from, n int, rows []int32) (v []float64, nulls int) {
	if a, ok := col.(*array.Float64); ok && rows == nil && a.NullN() == 0 {
		return a.Float64Values()[from : from+n], 0
	}
	if rows != nil {
		n = len(rows)
	}
	v = dst[:n]
	layout.Floats(v, col, from, rows)
	if col.NullN() == 0 {
		return v, 0
	}
	return v, blank(v, col, from, rows)
}

// blank makes nulls NaN and counts them.
func blank(v []float64, col arrow.Array, from int, rows []int32) int {
	valid, off := col.NullBitmapBytes(), col.Data().Offset()
	nan, nulls := math.NaN(), 0
	for i := range v {
		r := off + from + i
		if rows != nil {
			r = off + int(rows[i])
		}
		if valid[r>>3]>>(r&7)&1 == 0 {
			v[i] = nan
			nulls++
		}
	}
	return nulls
}

// finite moves the values of v that are numbers to dst, which may be v, and
// counts the others. first is where the first infinite one, inf, lay.
func finite(dst, v []float64) (out []float64, nans, infs, first int, inf float64) {
	n := 0
	dst = dst[:len(v)]
	for i, x := range v {
		switch {
		case x-x == 0:
			dst[n] = x
			n++
		case x != x:
			nans++
		default:
			if infs == 0 {
				first, inf = i, x
			}
			infs++
		}
	}
	return dst[:n], nans, infs, first, inf
}

// texter gives a value of a column as text, in buf or where it lies.
type texter func(buf []byte, i int) []byte

// textOf reads the values of a column that are not null as categories.
func textOf(col arrow.Array) texter {
	switch a := col.(type) {
	case *array.String:
		offsets, data := a.ValueOffsets(), a.Data().Buffers()[2]
		if data == nil {
			return func(buf []byte, _ int) []byte { return buf[:0] }
		}
		raw := data.Bytes()
		return func(_ []byte, i int) []byte { return raw[offsets[i]:offsets[i+1]] }
	case *array.Binary:
		return func(_ []byte, i int) []byte { return a.Value(i) }
	case *array.LargeBinary:
		return func(_ []byte, i int) []byte { return a.Value(i) }
	case *array.LargeString:
		return func(buf []byte, i int) []byte { return append(buf[:0], a.Value(i)...) }
	case *array.StringView:
		return func(buf []byte, i int) []byte { return append(buf[:0], a.Value(i)...) }
	case *array.Dictionary:
		values := textOf(a.Dictionary())
		return func(buf []byte, i int) []byte { return values(buf, a.GetValueIndex(i)) }
	case *array.Boolean:
		return func(buf []byte, i int) []byte { return strconv.AppendBool(buf[:0], a.Value(i)) }
	case *array.Float64:
		return floatText(func(i int) float64 { return a.Value(i) }, 64)
	case *array.Float32:
		return floatText(func(i int) float64 { return float64(a.Value(i)) }, 32)
	case *array.Float16:
		return floatText(func(i int) float64 { return float64(a.Value(i).Float32()) }, 32)
	case *array.Uint64:
		return func(buf []byte, i int) []byte { return strconv.AppendUint(buf[:0], a.Value(i), 10) }
	}
	return intText(col)
}

// floatText writes numbers; minus zero is zero.
func floatText(value func(int) float64, size int) texter {
	return func(buf []byte, i int) []byte { return strconv.AppendFloat(buf[:0], value(i)+0, 'g', -1, size) }
}

func intText(col arrow.Array) texter {
	var value func(int) int64
	switch a := col.(type) {
	case *array.Int64:
		value = a.Value
	case *array.Int32:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int16:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Int8:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint32:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint16:
		value = func(i int) int64 { return int64(a.Value(i)) }
	case *array.Uint8:
		value = func(i int) int64 { return int64(a.Value(i)) }
	default:
		return nil
	}
	return func(buf []byte, i int) []byte { return strconv.AppendInt(buf[:0], value(i), 10) }
}

// absent says that a value is null or NaN; of a dictionary, that its entry is
// null.
func absent(col arrow.Array, i int) (null, nan bool) {
	switch a := col.(type) {
	case *array.Float64:
		return a.IsNull(i), math.IsNaN(a.Value(i))
	case *array.Float32:
		return a.IsNull(i), a.Value(i) != a.Value(i)
	case *array.Float16:
		return a.IsNull(i), a.Value(i).IsNaN()
	case *array.Dictionary:
		return a.IsNull(i) || a.Dictionary().IsNull(a.GetValueIndex(i)), false
	}
	return col.IsNull(i), false
}

// murmur is MurmurHash3 for 32 bits with seed 0, which scikit-learn's
// FeatureHasher uses.
func murmur(p []byte) int32 {
	const c1, c2 = 0xcc9e2d51, 0x1b873593
	n := len(p)
	var h uint32
	for ; len(p) >= 4; p = p[4:] {
		k := uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
		h ^= bits.RotateLeft32(k*c1, 15) * c2
		h = bits.RotateLeft32(h, 13)*5 + 0xe6546b64
	}
	var k uint32
	for i, b := range p {
		k |= uint32(b) << (8 * i)
	}
	h ^= bits.RotateLeft32(k*c1, 15) * c2
	h ^= uint32(n)
	h = (h ^ h>>16) * 0x85ebca6b
	h = (h ^ h>>13) * 0xc2b2ae35
	return int32(h ^ h>>16)
}

// bucket is where a category of hash:n goes, and with which sign.
func bucket(p []byte, n int) (at int, sign float64) {
	h := int64(murmur(p))
	if h >= 0 {
		return int(h % int64(n)), 1
	}
	if h == math.MinInt32 { // as FeatureHasher has it
		return (math.MaxInt32 - (n - 1)) % n, -1
	}
	return int(-h % int64(n)), -1
}
