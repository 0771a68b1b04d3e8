package near

import "unsafe"

// viewOf sees page-aligned memory as values of a plain type.
func viewOf[T uint32 | uint64 | [2]uint64](b []byte) []T {
	var zero T
	n := len(b) / int(unsafe.Sizeof(zero))
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*T)(unsafe.Pointer(&b[0])), n)
}

// bytesOf sees numbers as the bytes they have in memory: files of a set are read
// on the machine that wrote them.
func bytesOf(v []uint64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v))
}
