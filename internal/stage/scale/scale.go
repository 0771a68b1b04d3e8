// Package scale fits and transforms columns: scaling of numbers, filling of
// gaps, encoding of categories.
//
// Plan says what is done with which column. Fit sees the rows once and gives
// Params; Transform applies them. Params are the same bits for every number of
// threads, every size of batches and every division of the rows among
// machines: rows are summed in fixed blocks by their position, and blocks are
// joined without rounding.
//
// Numbers follow scikit-learn: NaN and null are left out of a fit and stay NaN
// in the output unless they are imputed, which happens before scaling; an
// infinite value is an error; a column that does not vary is divided by 1.
package scale

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Block is the number of rows of an object that are summed together. Where
// the rows are divided among several fits, each begins at a multiple of it.
const Block = 4096

// Rule says what is done with the columns of a name or glob.
type Rule struct {
	Column string
	Do     string
}

// Config says what is done with which column; of each list the first rule that
// matches a column counts. A glob passes over columns whose type it does not
// suit; a name that does not suit is an error. A column that is encoded is not
// scaled, and one without a rule is passed through as it is.
type Config struct {
	Scale  []Rule // standard, minmax, maxabs, robust, log1p, clip:LO:HI (either may be empty), none
	Impute []Rule // mean, median, most_frequent, constant:V
	Encode []Rule // onehot, ordinal, hash:N
	// Label and Keep are passed through as they are, whatever rules say.
	Label string
	Keep  []string // names or globs
	// Dtype is float32 or float64, of all columns that are not passed
	// through; empty: float64.
	Dtype string
	// MaxCategories bounds what onehot and ordinal tell apart; 0: 1000.
	MaxCategories int
	// Other makes the rarest categories above the bound one, instead of an
	// error; the memory must hold the counts of all.
	Other bool
}

// ParseRules reads rules as a command line has them: "f*=standard,price=robust".
func ParseRules(text string) ([]Rule, error) {
	var out []Rule
	for one := range strings.SplitSeq(text, ",") {
		col, do, ok := strings.Cut(strings.TrimSpace(one), "=")
		if !ok || col == "" || do == "" {
			return nil, format.Error(format.ErrUsage, "%q is not of the form COLUMN=RULE", one)
		}
		out = append(out, Rule{col, do})
	}
	return out, nil
}

// class is what can be done with a column.
type class uint8

const (
	other  class = iota // is passed through
	text                // has categories
	number              // has categories, can be scaled
)

func classOf(t arrow.DataType) class {
	switch t := t.(type) {
	case *arrow.BooleanType:
		return number
	case *arrow.StringType, *arrow.BinaryType, *arrow.LargeStringType, *arrow.LargeBinaryType, *arrow.StringViewType:
		return text
	case *arrow.DictionaryType:
		if classOf(t.ValueType) == text {
			return text
		}
		return other
	}
	if id := t.ID(); arrow.IsInteger(id) || arrow.IsFloating(id) {
		return number
	}
	return other
}
