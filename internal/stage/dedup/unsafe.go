package dedup

import "unsafe"

// slotsOf sees page-aligned memory as slots.
func slotsOf(b []byte) [][2]uint64 {
	if len(b) < slotBytes {
		return nil
	}
	return unsafe.Slice((*[2]uint64)(unsafe.Pointer(&b[0])), len(b)/slotBytes)
}

// bytesOf sees text as bytes, which nobody may change.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
