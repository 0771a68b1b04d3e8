//go:build unix && !linux

package wire

import "os"

// sharedFile is memory of size bytes behind a descriptor.
func sharedFile(size int64) (*os.File, error) { return unlinkedFile("", size) }

func reserve(f *os.File, size int64) error { return f.Truncate(size) }
