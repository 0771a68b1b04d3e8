package watch

import (
	"fmt"
	"strings"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
)

// Planned is what a preparation would do, for people.
func Planned(p prepare.Planned) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	line("reads", "%s: %s, %s of %s, %s", strings.Join(p.Paths, " "), rowsOf(p), plural(int64(p.Source.Objects), "file"), p.Format,
		plural(int64(p.Columns), "column"))
	line("", "%s stored%s", decimal(p.Source.Bytes), inMemory(p.Source.InMemory))
	line("memory", "--memory %s: %s for the program, %s for the directory, the rest for data; %s", mem.Flag(p.Memory),
		mem.Format(run.Base), mem.Format(p.Directory), plural(int64(p.Threads), "thread"))
	line("found", "%s", found(p))
	if p.Found.Claimed != "" {
		line("", "%s may still write there; the run waits until it is known", p.Found.Claimed)
	}
	for _, pass := range p.Passes {
		planPass(line, p, pass)
	}
	for i, s := range p.Splits {
		name := ""
		if i == 0 {
			name = "writes"
		}
		line(name, "%s %s, %s", s.Prefix, about(s.Rows, "row"), about(s.Parts, "part"))
	}
	if len(p.Arrays) > 0 {
		line("", "%s{%s}", p.Out, strings.Join(p.Arrays, ","))
	}
	if len(p.Splits) > 0 {
		line("", "%smanifest.json", p.Out)
	}
	line("dry run", "nothing was written")
	return b.String()
}

func rowsOf(p prepare.Planned) string {
	if p.Source.Rows < 0 {
		return "rows not known before reading"
	}
	return plural(p.Source.Rows, "row")
}

func inMemory(n int64) string {
	if n <= 0 {
		return ""
	}
	return ", about " + decimal(n) + " in memory"
}

// about is a number that is estimated.
func about(n int64, noun string) string {
	if n < 0 {
		return "an unknown number of " + noun + "s"
	}
	return "about " + plural(n, noun)
}

// found says what lies where a preparation is to go.
func found(p prepare.Planned) string {
	switch f := p.Found; {
	case f.Resumed.Finished:
		return "a dataset of this recipe, finished but for the run's own files, which are removed"
	case f.Kind == dataset.Finished:
		return "a finished dataset, which is removed first"
	case f.Kind == dataset.Another:
		return "another unfinished run, which is removed first: " + f.Why
	case f.Kind == dataset.Unfinished && f.Resumed.Going:
		return "an unfinished run of this recipe, which goes on"
	case f.Kind == dataset.Unfinished:
		return "an unfinished run of this recipe without a checkpoint, which begins again"
	}
	return "nothing; the run begins at the beginning"
}

// planPass is the lines of one pass.
func planPass(line func(name, format string, args ...any), p prepare.Planned, pass prepare.PlannedPass) {
	name := fmt.Sprintf("%d %s", pass.Number, pass.Name)
	if pass.Done {
		line(name, "done by a run before")
		return
	}
	line(name, "%s", tasks(p, pass))
	least := "at least"
	if pass.AtLeast {
		least = "not known before the fit, but at least"
	}
	switch m := pass.Memory; {
	case m.Side == 0 && m.WorkLeast == 0:
		line("", "memory: not known before the fit")
	case m.Side == 0:
		line("", "memory: %s %s, reading included", least, mem.Format(m.WorkLeast))
	default:
		each := ""
		if m.Side > 1 {
			each = "each "
		}
		line("", "%sreading %s (at least %s), %s %s (%s %s); %s for the Go runtime", each, mem.Format(m.Read), mem.Format(m.ReadLeast),
			doing(pass.Name), mem.Format(m.Work), least, mem.Format(m.WorkLeast), mem.Format(m.Heap))
	}
	if pass.Name == "write" && p.Group > 0 {
		line("", "row groups of %s in memory in the largest split", mem.Format(p.Group))
	}
}

// tasks says what a pass reads and in how many pieces.
func tasks(p prepare.Planned, pass prepare.PlannedPass) string {
	left := ""
	if pass.Goes && pass.Left >= 0 && pass.Left < pass.Tasks {
		left = fmt.Sprintf(", %s of them left", group(pass.Left))
	}
	switch pass.Name {
	case "fit":
		if pass.Goes {
			return "reads the rows behind the last checkpoint, once, with " + plural(int64(pass.Memory.Threads), "thread")
		}
		return "reads all rows once, with " + plural(int64(pass.Memory.Threads), "thread")
	case "arrays":
		return fmt.Sprintf("reads the parts back: %s, one after the other%s", plural(pass.Tasks, "split"), left)
	}
	what := about(pass.Tasks, "task")
	if pass.Goes {
		what = plural(pass.Tasks, "task")
	}
	text := fmt.Sprintf("reads all rows again: %s of %s of rows%s", what, mem.Format(p.PerPart), left)
	if m := pass.Memory; m.Side > 1 {
		return fmt.Sprintf("%s, %s at a time with %s each", text, group(int64(m.Side)), plural(int64(m.Threads), "thread"))
	} else if m.Side == 1 {
		text += fmt.Sprintf(", %s at a time with %s", group(int64(m.Side)), plural(int64(m.Threads), "thread"))
	}
	return text
}

// doing is what is done with the rows of a pass.
func doing(pass string) string {
	if pass == "fit" {
		return "fitting"
	}
	return "writing"
}
