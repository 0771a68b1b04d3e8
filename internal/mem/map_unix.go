//go:build unix

package mem

import (
	"fmt"

	"golang.org/x/sys/unix"
)

func mapBytes(n int) ([]byte, error) {
	buf, err := unix.Mmap(-1, 0, n, unix.PROT_READ|unix.PROT_WRITE, mapFlags)
	if err != nil {
		return nil, fmt.Errorf("mem: mapping %s: %w", Format(int64(n)), err)
	}
	return buf, nil
}

// unmapBytes cannot fail for a mapping of ours; if it did, the memory would
// only be given back later, at exit.
func unmapBytes(buf []byte) { _ = unix.Munmap(buf) }
