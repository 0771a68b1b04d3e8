package tensor

import (
	"encoding/binary"
	"math"
)

// encode is a value as it lies in memory; false: the type does not have it.
func encode(d Dtype, v float64) ([]byte, bool) {
	le := binary.LittleEndian
	var out []byte
	switch d {
	case Float64:
		return le.AppendUint64(out, math.Float64bits(v)), true
	case Float32:
		return le.AppendUint32(out, math.Float32bits(float32(v))), true
	case Float16:
		return le.AppendUint16(out, half(odd32(v))), true
	}
	size := d.Size()
	low, high := 0.0, math.Ldexp(1, 8*size)
	switch {
	case d == Bool:
		high = 2
	case d >= Int8 && d <= Int64:
		low, high = -high/2, high/2
	}
	if v != math.Trunc(v) || !(v >= low && v < high) {
		return nil, false
	}
	whole := uint64(int64(v))
	if v >= math.MaxInt64 {
		whole = uint64(v)
	}
	return le.AppendUint64(out, whole)[:size], true
}
