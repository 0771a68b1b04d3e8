package watch

import (
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/stage/profile"
	"github.com/weir-data/weir/internal/stage/scale"
)

// Preparation is all that a report of a preparation tells, as text, as JSON or
// as a page. Its JSON names are part of the interface.
type Preparation struct {
	Output  string    `json:"output"`
	Version string    `json:"version"`
	Ended   time.Time `json:"ended"`
	// Finished says that a run before had done all, and nothing is known.
	Finished bool    `json:"finished_before,omitempty"`
	Passes   []Pass  `json:"passes"`
	Splits   []Split `json:"splits"`
	// Facts are what else is worth telling, a name and a sentence each.
	Facts []Fact `json:"facts,omitempty"`
	// Rows is those that were fitted on.
	Rows    int64    `json:"train_rows"`
	Columns []Column `json:"columns"`
	Shapes  []Shape  `json:"histograms,omitempty"`
	Memory  Memory   `json:"memory"`
	Recipe  string   `json:"recipe"`
}

// Pass is one reading of the rows.
type Pass struct {
	Name string `json:"name"` // fit, write or arrays; hash, write, order or arrays
	// Before says that a run before had done it.
	Before bool       `json:"done_before,omitempty"`
	Report run.Report `json:"report"`
}

// Fact is something that a run found out.
type Fact struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Split is what was written of one split.
type Split struct {
	Name  string `json:"name"`
	Rows  int64  `json:"rows"`
	Parts int64  `json:"parts"`
	Bytes int64  `json:"bytes"`
}

// Column is a column of the input and what became of it.
type Column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type,omitempty"`
	Rules  string   `json:"rules,omitempty"` // empty: passed through
	Before *Summary `json:"before"`          // of the rows that were fitted on; nil: not known
	After  []Output `json:"after"`           // more than one where it was encoded
}

// Output is a column that was written.
type Output struct {
	Name  string   `json:"name"`
	Type  string   `json:"type"`
	Train *Summary `json:"train"` // of the split that was fitted on; nil: not known
	All   *Summary `json:"all"`   // of all splits
}

// Summary is what a column's values are like; nil is not known.
type Summary struct {
	Count int64    `json:"count"`
	Nulls int64    `json:"nulls"`
	NaNs  int64    `json:"nans"`
	Infs  int64    `json:"infs"`
	Mean  *float64 `json:"mean"`
	Std   *float64 `json:"std"`
	Min   *float64 `json:"min"`
	Max   *float64 `json:"max"`
}

// Missing is the rows that are not a number.
func (s *Summary) Missing() int64 { return s.Nulls + s.NaNs + s.Infs }

// Shape is how the values of a column are distributed.
type Shape struct {
	Column string            `json:"column"`
	Rules  string            `json:"rules"`
	Before profile.Histogram `json:"before"`
	After  profile.Histogram `json:"after"`
}

// Memory is what the process had of what it may have.
type Memory struct {
	Limit  int64     `json:"limit"`
	Peak   int64     `json:"peak"`
	Points []Point   `json:"points,omitempty"`
	Passes []float64 `json:"passes,omitempty"` // seconds when each began
}

// Prepare gathers what is known of a preparation. Line may be nil.
func Prepare(r prepare.Report, c prepare.Config, line *Timeline) Preparation {
	p := Preparation{Output: c.Out, Version: c.Version, Finished: r.Finished, Recipe: c.Recipe, Columns: describeColumns(r)}
	if p.Finished {
		return p
	}
	p.pass("fit", r.Fit)
	p.pass("write", r.Write)
	if c.Npy {
		p.pass("arrays", r.Arrays)
	}
	p.remember(c.Run.Memory, line)
	for _, s := range r.Splits {
		p.Splits = append(p.Splits, Split{Name: s.Name, Rows: s.Rows, Parts: s.Parts, Bytes: s.Bytes})
	}
	if r.Params != nil {
		p.Rows = r.Params.Rows
	}
	p.Shapes = shapes(r)
	return p
}

// pass adds one.
func (p *Preparation) pass(name string, r run.Report) {
	p.Passes = append(p.Passes, Pass{Name: name, Before: r.WallSeconds == 0, Report: r})
	p.Memory.Peak = max(p.Memory.Peak, r.PeakMemory)
}

// remember adds what is known of the memory.
func (p *Preparation) remember(limit int64, line *Timeline) {
	p.Memory.Limit = limit
	if line != nil {
		p.Memory.Points, p.Memory.Passes = line.Points(), line.Passes()
	}
}

// describeColumns puts before and after side by side.
func describeColumns(r prepare.Report) []Column {
	list := []Column{}
	if r.Look.In == nil {
		if r.Params != nil {
			for i := range r.Params.Columns {
				c := &r.Params.Columns[i]
				list = append(list, Column{Name: c.Name, Type: c.Type, Rules: rulesOf(c), Before: fitted(c)})
			}
		}
		return list
	}
	for _, f := range r.Look.In.Fields() {
		c := Column{Name: f.Name, Type: f.Type.String()}
		if p := r.Params.Column(f.Name); p != nil {
			c.Rules, c.Before = rulesOf(p), fitted(p)
		}
		list = append(list, c)
	}
	for i, from := range r.Look.Sources {
		f := r.Look.Out.Field(i)
		o := Output{Name: f.Name, Type: f.Type.String()}
		if r.Look.Train != nil {
			o.Train, o.All = written(r.Look.Train[i]), written(r.Look.All[i])
		}
		list[from].After = append(list[from].After, o)
	}
	return list
}

func rulesOf(c *scale.Column) string {
	return strings.Join(strings.Fields(c.Impute+" "+c.Scale+" "+c.Encode), ", ")
}

func fitted(c *scale.Column) *Summary {
	return &Summary{Count: c.Count, Nulls: c.Nulls, NaNs: c.NaNs, Infs: c.Infs, Mean: c.Mean, Std: c.Std, Min: c.Min, Max: c.Max}
}

func written(c profile.Column) *Summary {
	return &Summary{Count: c.Count, Nulls: c.Nulls, NaNs: c.NaNs, Infs: c.Infs, Mean: c.Mean, Std: c.Std, Min: c.Min, Max: c.Max}
}

// shapes puts the histograms side by side.
func shapes(r prepare.Report) (list []Shape) {
	for i, before := range r.Look.Before {
		s := Shape{Column: before.Column, Before: before, After: r.Look.After[i]}
		if c := r.Params.Column(s.Column); c != nil {
			s.Rules = rulesOf(c)
		}
		list = append(list, s)
	}
	return list
}

// JSON writes the report for programs.
func (p *Preparation) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(p)
}
