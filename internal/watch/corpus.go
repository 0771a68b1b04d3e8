package watch

import (
	"fmt"

	"github.com/weir-data/weir/internal/run/corpus"
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
	p.pass("write", r.Write)
	if c.Shuffle {
		p.pass("order", r.Order)
	}
	p.remember(c.Run.Memory, line)
	if k := r.Kept; k != nil {
		p.Facts = append(p.Facts, Fact{"duplicates", fmt.Sprintf("%s of %s rows left out (%.1f%%)",
			group(k.Rows-k.Distinct), group(k.Rows), 100*float64(k.Rows-k.Distinct)/float64(max(1, k.Rows)))})
	}
	p.Splits = []Split{{Name: "data", Rows: r.Rows, Parts: r.Parts, Bytes: r.Bytes}}
	return p
}
