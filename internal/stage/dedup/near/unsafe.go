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
