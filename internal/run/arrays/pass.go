package arrays

import (
	"context"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// Pass is the writing of arrays of all splits, one after the other.
type Pass struct {
	Run    run.Config // formats, threads, memory and budget of the reading
	Store  store.ReadWriter
	Out    string // the dataset's directory
	Format string // of the parts, one of Run.Formats
	Sheets []*Sheet
	Data   *dataset.Run
	Done   []dataset.Part // the files that a run before has written
	// Checkpoint takes the files of a split once they are permanent.
	Checkpoint func([]dataset.Part) error
}

// Readable refuses parts of a format that is not among those that are read.
func Readable(formats []format.Format, parts string) error {
	if !slices.ContainsFunc(formats, func(f format.Format) bool { return f.Name == parts }) {
		return format.Error(format.ErrUsage, "npy: parts are %s, which is not among the formats that are read", parts)
	}
	return nil
}

// Write writes what is left, and says what the manifest says of all arrays.
func (p *Pass) Write(ctx context.Context) (rep run.Report, all []dataset.Array, err error) {
	done := p.Done
	for i, s := range p.Data.Splits() {
		if len(done) == i*len(p.Sheets) {
			r, made, err := p.stack(ctx, i, s)
			rep = together(rep, r)
			if err != nil {
				return rep, nil, err
			}
			done = append(done, made...)
		}
		for k, sheet := range p.Sheets {
			all = append(all, sheet.describe(done[i*len(p.Sheets)+k]))
		}
	}
	return rep, all, nil
}

// together is the report of two readings, one after the other.
func together(a, b run.Report) run.Report {
	sum := b
	if a.Rows > b.Rows {
		sum = a // what cannot be added is that of the larger
	}
	sum.Rows, sum.Batches, sum.Files, sum.Groups = a.Rows+b.Rows, a.Batches+b.Batches, a.Files+b.Files, a.Groups+b.Groups
	sum.StoredBytes, sum.MemoryBytes = a.StoredBytes+b.StoredBytes, a.MemoryBytes+b.MemoryBytes
	sum.WallSeconds, sum.PlanSeconds = a.WallSeconds+b.WallSeconds, a.PlanSeconds+b.PlanSeconds
	sum.CPUSeconds = max(a.CPUSeconds, b.CPUSeconds) // from the process's start
	sum.PeakMemory, sum.BudgetPeak = max(a.PeakMemory, b.PeakMemory), max(a.BudgetPeak, b.BudgetPeak)
	if sum.WallSeconds > 0 {
		sum.RowsPerSecond = float64(sum.Rows) / sum.WallSeconds
		sum.MBPerSecond = float64(sum.MemoryBytes) / 1e6 / sum.WallSeconds
	}
	return sum
}

// stack writes the arrays of one split and makes a checkpoint.
func (p *Pass) stack(ctx context.Context, i int, s dataset.Split) (rep run.Report, parts []dataset.Part, err error) {
	target := func(_ context.Context, in *arrow.Schema) (run.Prepared, error) {
		return p.target(in, s, func(made []dataset.Part) error {
			parts = made
			return p.Checkpoint(made)
		}), nil
	}
	if s.Parts == 0 {
		err := p.stackNothing(ctx, target)
		return rep, parts, err
	}
	objects, err := p.partsOf(ctx, i, s)
	if err != nil {
		return rep, nil, err
	}
	c := p.Run
	c.Planned, c.SkipBad, c.From = nil, false, stream.Cursor{}
	c.Paths, c.Format, c.Store = []string{s.Prefix}, p.Format, listed{p.Store, objects}
	c.Options = format.Options{Columns: p.patterns(), Threads: p.Run.Options.Threads}
	c.Sink = target
	rep, err = run.Scan(ctx, c)
	return rep, parts, err
}

// stackNothing writes the arrays of a split without rows.
func (p *Pass) stackNothing(ctx context.Context, target run.Target) error {
	prepared, err := target(ctx, nil)
	if err != nil {
		return err
	}
	share, err := p.Run.Budget.Carve("writing", prepared.Least)
	if err != nil {
		return err
	}
	defer share.Close()
	sink, err := prepared.Open(ctx, share)
	if err != nil {
		return err
	}
	return sink.Close()
}

// patterns name the columns of all sheets and no others.
func (p *Pass) patterns() (list []string) {
	plain := strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[")
	for _, s := range p.Sheets {
		for _, name := range s.Columns {
			list = append(list, plain.Replace(name))
		}
	}
	return list
}

// partsOf are the objects of a split's parts, in their order.
func (p *Pass) partsOf(ctx context.Context, split int, s dataset.Split) ([]store.Object, error) {
	prefix := strings.TrimRight(p.Out, "/") + "/" + s.Prefix
	found, err := p.Store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var list []store.Object
	err = p.Data.Parts(ctx, func(i int, part dataset.Part) error {
		if i != split {
			return nil
		}
		at, ok := slices.BinarySearchFunc(found, prefix+part.Name, func(o store.Object, url string) int { return strings.Compare(o.URL, url) })
		if !ok || found[at].Size != part.Bytes {
			return format.Error(format.ErrData, "%s%s: it is not the part that was written; --force begins anew", prefix, part.Name)
		}
		list = append(list, found[at])
		return nil
	})
	return list, err
}

// listed is a store of which the objects are known.
type listed struct {
	store.Store
	objects []store.Object
}

// List makes listed a store.Store.
func (l listed) List(context.Context, string) ([]store.Object, error) { return l.objects, nil }
