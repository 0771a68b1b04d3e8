package mem

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestOwnPagesAreReadAsTheyAreNeeded(t *testing.T) {
	SpareCode()
	smaps, err := os.ReadFile("/proc/self/smaps")
	if err != nil {
		t.Skip(err)
	}
	exe, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	ours, seen := false, 0
	for line := range strings.Lines(string(smaps)) {
		switch {
		case strings.Contains(line, "-") && strings.Contains(line, "/"):
			ours = strings.HasSuffix(line, " "+exe+"\n")
			var from, to uintptr
			var mode string
			if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &mode); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if ours && strings.Contains(mode, "x") && to-from > codePiece {
				t.Errorf("a fault may read %d bytes of code: %s", to-from, line)
			}
		case ours && strings.HasPrefix(line, "VmFlags:"):
			seen++
			if !strings.Contains(line, " rr") {
				t.Errorf("a mapping of the program without the flag for random reads: %s", line)
			}
			ours = false
		}
	}
	if seen == 0 {
		t.Fatal("no mapping of the program was found")
	}
}
