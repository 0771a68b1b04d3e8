package parquet

import "unsafe"

// number is a value type that decoders move as it is.
type number interface {
	~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int8 | ~int16 | ~int32 | ~int64
}

// view is b seen as values of T: as many as are whole. b must be aligned for
// T, as every part of a slab and of a page block is.
func view[T number](b []byte) []T {
	var t T
	n := len(b) / int(unsafe.Sizeof(t))
	if n == 0 {
		return nil
	}
	p := unsafe.Pointer(unsafe.SliceData(b))
	if uintptr(p)%unsafe.Alignof(t) != 0 {
		panic("parquet: bug: unaligned view")
	}
	return unsafe.Slice((*T)(p), n)
}

// bytesOf is v seen as bytes.
func bytesOf[T number](v []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*int(unsafe.Sizeof(t)))
}

// gather reads len(dst) packed indices as unpack does and writes what dict
// holds there. It returns false when an index is outside dict.
func gather[T number](dst, dict []T, src []byte, bit, width uint) bool {
	if len(dst) == 0 || len(dict) == 0 {
		return len(dst) == 0
	}
	_ = src[(bit+uint(len(dst)-1)*width)>>3+7] // the last load
	in, from := unsafe.Pointer(unsafe.SliceData(src)), unsafe.Pointer(unsafe.SliceData(dict))
	mask, n := uint64(1)<<width-1, uint64(len(dict))
	size := uint64(unsafe.Sizeof(dict[0]))
	i := 0
	if width <= 19 {
		// Three indices to a load.
		for two, step := 2*width, 3*width; i+3 <= len(dst); i += 3 {
			w := *(*uint64)(unsafe.Add(in, bit>>3)) >> (bit & 7)
			x, y, z := w&mask, w>>(width&63)&mask, w>>(two&63)&mask
			if x >= n || y >= n || z >= n {
				return false
			}
			d := dst[i : i+3 : i+3]
			d[0] = *(*T)(unsafe.Add(from, x*size))
			d[1] = *(*T)(unsafe.Add(from, y*size))
			d[2] = *(*T)(unsafe.Add(from, z*size))
			bit += step
		}
	}
	for ; i < len(dst); i++ {
		x := *(*uint64)(unsafe.Add(in, bit>>3)) >> (bit & 7) & mask
		if x >= n {
			return false
		}
		dst[i] = *(*T)(unsafe.Add(from, x*size))
		bit += width
	}
	return true
}
