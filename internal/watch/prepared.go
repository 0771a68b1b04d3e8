package watch

import (
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
)

// Prepared is a preparation's report for people.
func Prepared(r prepare.Report, out string) string {
	if r.Finished {
		return out + " was finished before\n"
	}
	var b strings.Builder
	pass := func(name string, p run.Report) {
		if p.WallSeconds == 0 {
			fmt.Fprintf(&b, "%-11sdone by a run before\n", name)
			return
		}
		fmt.Fprintf(&b, "%-11s%s rows in %s (%s rows/s), %s at most of --memory %s; bottleneck: %s\n", name, group(p.Rows),
			span(p.WallSeconds), group(int64(p.RowsPerSecond)), mem.Format(p.PeakMemory), mem.Format(p.MemoryLimit), p.Bottleneck)
	}
	pass("fit", r.Fit)
	pass("write", r.Write)
	for _, s := range r.Splits {
		fmt.Fprintf(&b, "%-11s%s rows, %s, %s\n", s.Name, group(s.Rows), plural(s.Parts, "part"), decimal(s.Bytes))
	}
	columns(&b, r)
	fmt.Fprintf(&b, "%-11s%s\n", "done", out)
	return b.String()
}

// columnsMost is how many columns are worth a look.
const columnsMost = 12

// columns shows what the fit saw.
func columns(b *strings.Builder, r prepare.Report) {
	if r.Params == nil || len(r.Params.Columns) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-20s %-22s %12s %10s %12s %12s %12s %12s\n", "train column", "rules", "values", "nulls", "mean", "std", "min", "max")
	for i, c := range r.Params.Columns {
		if i == columnsMost {
			fmt.Fprintf(b, "and %d more; params in manifest.json has all\n", len(r.Params.Columns)-i)
			break
		}
		rules := strings.Join(strings.Fields(c.Impute+" "+c.Scale+" "+c.Encode), " ")
		fmt.Fprintf(b, "%-20s %-22s %12s %10s %12s %12s %12s %12s\n", c.Name, rules, group(c.Count), group(c.Nulls+c.NaNs),
			number(c.Mean), number(c.Std), number(c.Min), number(c.Max))
	}
	b.WriteByte('\n')
}

func number(v *float64) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.5g", *v)
}

// Verified says what a check found in order.
func Verified(r dataset.Result) string {
	return fmt.Sprintf("%s, %s rows, %s: as the manifest says\n", plural(r.Parts, "part"), group(r.Rows), decimal(r.Bytes))
}
