package watch_test

import (
	"strings"
	"testing"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/prepare"
	"github.com/weir-data/weir/internal/watch"
)

func TestPlannedTexts(t *testing.T) {
	fresh := prepare.Planned{
		Paths: []string{"raw/"}, Format: "parquet", Columns: 34,
		Source: format.Info{Objects: 4, Rows: 1_000_000, Bytes: 265e6, InMemory: 272e6},
		Memory: 128 << 20, Directory: 2 << 20, Threads: 4, Out: "prepared/", Found: &dataset.Standing{Kind: dataset.Nothing},
		Passes: []prepare.PlannedPass{
			{Number: 1, Name: "fit", Tasks: 1, Left: 1, Memory: run.Division{Side: 1, Threads: 4, ReadLeast: 8 << 20, Read: 78 << 20, WorkLeast: 20 << 20, Work: 24 << 20, Heap: 4 << 20}},
			{Number: 2, Name: "write", Tasks: 5, Left: 5, AtLeast: true, Memory: run.Division{Side: 2, Threads: 2, ReadLeast: 4 << 20, Read: 15 << 20, WorkLeast: 20 << 20, Work: 35 << 20, Heap: 4 << 20}},
			{Number: 3, Name: "arrays", Tasks: 2, Left: 2, AtLeast: true, Memory: run.Division{WorkLeast: 21 << 20}},
		},
		Splits: []prepare.PlannedSplit{{Name: "train", Prefix: "prepared/train/", Rows: 800_000, Parts: 5}, {Name: "val", Prefix: "prepared/val/", Rows: 200_000, Parts: 5}},
		Arrays: []string{"X_train.npy", "X_val.npy"}, Group: 8 << 20, PerPart: 64 << 20,
	}
	// A run that was ended in its second pass, of a source that does not say how
	// many rows it has.
	goes := fresh
	goes.Source = format.Info{Objects: 1, Rows: -1, Bytes: 1e9}
	goes.Found = &dataset.Standing{Kind: dataset.Unfinished, Claimed: "process 7 on elsewhere", Resumed: dataset.Resumed{Going: true, Pass: 2}}
	goes.Passes = []prepare.PlannedPass{
		{Number: 1, Name: "fit", Done: true},
		{Number: 2, Name: "write", Goes: true, Tasks: 5, Left: 2, Memory: fresh.Passes[0].Memory},
		fresh.Passes[2],
	}
	goes.Splits = []prepare.PlannedSplit{{Name: "train", Prefix: "prepared/train/", Rows: -1, Parts: -1}}
	// One that was ended in its first, and types that only the fit makes such as
	// can be written.
	early := fresh
	early.Found = &dataset.Standing{Kind: dataset.Unfinished, Resumed: dataset.Resumed{Going: true, Pass: 1}}
	early.Passes = []prepare.PlannedPass{fresh.Passes[0], {Number: 2, Name: "write", Tasks: -1, AtLeast: true}}
	early.Passes[0].Goes, early.Group, early.Arrays = true, 0, nil
	texts := []string{watch.Planned(fresh), watch.Planned(goes), watch.Planned(early)}
	for _, f := range []dataset.Standing{
		{Kind: dataset.Finished, Removes: true},
		{Kind: dataset.Finished, Resumed: dataset.Resumed{Finished: true}},
		{Kind: dataset.Another, Removes: true, Why: "the source has changed: raw/a.csv is new"},
		{Kind: dataset.Unfinished},
	} {
		p := prepare.Planned{Paths: []string{"raw/"}, Format: "csv", Out: "prepared/", Found: &f}
		_, text, _ := strings.Cut(watch.Planned(p), "found")
		texts = append(texts, "found"+text)
	}
	golden(t, "planned.txt", strings.Join(texts, "\n"))
}
