//go:build !linux

package mem

// SpareCode does nothing where memory is not counted by containers.
func SpareCode() {}
