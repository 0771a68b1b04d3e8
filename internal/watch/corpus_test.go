package watch_test

import (
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run/corpus"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/watch"
)

func TestPlannedCorpusTexts(t *testing.T) {
	d := &corpus.Dedup{Near: 0.8, Check: true}
	p := corpus.Planned{
		Paths: []string{"raw/"}, Format: "jsonl", Columns: 2, Source: format.Info{Objects: 4, Rows: -1, Bytes: 265e6},
		Memory: 128 << 20, Directory: 20 << 20, Threads: 4, Out: "clean/", Scratch: "clean.scratch", Chances: d.Chances(),
		Passes: []corpus.PlannedPass{
			{Name: "hash", Least: 6 << 20, Holds: 60 << 20, Scratch: -1},
			{Name: "write", Least: 30 << 20, Holds: 70 << 20, Scratch: 5e9, Codec: "zstd", About: true},
			{Name: "order", Least: 28 << 20, Holds: 80 << 20},
		},
	}
	golden(t, "planned-corpus.txt", watch.PlannedCorpus(p))
}

// TestNearDuplicatesAreReportedWithTheirChances says what was found, and what may not have been.
func TestNearDuplicatesAreReportedWithTheirChances(t *testing.T) {
	for _, d := range []corpus.Dedup{{}, {Near: 0.8}} {
		made := watch.Corpus(corpus.Report{Kept: &dedup.Kept{Rows: 10, Distinct: 8}}, corpus.Config{Dedup: &d}, nil)
		var facts []string
		for _, f := range made.Facts {
			facts = append(facts, f.Text)
		}
		want := "2 of 10 rows left out (20.0%)"
		if d.Near > 0 {
			want += "\npairs that are alike are found by 9 bands of 13: 0.11% at 0.5, 1.17% at 0.6, 8.39% at 0.7, 39.9% at 0.8, 92.9% at 0.9, 99.8% at 0.95"
		}
		if got := strings.Join(facts, "\n"); got != want {
			t.Errorf("near %v:\n%s\nwant\n%s", d.Near, got, want)
		}
	}
}
