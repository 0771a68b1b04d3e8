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
func bytesOf(v []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*8)
}

// int32Bytes is v seen as bytes.
func int32Bytes(v []int32) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), len(v)*4)
}
