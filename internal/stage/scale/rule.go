package scale

import (
	"math"
	"strconv"
	"strings"

	"github.com/weir-data/weir/internal/format"
)

type scaling uint8

const (
	noScale scaling = iota
	standard
	minmax
	maxabs
	robust
	log1p
	clip
)

var scalings = []string{"none", "standard", "minmax", "maxabs", "robust", "log1p", "clip"}

type imputing uint8

const (
	noImpute imputing = iota
	mean
	median
	mostFrequent
	constant
)

var imputings = []string{"", "mean", "median", "most_frequent", "constant"}

type encoding uint8

const (
	noEncode encoding = iota
	onehot
	ordinal
	hashed
)

var encodings = []string{"", "onehot", "ordinal", "hash"}

// mostHash bounds hash:N: every row becomes N numbers.
const mostHash = 1 << 16

// word finds the rule that do begins with; rest is behind its colon.
func word(words []string, do, kind string) (at int, rest string, err error) {
	name, rest, more := strings.Cut(do, ":")
	for i, w := range words {
		if w == "" || w != name {
			continue
		}
		takes := w == "clip" || w == "constant" || w == "hash"
		if more != takes {
			return 0, "", format.Error(format.ErrUsage, "%s %q: write %s", kind, do, shape(w))
		}
		return i, rest, nil
	}
	return 0, "", format.Error(format.ErrUsage, "%s %q is not known; %s", kind, do, hint(name, words))
}

// shape is how a rule is written.
func shape(w string) string {
	switch w {
	case "clip":
		return "clip:LO:HI"
	case "constant":
		return "constant:VALUE"
	case "hash":
		return "hash:N"
	}
	return w + " alone"
}

// hint names the word that was most likely meant, or all.
func hint(got string, words []string) string {
	best, at := 3, ""
	for _, w := range words {
		if d := format.Distance(got, w); w != "" && d < best && d < len(w) {
			best, at = d, w
		}
	}
	if at != "" {
		return "did you mean " + strconv.Quote(at) + "?"
	}
	var all []string
	for _, w := range words {
		if w != "" && len(all) < 12 {
			all = append(all, w)
		}
	}
	return "there are " + strings.Join(all, ", ")
}

// bounds reads LO:HI.
func bounds(s string) (lo, hi float64, err error) {
	l, h, ok := strings.Cut(s, ":")
	lo, hi = math.Inf(-1), math.Inf(1)
	if ok && l != "" {
		lo, err = strconv.ParseFloat(l, 64)
	}
	if ok && h != "" && err == nil {
		hi, err = strconv.ParseFloat(h, 64)
	}
	if !ok || err != nil || !(lo <= hi) || l+h == "" {
		return 0, 0, format.Error(format.ErrUsage, "scale %q: write clip:LO:HI with numbers, LO not above HI", "clip:"+s)
	}
	return lo, hi, nil
}
