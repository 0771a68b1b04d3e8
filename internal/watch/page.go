package watch

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
	"time"

	"github.com/weir-data/weir/internal/mem"
)

//go:embed page.html
var pageText string

// pageRows is how many lines the table of columns has at most: a page of ten
// thousand is of no use to anybody, and JSON has them all.
const pageRows = 600

// HTML writes the report as a page that needs nothing but itself. What it shows
// of the data, names of columns among it, is escaped.
func (p *Preparation) HTML(w io.Writer) error {
	t, err := template.New("page").Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, p.page())
}

// page is what the template shows, as text.
type page struct {
	Output, Version, Ended string
	Finished               bool
	Facts                  []tile
	Passes                 []pagePass
	Splits                 []pageSplit
	Memory                 *memoryChart
	TrainRows              string
	Columns                []pageColumn
	Left                   string // columns that are not shown
	Shapes                 []pageShape
	Recipe                 string
}

// tile is one number of the headline.
type tile struct{ Name, Value, Unit, Note string }

type pagePass struct {
	Name, Rows, Time, Speed, Memory, Bottleneck string
	Before                                      bool
}

type pageSplit struct {
	Name, Rows, Percent, Parts, Bytes string
	Width                             string // of its bar, in percent
}

// pageColumn is a column's lines.
type pageColumn struct {
	Name, Type, Rules string
	Lines             []pageLine
}

// pageLine is a summary; Label is before, after, or the name of an output.
type pageLine struct {
	Label string
	After bool
	Cells [6]string
}

type pageShape struct {
	Column, Rules string
	Sides         [2]pageSide
}

type pageSide struct {
	Label, Note string
	After       bool
	Chart       barChart
}

func (p *Preparation) page() page {
	v := page{Output: p.Output, Version: p.Version, Ended: p.Ended.UTC().Format("2 January 2006, 15:04 UTC"),
		Finished: p.Finished, Recipe: p.Recipe, TrainRows: group(p.Rows), Memory: newMemoryChart(p)}
	v.Facts = p.tiles()
	for _, pass := range p.Passes {
		r := pass.Report
		one := pagePass{Name: pass.Name, Before: pass.Before}
		if !pass.Before {
			one.Rows, one.Time, one.Speed = group(r.Rows), span(r.WallSeconds), group(int64(r.RowsPerSecond))
			one.Memory, one.Bottleneck = mem.Format(r.PeakMemory), pass.Bottleneck()
		}
		v.Passes = append(v.Passes, one)
	}
	total := int64(0)
	for _, s := range p.Splits {
		total += s.Rows
	}
	for _, s := range p.Splits {
		share := 100 * float64(s.Rows) / float64(max(1, total))
		v.Splits = append(v.Splits, pageSplit{Name: s.Name, Rows: group(s.Rows), Percent: fmt.Sprintf("%.1f%%", share),
			Parts: group(s.Parts), Bytes: decimal(s.Bytes), Width: fmt.Sprintf("%.2f", share)})
	}
	lines := 0
	for i, c := range p.Columns {
		one := pageColumnOf(c)
		if lines += len(one.Lines); lines > pageRows && i > 0 {
			v.Left = plural(int64(len(p.Columns)-i), "column")
			break
		}
		v.Columns = append(v.Columns, one)
	}
	for _, s := range p.Shapes {
		v.Shapes = append(v.Shapes, p.pageShape(s))
	}
	return v
}

// tiles are the headline: what a person wants to know first.
func (p *Preparation) tiles() []tile {
	if p.Finished {
		return nil
	}
	var rows, bytes, parts int64
	for _, s := range p.Splits {
		rows, bytes, parts = rows+s.Rows, bytes+s.Bytes, parts+s.Parts
	}
	outputs := 0
	for _, c := range p.Columns {
		outputs += len(c.After)
	}
	list := []tile{{Name: "rows", Value: group(rows), Note: fmt.Sprintf("%s → %s", plural(int64(len(p.Columns)), "column"), group(int64(outputs)))}}
	wall, speed := 0.0, []string{}
	for _, pass := range p.Passes {
		if wall += pass.Report.WallSeconds; !pass.Before {
			speed = append(speed, fmt.Sprintf("%s %s rows/s", pass.Name, group(int64(pass.Report.RowsPerSecond))))
		}
	}
	value, unit, _ := strings.Cut(seconds(time.Duration(wall*float64(time.Second))), " ")
	list = append(list, tile{Name: "time", Value: value, Unit: unit, Note: strings.Join(speed, " · ")})
	value, unit, _ = strings.Cut(mem.Format(p.Memory.Peak), " ")
	list = append(list, tile{Name: "peak memory", Value: value, Unit: unit, Note: "of --memory " + mem.Format(p.Memory.Limit)})
	value, unit, _ = strings.Cut(decimal(bytes), " ")
	return append(list, tile{Name: "written", Value: value, Unit: unit, Note: plural(parts, "part")})
}

// pageColumnOf makes lines of a column; one line where nothing changed.
func pageColumnOf(c Column) pageColumn {
	out := pageColumn{Name: c.Name, Type: c.Type, Rules: c.Rules}
	if c.Before != nil {
		out.Lines = append(out.Lines, pageLine{Label: "before", Cells: numbersOf(c.Before)})
	}
	if len(c.After) == 1 {
		if to := c.After[0].Type; to != c.Type {
			out.Type += " → " + to
		}
		cells := numbersOf(c.After[0].Train)
		switch {
		case c.After[0].Train == nil:
		case c.Rules == "" && (c.Before == nil || cells == out.Lines[0].Cells):
			out.Lines = []pageLine{{Label: "unchanged", After: true, Cells: cells}}
		default:
			out.Lines = append(out.Lines, pageLine{Label: "after", After: true, Cells: cells})
		}
	} else if len(c.After) > 1 {
		out.Type = fmt.Sprintf("%s → %s of %s", c.Type, plural(int64(len(c.After)), "column"), c.After[0].Type)
		for _, o := range c.After {
			out.Lines = append(out.Lines, pageLine{Label: o.Name, After: true, Cells: numbersOf(o.Train)})
		}
	}
	if out.Lines == nil {
		out.Lines = []pageLine{{}}
	}
	return out
}

// pageShape is a column's two pictures.
func (p *Preparation) pageShape(s Shape) pageShape {
	out := pageShape{Column: s.Column, Rules: s.Rules}
	var sums [2]*Summary
	for _, c := range p.Columns {
		if c.Name == s.Column && len(c.After) == 1 {
			sums = [2]*Summary{c.Before, c.After[0].Train}
		}
	}
	for i, sum := range sums {
		side := pageSide{Label: "before", Chart: newBarChart(s.Before)}
		if i == 1 {
			side = pageSide{Label: "after", After: true, Chart: newBarChart(s.After)}
		}
		if sum != nil {
			side.Note = fmt.Sprintf("mean %s · std %s", number(sum.Mean), number(sum.Std))
			if n := sum.Missing(); n > 0 {
				side.Note += fmt.Sprintf(" · %s missing", group(n))
			}
		}
		out.Sides[i] = side
	}
	return out
}
