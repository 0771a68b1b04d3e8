package watch

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/stage/pack"
)

// Corpus gathers what is known of a run over a corpus. Line may be nil.
func Corpus(r corpus.Report, c corpus.Config, line *Timeline) Preparation {
	p := Preparation{Output: c.Out, Version: c.Version, Finished: r.Finished, Recipe: c.Recipe, Columns: []Column{}}
	if p.Finished {
		return p
	}
	if c.Dedup != nil {
		p.pass("hash", r.Hash)
	}
	if c.Out == "" {
		p.Output = "nothing was written: that is what -o DIR/ is for"
	}
	if r.Write.WallSeconds > 0 || c.Out != "" {
		p.pass("write", r.Write)
	}
	if c.Shuffle {
		p.pass("order", r.Order)
	}
	if c.Npy {
		p.pass("arrays", r.Arrays)
	}
	p.remember(c.Run.Memory, line)
	if k := r.Kept; k != nil {
		p.Facts = append(p.Facts, Fact{"duplicates", fmt.Sprintf("%s of %s rows left out (%.1f%%)",
			group(k.Rows-k.Distinct), group(k.Rows), 100*float64(k.Rows-k.Distinct)/float64(max(1, k.Rows)))})
		if text := c.Dedup.Chances(); text != "" {
			p.Facts = append(p.Facts, Fact{"", text})
		}
	}
	for _, e := range r.Examples {
		p.Facts = append(p.Facts, Fact{"", fmt.Sprintf("row %s %s %s: %s", group(e.Row), like(c.Dedup), first(e.First), printed(e.Text))})
	}
	if c.Tokenize != nil {
		text := group(r.Tokens) + " made"
		if r.Cut > 0 {
			text += fmt.Sprintf("; %s cut behind %s tokens", plural(r.Cut, "row"), group(int64(c.Tokenize.MaxLength)))
		}
		p.Facts = append(p.Facts, Fact{"tokens", text})
		if c.Tokenize.Check {
			p.Facts = append(p.Facts, Fact{"checked", fmt.Sprintf("%s decode to another text", plural(r.Differ, "row"))})
		}
		for _, d := range r.Differences {
			p.Facts = append(p.Facts, Fact{"", fmt.Sprintf("row %s: %q came back as %q", group(d.Row), d.Text, d.Back)})
		}
	}
	if c.Pack != nil {
		p.Facts = append(p.Facts, Fact{"packed", packed(r.Packed, c.Pack.Length)})
	}
	if r.ScratchPlain > 0 {
		p.Facts = append(p.Facts, Fact{"scratch", fmt.Sprintf("rows were compressed (zstd), %s to %s", decimal(r.ScratchPlain), decimal(r.ScratchStored))})
	}
	if c.Out == "" {
		return p
	}
	p.Splits = []Split{{Name: "data", Rows: r.Rows, Parts: r.Parts, Bytes: r.Bytes}}
	return p
}

// packed says how documents fill rows.
func packed(r pack.Report, length int) string {
	text := fmt.Sprintf("%s in %s of %s tokens, %.2f%% full", plural(r.Documents, "document"), plural(r.Rows, "row"), group(int64(length)), 100*r.Fill(length))
	for _, n := range []struct {
		count int64
		what  string
	}{{r.Split, "split"}, {r.Truncated, "truncated"}, {r.Dropped, "dropped"}, {r.Empty, "empty"}} {
		if n.count > 0 {
			text += fmt.Sprintf("; %s %s", group(n.count), n.what)
		}
	}
	if r.Lost > 0 {
		text += fmt.Sprintf(" (%s tokens lost)", group(r.Lost))
	}
	return text
}

// first is the row that another one equals.
func first(row int64) string {
	if row < 0 {
		return "one of an earlier run"
	}
	return "row " + group(row)
}

// printed is text that cannot harm a terminal.
func printed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// PlannedCorpus is what a run over a corpus would do, for people.
func PlannedCorpus(p corpus.Planned) string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-11s%s\n", name, fmt.Sprintf(format, args...))
	}
	rows := "rows not known before reading"
	if p.Source.Rows >= 0 {
		rows = plural(p.Source.Rows, "row")
	}
	line("reads", "%s: %s, %s of %s, %s", strings.Join(p.Paths, " "), rows, plural(int64(p.Source.Objects), "file"), p.Format, plural(int64(p.Columns), "column"))
	line("", "%s stored%s", decimal(p.Source.Bytes), inMemory(p.Source.InMemory))
	line("memory", "--memory %s: %s for the program, %s for the directory, the rest for data; %s", mem.Flag(p.Memory),
		mem.Format(run.Base), mem.Format(p.Directory), plural(int64(p.Threads), "thread"))
	for i, pass := range p.Passes {
		line(fmt.Sprintf("%d %s", i+1, pass.Name), "%s beside reading, of which it needs %s", mem.Format(pass.Holds), mem.Format(pass.Least))
		if i == 0 && p.Chances != "" {
			line("", "%s", p.Chances)
		}
		switch {
		case pass.Scratch < 0:
			line("", "scratch files in %s, of a size not known before the rows are", p.Scratch)
		case pass.Codec != "":
			line("", "scratch files in %s, compressed (%s), about %s", p.Scratch, pass.Codec, decimal(pass.Scratch))
		case pass.About:
			line("", "scratch files in %s, about %s", p.Scratch, decimal(pass.Scratch))
		case pass.Scratch > 0:
			line("", "scratch files in %s, %s at most", p.Scratch, decimal(pass.Scratch))
		}
	}
	if p.Out != "" {
		line("writes", "%s", p.Out)
	}
	line("dry run", "nothing was written")
	return b.String()
}

// like is how a duplicate and the row that is kept relate.
func like(d *corpus.Dedup) string {
	if d.Near > 0 {
		return "≈"
	}
	return "="
}
