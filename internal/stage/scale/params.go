package scale

import (
	"bytes"
	"encoding/json"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/format"
)

// paramsVersion is that of the JSON.
const paramsVersion = 1

// Params are what a fit found; all a transform needs. As JSON they read back
// to the same bits.
type Params struct {
	Version int      `json:"version"`
	Rows    int64    `json:"rows"` // seen by the fit
	Dtype   string   `json:"dtype"`
	Columns []Column `json:"columns"`
}

// Column is what a fit found in one column. Numbers that nothing is known of
// are nil.
type Column struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Scale  string `json:"scale,omitempty"` // the rules, as they were written
	Impute string `json:"impute,omitempty"`
	Encode string `json:"encode,omitempty"`

	// Rows are values, nulls, NaNs and infinite values.
	Count int64 `json:"count"`
	Nulls int64 `json:"nulls"`
	NaNs  int64 `json:"nans"`
	Infs  int64 `json:"infs,omitempty"`

	// Of the values, before anything is done with them. M2 is the sum of the
	// squares of their distances from Mean, Std the square root of M2/Count.
	Mean *float64 `json:"mean,omitempty"`
	M2   *float64 `json:"m2,omitempty"`
	Std  *float64 `json:"std,omitempty"`
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`

	Quantiles *Quantiles `json:"quantiles,omitempty"`

	// Fill, or FillText for text and for categories, stands for null and NaN.
	Fill     *float64 `json:"fill,omitempty"`
	FillText *string  `json:"fill_text,omitempty"`

	// The output is (x - Center) / Divisor, of minmax x * Factor + Shift. They
	// are nil where the column had no value to fit on: the output is NaN.
	Center  *float64 `json:"center,omitempty"`
	Divisor *float64 `json:"divisor,omitempty"`
	Factor  *float64 `json:"factor,omitempty"`
	Shift   *float64 `json:"shift,omitempty"`

	// Categories stand in the order of their codes.
	Categories []Category `json:"categories,omitempty"`
	// Other is the rows of categories that are not told apart; if there are
	// any, categories the fit has not seen belong to them.
	Other int64 `json:"other,omitempty"`
}

// Category is a value and the number of its rows, imputed ones included.
type Category struct {
	Value string `json:"value"`
	Count int64  `json:"count"`
}

// Quantiles say how ranks were found, and those of robust after imputing.
type Quantiles struct {
	Method string `json:"method"` // exact or sketch
	// RankError is the most that a rank may be off, as a part of all values;
	// proven, not estimated.
	RankError float64  `json:"rank_error"`
	Q25       *float64 `json:"q25,omitempty"`
	Q50       *float64 `json:"q50,omitempty"`
	Q75       *float64 `json:"q75,omitempty"`
}

// missing says that null is a category of its own: onehot gives it a column.
func (c *Column) missing() bool {
	return c.Encode == encodings[onehot] && c.Impute == "" && c.Nulls+c.NaNs > 0
}

// Size is about how many bytes p takes on the Go heap.
func (p *Params) Size() int64 {
	n := int64(0)
	for i := range p.Columns {
		n += 512
		for _, c := range p.Columns[i].Categories {
			n += 32 + int64(len(c.Value))
		}
	}
	return n
}

// Column is that of a name; nil: there is none.
func (p *Params) Column(name string) *Column {
	for i := range p.Columns {
		if p.Columns[i].Name == name {
			return &p.Columns[i]
		}
	}
	return nil
}

// Encode writes p as JSON.
func (p *Params) Encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(p)
	return b.Bytes(), err
}

// Decode reads what Encode wrote, and trusts none of it: what cannot be is
// ErrData.
func Decode(data []byte) (*Params, error) {
	p := new(Params)
	if err := json.Unmarshal(data, p); err != nil {
		return nil, format.Error(format.ErrData, "parameters: %w", err)
	}
	if p.Version != paramsVersion {
		return nil, format.Error(format.ErrData, "parameters: version %d, this program reads %d", p.Version, paramsVersion)
	}
	if p.Rows < 1 || p.Dtype != "float32" && p.Dtype != "float64" {
		return nil, format.Error(format.ErrData, "parameters: %d rows, dtype %q", p.Rows, p.Dtype)
	}
	seen := map[string]bool{}
	for i := range p.Columns {
		c := &p.Columns[i]
		err := c.valid(p.Rows)
		if err == nil && seen[c.Name] {
			err = format.Error(format.ErrData, "is there twice")
		}
		if err != nil {
			return nil, format.Error(format.ErrData, "parameters: column %q: %w", c.Name, err)
		}
		seen[c.Name] = true
	}
	return p, nil
}

// work makes rules of their text, for a column of a type.
func (c *Column) work(f arrow.Field) (work, error) {
	w := work{field: f, class: classOf(f.Type), rules: [3]string{c.Scale, c.Impute, c.Encode}}
	for list, do := range [...]string{listEncode: c.Encode, listScale: c.Scale, listImpute: c.Impute} {
		if do != "" {
			if err := w.set(list, do); err != nil {
				return w, err
			}
		}
	}
	return w, nil
}

// valid checks one column.
func (c *Column) valid(rows int64) error {
	if c.Count < 0 || c.Nulls < 0 || c.NaNs < 0 || c.Infs < 0 || c.Other < 0 {
		return format.Error(format.ErrData, "a count is less than 0")
	}
	left := rows
	for _, n := range [...]int64{c.Count, c.Nulls, c.NaNs, c.Infs} {
		if left -= n; left < 0 {
			break
		}
	}
	if left != 0 {
		return format.Error(format.ErrData, "%d values, %d nulls, %d NaNs and %d infinite are not %d rows", c.Count, c.Nulls, c.NaNs, c.Infs, rows)
	}
	// Text has no scaling; a rule for numbers shows that they are some.
	f := arrow.Field{Name: c.Name, Type: arrow.PrimitiveTypes.Float64}
	if c.FillText != nil && c.Scale == "" {
		f.Type = arrow.BinaryTypes.String
	}
	w, err := c.work(f)
	if err != nil {
		return err
	}
	for _, v := range [...]*float64{c.M2, c.Std} {
		if v != nil && *v < 0 {
			return format.Error(format.ErrData, "%v is less than 0", *v)
		}
	}
	if c.Min != nil && c.Max != nil && *c.Min > *c.Max {
		return format.Error(format.ErrData, "min %v, max %v", *c.Min, *c.Max)
	}
	if err := c.complete(&w); err != nil {
		return err
	}
	return c.validCategories(&w)
}

// complete checks that what a rule needs is there.
func (c *Column) complete(w *work) error {
	need := func(what string, there bool) error {
		if there {
			return nil
		}
		return format.Error(format.ErrData, "%s is missing", what)
	}
	empty := c.Count == 0 && w.impute == noImpute
	var err error
	switch w.scale {
	case standard, robust:
		if empty {
			break
		}
		if err = need("center", c.Center != nil); err == nil {
			err = need("divisor", c.Divisor != nil && *c.Divisor > 0)
		}
	case maxabs:
		err = need("divisor", empty || c.Divisor != nil && *c.Divisor > 0)
	case minmax:
		err = need("factor or shift", empty || c.Factor != nil && *c.Factor > 0 && c.Shift != nil)
	}
	if err == nil && w.impute != noImpute {
		if w.encode != noEncode {
			err = need("fill_text", c.FillText != nil)
		} else {
			err = need("fill", c.Fill != nil || c.FillText != nil)
		}
	}
	return err
}

func (c *Column) validCategories(w *work) error {
	if w.encode != onehot && w.encode != ordinal {
		if len(c.Categories) > 0 || c.Other > 0 {
			return format.Error(format.ErrData, "has categories, but neither onehot nor ordinal")
		}
		return nil
	}
	seen := make(map[string]bool, min(len(c.Categories), 1<<16))
	left, imputed := c.Count-c.Other, int64(0)
	if c.FillText != nil {
		imputed = c.Nulls + c.NaNs
		left += imputed
	}
	for _, k := range c.Categories {
		if k.Count < 0 || seen[k.Value] || !utf8.ValidString(k.Value) {
			return format.Error(format.ErrData, "category %q: is there twice, is no text, or has %d rows", k.Value, k.Count)
		}
		seen[k.Value] = true
		if c.FillText != nil && k.Value == *c.FillText && k.Count < imputed && c.Other == 0 {
			return format.Error(format.ErrData, "category %q: %d rows, but %d were imputed", k.Value, k.Count, imputed)
		}
		if left -= k.Count; left < 0 {
			break
		}
	}
	if left != 0 {
		return format.Error(format.ErrData, "its categories do not have as many rows as it has values")
	}
	return nil
}

// finitePointer is &v, or nil where v is no finite number.
func finitePointer(v float64) *float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	v += 0 // minus zero would depend on which of two equal values came first
	return &v
}
