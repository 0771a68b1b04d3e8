//go:build unix && !linux

package mem

import "golang.org/x/sys/unix"

// ContainerLimit is the machine's RAM: only Linux has containers of its own.
func ContainerLimit() (bytes int64, from string) {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil || n == 0 {
		return unknownRAM, fromRAM
	}
	return int64(n), fromRAM
}
