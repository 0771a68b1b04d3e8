package split

import (
	"strings"
)

// mostDecimals is how many digits a weight may have behind its point.
const mostDecimals = 6

// ParseNames reads "train=80,val=10,test=10" or, for splits that have no
// weights, "train,val,test". Weights with a decimal point are multiplied by
// ten until none has one. Errors are format.ErrUsage.
func ParseNames(text string) (names []string, weights []int, err error) {
	var words []string
	for part := range strings.SplitSeq(text, ",") {
		name, weight, ok := strings.Cut(strings.TrimSpace(part), "=")
		names = append(names, strings.TrimSpace(name))
		if ok {
			words = append(words, strings.TrimSpace(weight))
		}
	}
	if err := checkNames(names); err != nil {
		return nil, nil, err
	}
	if len(words) != 0 && len(words) != len(names) {
		return nil, nil, usage("weights", "%q: %d of %d splits have one", text, len(words), len(names))
	}
	weights, err = ParseWeights(words)
	return names, weights, err
}

// ParseWeights reads weights such as 80, or 0.8: those with a decimal point
// are multiplied by ten, all of them, until none has one. No words are nil.
// Errors are format.ErrUsage.
func ParseWeights(words []string) ([]int, error) {
	places := 0
	for _, w := range words {
		if _, fraction, ok := strings.Cut(w, "."); ok {
			places = max(places, len(strings.TrimRight(fraction, "0")))
		}
	}
	var weights []int
	for _, w := range words {
		n, ok := decimal(w, places)
		if !ok {
			return nil, usage("weights", "%q is not a weight; write 80 or 0.8", w)
		}
		weights = append(weights, n)
	}
	return weights, nil
}

// decimal reads digits with at most one point among them, times 10^places;
// more than zero.
func decimal(text string, places int) (int, bool) {
	whole, fraction, _ := strings.Cut(text, ".")
	fraction = strings.TrimRight(fraction, "0")
	if places > mostDecimals || whole+fraction == "" {
		return 0, false
	}
	n := 0
	for _, c := range []byte(whole + fraction + strings.Repeat("0", places-len(fraction))) {
		if c < '0' || c > '9' || n > mostWeight/10 {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, n > 0 && n <= mostWeight
}

// ParseRange reads "ts=2024-01-01,2024-02-01". The bounds are read when the
// column's type is known. Errors are format.ErrUsage.
func ParseRange(text string) (Range, error) {
	name, bounds, ok := strings.Cut(text, "=")
	r := Range{Column: strings.TrimSpace(name)}
	for b := range strings.SplitSeq(bounds, ",") {
		b = strings.TrimSpace(b)
		ok = ok && b != ""
		r.Bounds = append(r.Bounds, b)
	}
	if !ok || r.Column == "" {
		return Range{}, usage("range", "%q: write column=bound or column=bound,bound, such as ts=2024-01-01,2024-02-01", text)
	}
	return r, nil
}
