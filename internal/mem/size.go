package mem

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// units are the suffixes Parse knows, longest first where one ends another.
var units = []struct {
	name string
	n    float64
}{
	{"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40},
	{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12},
	{"ki", 1 << 10}, {"mi", 1 << 20}, {"gi", 1 << 30}, {"ti", 1 << 40},
	{"k", 1 << 10}, {"m", 1 << 20}, {"g", 1 << 30}, {"t", 1 << 40},
	{"b", 1},
}

// Parse reads a size: "512MiB", "2GB", "1.5g", "64Mi", plain bytes, or a
// percentage of whole ("50%").
func Parse(s string, whole int64) (int64, error) {
	text := strings.ToLower(strings.TrimSpace(s))
	scale := 1.0
	if num, ok := strings.CutSuffix(text, "%"); ok {
		text, scale = num, float64(whole)/100
	} else {
		for _, u := range units {
			if num, ok := strings.CutSuffix(text, u.name); ok {
				text, scale = num, u.n
				break
			}
		}
	}
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || v*scale < 1 || v*scale > math.MaxInt64/2 {
		return 0, fmt.Errorf("%q is not a size; write 512MiB, 2GB or 50%%", s)
	}
	return int64(v * scale), nil
}

// Format writes n bytes the way Parse reads them, rounded for people.
func Format(n int64) string {
	switch {
	case n >= 1<<30:
		return trim(float64(n)/(1<<30)) + " GiB"
	case n >= 1<<20:
		return trim(float64(n)/(1<<20)) + " MiB"
	case n >= 1<<10:
		return trim(float64(n)/(1<<10)) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

// trim keeps one decimal of small numbers only.
func trim(v float64) string {
	if v >= 100 || v == math.Trunc(v) {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// Flag writes n as a value for --memory, rounded up so that it suffices.
func Flag(n int64) string {
	return strconv.FormatInt((n+(1<<20)-1)>>20, 10) + "MiB"
}
