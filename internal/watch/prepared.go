package watch

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run/prepare"
)

// Text is the report for people.
func (p *Preparation) Text() string {
	if p.Finished {
		return p.Output + " was finished before\n"
	}
	var b strings.Builder
	for _, pass := range p.Passes {
		r := pass.Report
		if pass.Before {
			fmt.Fprintf(&b, "%-11sdone by a run before\n", pass.Name)
			continue
		}
		fmt.Fprintf(&b, "%-11s%s rows in %s (%s rows/s), %s at most of --memory %s\n", pass.Name, group(r.Rows),
			span(r.WallSeconds), group(int64(r.RowsPerSecond)), mem.Format(r.PeakMemory), mem.Format(r.MemoryLimit))
		if r.Bottleneck != "" {
			fmt.Fprintf(&b, "%-11sbottleneck: %s\n", "", pass.Bottleneck())
		}
	}
	for _, f := range p.Facts {
		fmt.Fprintf(&b, "%-11s%s\n", f.Name, f.Text)
	}
	for _, s := range p.Splits {
		fmt.Fprintf(&b, "%-11s%s rows, %s, %s\n", s.Name, group(s.Rows), plural(s.Parts, "part"), decimal(s.Bytes))
	}
	if len(p.Columns) > 0 {
		fmt.Fprintf(&b, "\n%s before → after, of the rows fitted on:\n", plural(int64(len(p.Columns)), "column"))
		columnTable(&b, p.Columns)
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%-11s%s\n", "done", p.Output)
	return b.String()
}

// Bottleneck says in one sentence what would have to be faster.
func (p Pass) Bottleneck() string {
	r := p.Report
	if r.Bottleneck != "consumer" {
		return strings.Replace(Bottleneck(r), "the consumer", p.work(), 1)
	}
	return fmt.Sprintf("%s: busy %.0f%% of the time, faster reading would not help", p.work(), 100-r.Waits.Decode)
}

// work is what is done with the rows that are read.
func (p Pass) work() string {
	switch p.Name {
	case "fit":
		return "fitting"
	case "hash":
		return "finding duplicates"
	case "write":
		return "transforming and writing"
	}
	return "writing arrays"
}

// columnsMost is how many columns are worth a look.
const columnsMost = 20

// columns shows what a fit saw.
func columns(b *strings.Builder, r prepare.Report) {
	if list := describeColumns(r); len(list) > 0 {
		b.WriteByte('\n')
		columnTable(b, list)
	}
}

// columnTable shows columns before and after, each cell as wide as it must be.
func columnTable(b *strings.Builder, list []Column) {
	rows := [][]string{{"column", "rules", "values", "missing", "mean", "std", "min", "max"}}
	for _, c := range list[:min(len(list), columnsMost)] {
		rows = append(rows, c.cells())
	}
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row[:min(len(row), len(width))] {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := "  "
		for i, cell := range row {
			pad := 0
			if i < len(width) {
				pad = width[i] - utf8.RuneCountInString(cell)
			}
			if i < 2 {
				line += cell + strings.Repeat(" ", pad) + "  "
			} else {
				line += strings.Repeat(" ", pad) + cell + "  "
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if left := len(list) - columnsMost; left > 0 {
		fmt.Fprintf(b, "  … and %s more; --report FILE.html or FILE.json has all\n", group(int64(left)))
	}
}

// cells are a column's line of the table.
func (c Column) cells() []string {
	rules := c.Rules
	if len(c.After) > 1 {
		rules = fmt.Sprintf("%s → %s", rules, plural(int64(len(c.After)), "column"))
	}
	line := []string{printable(c.Name), rules}
	var after *Summary
	if len(c.After) == 1 {
		after = c.After[0].Train
	}
	for _, cell := range facts(c.Before, after) {
		line = append(line, arrow(cell.Before, cell.After))
	}
	return line
}

// fact is one number before and after, as text; empty: not known.
type fact struct{ Before, After string }

// facts are values, missing, mean, std, min and max.
func facts(before, after *Summary) [6]fact {
	a, b := numbersOf(before), numbersOf(after)
	var out [6]fact
	for i := range out {
		out[i] = fact{a[i], b[i]}
	}
	return out
}

func numbersOf(s *Summary) (list [6]string) {
	if s == nil {
		return list
	}
	return [6]string{group(s.Count), group(s.Missing()), number(s.Mean), number(s.Std), number(s.Min), number(s.Max)}
}

// arrow is one text where both are the same.
func arrow(before, after string) string {
	switch {
	case before == after || after == "":
		return before
	case before == "":
		return after
	}
	return before + " → " + after
}

// number keeps four digits; that is enough to see that it worked.
func number(v *float64) string {
	if v == nil {
		return ""
	}
	if size := math.Abs(*v); size >= 9999.5 && size < 1e7 {
		return group(int64(math.Round(*v)))
	}
	return strconv.FormatFloat(*v, 'g', 4, 64)
}

// nameMost is how much of a column's name is shown, in runes.
const nameMost = 32

// printable is a name that cannot harm a terminal or the shape of a table.
func printable(name string) string {
	if quoted := strconv.Quote(name); len(quoted) != len(name)+2 || !utf8.ValidString(name) {
		name = quoted
	}
	if r := []rune(name); len(r) > nameMost {
		name = string(r[:nameMost-1]) + "…"
	}
	return name
}

// Verified says what a check found in order.
func Verified(r dataset.Result) string {
	return fmt.Sprintf("%s, %s rows, %s: as the manifest says\n", plural(r.Parts, "part"), group(r.Rows), decimal(r.Bytes))
}
