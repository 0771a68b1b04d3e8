package prepare

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
)

// Planned is what Run would do. What depends on the fit, as the number of
// columns that one-hot encoding makes, is not known before: then memory is at
// least what it says, and numbers of tasks, parts and rows are about right.
type Planned struct {
	Paths   []string
	Format  string
	Source  format.Info
	Columns int

	Memory    int64 // --memory
	Directory int64 // of it, for the directory's own files
	Threads   int

	Out     string
	Found   *dataset.Standing
	Passes  []PlannedPass
	Splits  []PlannedSplit
	Arrays  []string // names of files
	Group   int64    // of the largest split, bytes; 0: nothing is left to write
	PerPart int64    // bytes of rows, of all splits together, that make a part of each
}

// PlannedPass is one of the passes, in their order.
type PlannedPass struct {
	Number int
	Name   string // fit, write or arrays
	// Done says that a run before has done it, Goes that it goes on with one.
	Done, Goes bool
	Tasks      int64 // -1: not known
	Left       int64 // of them, that are not done; -1: not known
	// AtLeast says that what is needed is known only behind the fit.
	AtLeast bool
	// Memory is of each reader and what takes its rows; Side 0: only WorkLeast
	// is known, for both together.
	Memory run.Division
}

// PlannedSplit is what will be written of a split.
type PlannedSplit struct {
	Name, Prefix string
	Rows, Parts  int64 // about; -1: not known
}

// Plan says what Run would do and refuses what Run would refuse, with the same
// error, but reads no rows and writes nothing.
func Plan(ctx context.Context, c Config) (Planned, error) {
	w, err := plan(ctx, c)
	if err != nil {
		return Planned{}, err
	}
	share, end, err := w.directory()
	if err != nil {
		return Planned{}, err
	}
	defer end()
	found, err := dataset.Look(ctx, dataset.Place{Store: c.Store, URL: c.Out, Share: share}, w.plan(), c.Force)
	if err != nil {
		return Planned{}, err
	}
	p := Planned{Paths: c.Run.Paths, Format: w.reading.Format(), Source: w.reading.Info(), Columns: w.reading.Schema().NumFields(),
		Memory: c.Run.Memory, Directory: share.Limit(), Threads: max(1, c.Run.Options.Threads),
		Out: strings.TrimRight(c.Out, "/") + "/", Found: found, Arrays: w.arrayNames(), PerPart: w.Write.PartSize}
	if found.Resumed.Finished {
		return p, nil
	}
	w.from = &found.Resumed
	err = w.planPasses(ctx, &p)
	return p, w.besides(err, share.Limit())
}

// planPasses says what is left to do.
func (w *work) planPasses(ctx context.Context, p *Planned) error {
	fit := PlannedPass{Number: passFit, Name: "fit", Tasks: 1, Left: 1, Goes: w.from.Going}
	write := PlannedPass{Number: passWrite, Name: "write", AtLeast: true, Tasks: w.spansAbout()}
	params := w.design.Expect(1)
	out, err := w.design.Out(params)
	if err != nil {
		return err
	}
	if w.from.Pass < passWrite {
		least, err := w.fitTarget(ctx, w.reading.Schema())
		if err != nil {
			return err
		}
		if fit.Memory, err = w.reading.Division(w.Run, least); err != nil {
			return err
		}
		write.Left = write.Tasks
	} else {
		fit.Done, fit.Left, write.Goes, write.AtLeast = true, 0, true, false
		if err := w.resume(ctx, p.Found.State); err != nil {
			return err
		}
		if params = w.params; w.from.Pass == passArrays {
			write.Done, write.Left = true, 0
		}
		if out, err = w.design.Out(params); err != nil {
			return err
		}
	}
	if !write.Done {
		if err := w.planWrite(&write, out, params); err != nil {
			return err
		}
		p.Group = w.state.Group
	}
	p.Passes = append(p.Passes, fit, write)
	if w.Npy {
		p.Passes = append(p.Passes, w.planArraysPass(out, write.AtLeast))
	}
	p.Splits = w.splitsAbout(write.Tasks, p.Out)
	return nil
}

// spansAbout is how many spans there will be; -1: not known.
func (w *work) spansAbout() int64 {
	if n := w.reading.Info().InMemory; n > 0 {
		return max(1, (n+w.Write.PartSize-1)/w.Write.PartSize)
	}
	return -1
}

// planWrite fills in the second pass. Before the fit there is one category of
// each column that is encoded.
func (w *work) planWrite(pass *PlannedPass, out *arrow.Schema, params *scale.Params) error {
	if w.state.Group == 0 {
		if err := w.chooseGroup(out, params); err != nil {
			return err
		}
	}
	if pass.Goes {
		all, err := w.state.Spans.all(len(w.from.Splits))
		if err != nil {
			return err
		}
		parts := make([]int64, len(w.from.Splits))
		for i, s := range w.from.Splits {
			parts[i] = s.Parts
		}
		rest, err := left(all, parts)
		if err != nil {
			return err
		}
		pass.Tasks, pass.Left = int64(len(all)), int64(len(rest))
	}
	var err error
	pass.Memory, err = w.reading.PiecesDivision(w.Run, int(max(1, pass.Left)), w.assign.State() != nil,
		func(threads int) (least, most int64) {
			least, most, _ = w.writeMemory(out, params, w.state.Group, threads) // it worked with other threads
			return least, most
		})
	return err
}

// planArraysPass is the third pass, of which the parts that it reads are not
// there yet.
func (w *work) planArraysPass(out *arrow.Schema, atLeast bool) PlannedPass {
	pass := PlannedPass{Number: passArrays, Name: "arrays", AtLeast: atLeast, Goes: w.from.Pass == passArrays,
		Tasks: int64(len(w.assign.Names())), Memory: run.Division{WorkLeast: w.arraysLeast(out)}}
	files := max(1, len(w.arrayNames())/len(w.assign.Names()))
	pass.Left = pass.Tasks - int64(len(w.from.Arrays)/files)
	return pass
}

// splitsAbout is what will be written where, by so many tasks.
func (w *work) splitsAbout(tasks int64, out string) (list []PlannedSplit) {
	shares, rows := w.Split.Shares(), w.reading.Info().Rows
	for i, name := range w.assign.Names() {
		s := PlannedSplit{Name: name, Prefix: out + name + "/", Rows: -1, Parts: tasks}
		if shares != nil && rows >= 0 {
			s.Rows = int64(float64(rows)*shares[i] + 0.5)
		}
		list = append(list, s)
	}
	return list
}
