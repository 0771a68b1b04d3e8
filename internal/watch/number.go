// Package watch shows people what run observed: a progress line while batches
// flow, a report at the end, a description before the beginning.
package watch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// group writes 1234567 as 1,234,567.
func group(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// plural writes a number with its noun: 1 file, 2 files.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	return group(n) + " " + noun + "s"
}

// decimal writes bytes of data in units of 1000, as rates are counted; memory
// is written by mem.Format, in units of 1024, as limits are.
func decimal(n int64) string {
	for _, u := range []struct {
		size int64
		name string
	}{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}} {
		if n >= u.size {
			return short(float64(n)/float64(u.size)) + " " + u.name
		}
	}
	return strconv.FormatInt(n, 10) + " B"
}

// short keeps three digits.
func short(v float64) string {
	switch {
	case v >= 99.95:
		return group(int64(math.Round(v)))
	case v >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// seconds writes a time span: 0.12 s, 34.5 s, 2m05s, 1h02m.
func seconds(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return short(d.Seconds()) + " s"
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}
