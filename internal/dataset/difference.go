package dataset

import (
	"fmt"
	"strings"
)

// firstDifference is the first line in which two texts differ, for a person.
func firstDifference(was, now string) string {
	for line := 1; ; line++ {
		a, restA, moreA := strings.Cut(was, "\n")
		b, restB, moreB := strings.Cut(now, "\n")
		if a != b {
			return fmt.Sprintf("line %d was %.60q, it is %.60q", line, strings.TrimSpace(a), strings.TrimSpace(b))
		}
		if !moreA || !moreB {
			return fmt.Sprintf("one ends after line %d", line)
		}
		was, now = restA, restB
	}
}
