package scale

import (
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// Design is a Config resolved for a schema.
type Design struct {
	in    *arrow.Schema
	dtype arrow.DataType
	most  int // categories
	lump  bool
	cols  []work // one for each column of in
}

// work is what is done with one column.
type work struct {
	field  arrow.Field
	class  class
	rules  [3]string // scale, impute and encode as they were written
	scale  scaling
	impute imputing
	encode encoding
	lo, hi float64 // of clip
	width  int     // of hash
	fill   float64 // of constant, for numbers
	text   string  // of constant, for categories
}

// passed says that the column goes through as it is.
func (w *work) passed() bool {
	return w.scale == noScale && w.impute == noImpute && w.encode == noEncode
}

// texts says that the column is seen as categories or text, not as numbers.
func (w *work) texts() bool { return w.encode != noEncode || w.class == text }

// ranked says that the column's values are needed in their order.
func (w *work) ranked() bool { return w.scale == robust || w.impute == median }

// counted says that the column's values are counted one by one.
func (w *work) counted() bool {
	return w.encode == onehot || w.encode == ordinal || w.impute == mostFrequent
}

// strict says that an infinite value is an error.
func (w *work) strict() bool {
	free := w.scale == log1p || w.scale == clip
	return w.scale != noScale && !free || w.impute == mean || w.impute == median || w.impute != noImpute && !w.texts() && !free
}

// Plan resolves the rules of c for columns of in. What cannot be done is
// ErrUsage and names the column and the rule.
func Plan(in *arrow.Schema, c Config) (*Design, error) {
	d := &Design{in: in, most: c.MaxCategories, lump: c.Other}
	switch c.Dtype {
	case "", "float64":
		d.dtype = arrow.PrimitiveTypes.Float64
	case "float32":
		d.dtype = arrow.PrimitiveTypes.Float32
	default:
		return nil, format.Error(format.ErrUsage, "dtype %q is not known; there are float32, float64", c.Dtype)
	}
	if d.most == 0 {
		d.most = 1000
	}
	if d.most < 1 || d.most > 1<<24 {
		return nil, format.Error(format.ErrUsage, "%d categories: at least 1 and at most %d can be told apart", d.most, 1<<24)
	}
	names := make([]string, in.NumFields())
	for i, f := range in.Fields() {
		if names[i] = f.Name; len(in.FieldIndices(f.Name)) > 1 {
			return nil, format.Error(format.ErrUsage, "column %q is there twice", f.Name)
		}
		d.cols = append(d.cols, work{field: f, class: classOf(f.Type)})
	}
	kept, err := keeps(names, c)
	if err != nil {
		return nil, err
	}
	for list, rules := range [][]Rule{c.Encode, c.Scale, c.Impute} {
		for _, r := range rules {
			if err := d.apply(r, list, names, kept); err != nil {
				return nil, err
			}
		}
	}
	return d, d.check()
}

// keeps says which columns go through whatever rules say.
func keeps(names []string, c Config) ([]bool, error) {
	kept := make([]bool, len(names))
	list := c.Keep
	if c.Label != "" {
		list = append([]string{c.Label}, list...)
	}
	for _, p := range list {
		at, err := matches(names, p)
		if err != nil {
			return nil, err
		}
		for _, i := range at {
			kept[i] = true
		}
	}
	return kept, nil
}

// matches is the places of the columns of a name or glob.
func matches(names []string, p string) ([]int, error) {
	if i := slices.Index(names, p); i >= 0 {
		return []int{i}, nil
	}
	var out []int
	for i, name := range names {
		ok, err := path.Match(p, name)
		if err != nil {
			return nil, format.Error(format.ErrUsage, "%q is not a pattern: %w", p, err)
		}
		if ok {
			out = append(out, i)
		}
	}
	if len(out) == 0 {
		return nil, format.Error(format.ErrUsage, "no column matches %q; %s", p, hint(p, names))
	}
	return out, nil
}

const (
	listEncode = iota
	listScale
	listImpute
)

// apply gives the rule to the columns it matches and that have none yet.
func (d *Design) apply(r Rule, list int, names []string, kept []bool) error {
	at, err := matches(names, r.Column)
	if err != nil {
		return err
	}
	named := len(at) == 1 && names[at[0]] == r.Column
	suits := false
	for _, i := range at {
		w := &d.cols[i]
		slot := [...]int{listEncode: 2, listScale: 0, listImpute: 1}[list]
		if w.rules[slot] != "" {
			suits = true
			continue
		}
		if kept[i] {
			suits = suits || !named
			if named {
				return format.Error(format.ErrUsage, "column %q: %s, but it is passed through as it is", r.Column, r.Do)
			}
			continue
		}
		next := *w
		next.rules[slot] = r.Do
		err := next.set(list, r.Do)
		if err == nil {
			*w, suits = next, true
		} else if named || !isType(err) {
			return format.Error(format.ErrUsage, "column %q: %w", w.field.Name, err)
		}
	}
	if !suits {
		return format.Error(format.ErrUsage, "no column that %q matches can have %s", r.Column, r.Do)
	}
	return nil
}

// typeError is a rule that another column may have.
type typeError struct{ text string }

func (e typeError) Error() string { return e.text }

func isType(err error) bool {
	_, ok := err.(typeError)
	return ok
}

// set adds one rule to a column's work.
func (w *work) set(list int, do string) error {
	typ := w.field.Type.String()
	switch list {
	case listEncode:
		at, rest, err := word(encodings, do, "encode")
		if err != nil {
			return err
		}
		if w.encode = encoding(at); w.encode == hashed {
			if w.width, err = strconv.Atoi(rest); err != nil || w.width < 1 || w.width > mostHash {
				return format.Error(format.ErrUsage, "encode %q: write hash:N with N from 1 to %d", do, mostHash)
			}
		}
		if w.class == other {
			return typeError{do + " does not work on " + typ}
		}
	case listScale:
		at, rest, err := word(scalings, do, "scale")
		if err != nil {
			return err
		}
		if w.scale = scaling(at); w.scale == clip {
			if w.lo, w.hi, err = bounds(rest); err != nil {
				return err
			}
		}
		if w.encode != noEncode && w.scale != noScale {
			return typeError{"either " + do + " or " + w.rules[2] + ", not both"}
		}
		if w.class != number && w.scale != noScale {
			return typeError{do + " does not work on " + typ}
		}
	case listImpute:
		return w.setImpute(do, typ)
	}
	return nil
}

func (w *work) setImpute(do, typ string) error {
	at, rest, err := word(imputings, do, "impute")
	if err != nil {
		return err
	}
	w.impute = imputing(at)
	if w.class == other || w.texts() && (w.impute == mean || w.impute == median) {
		return typeError{do + " does not work on " + typ + map[bool]string{true: " that is encoded"}[w.encode != noEncode]}
	}
	if _, dict := w.field.Type.(*arrow.DictionaryType); dict && w.encode == noEncode {
		return typeError{do + " does not work on " + typ}
	}
	if w.impute != constant {
		return nil
	}
	if w.text = rest; w.class == text {
		return nil
	}
	v, err := parseNumber(rest)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return typeError{"impute " + strconv.Quote(do) + " is not a number, the column is " + typ}
	}
	if w.fill = v; w.encode != noEncode {
		w.text = numberText(w.field.Type, v)
	}
	return nil
}

// parseNumber reads a number or a truth value.
func parseNumber(s string) (float64, error) {
	switch s {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	return strconv.ParseFloat(s, 64)
}

// numberText is v as a category of a column of numbers.
func numberText(t arrow.DataType, v float64) string {
	switch id := t.ID(); {
	case id == arrow.BOOL:
		return strconv.FormatBool(v != 0)
	case arrow.IsInteger(id):
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// check refuses what cannot be done with the columns passed through.
func (d *Design) check() error {
	for i := range d.cols {
		w := &d.cols[i]
		if w.passed() && !canTake(w.field.Type) {
			return format.Error(format.ErrUsage, "column %q: %s cannot be passed through; leave it out of the columns read", w.field.Name, w.field.Type)
		}
		if w.class == text && !w.passed() && w.encode == noEncode && strings.Contains(w.field.Type.Name(), "view") {
			return format.Error(format.ErrUsage, "column %q: %s cannot be imputed unless it is encoded", w.field.Name, w.field.Type)
		}
	}
	return nil
}
