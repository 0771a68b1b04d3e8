package mem

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// codePiece is the most of its own code that one fault reads: what disks read
// ahead by default.
const codePiece = 128 << 10

// SpareCode has the program's own pages read as they are needed, instead of
// whatever the disk's read-ahead puts around each: with 8 MiB of it, a container
// with little to spare throws code out to read code, and gets nowhere. It is
// advice, so no error matters.
//
// Newer kernels (6.16 on) read code ahead whatever was advised, but not beyond
// its mapping. A flag that says nothing of code, that it stays out of core dumps,
// is given to every second piece: it makes each a mapping of its own.
func SpareCode() {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.HasSuffix(line, " "+exe+"\n") {
			continue
		}
		var from, to uintptr
		var mode string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil {
			continue
		}
		adviseCode(from, to-from, unix.MADV_RANDOM)
		if !strings.Contains(mode, "x") {
			continue
		}
		// By address: a second call finds the pieces of the first.
		for at := from &^ (2*codePiece - 1); at < to; at += 2 * codePiece {
			lo, hi := max(at, from), min(at+codePiece, to)
			if lo < hi {
				adviseCode(lo, hi-lo, unix.MADV_DONTDUMP)
			}
		}
	}
}

func adviseCode(at, n uintptr, advice int) {
	_, _, _ = unix.Syscall(unix.SYS_MADVISE, at, n, uintptr(advice))
}
