package mem

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// SpareCode has the program's own pages read one at a time as they are needed,
// instead of whatever the disk's read-ahead puts around each. It is advice, so
// no error matters.
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
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			continue
		}
		_, _, _ = unix.Syscall(unix.SYS_MADVISE, from, to-from, unix.MADV_RANDOM)
	}
}
