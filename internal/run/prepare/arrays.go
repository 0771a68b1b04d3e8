package prepare

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/store"
	"github.com/weir-data/weir/internal/stream"
)

// The third pass, where arrays are asked for, reads each split's parts back, in
// their order, and writes X_split.npy, a matrix of its features, and
// y_split.npy, its labels, side by side. Once both are permanent there is a
// checkpoint.

// arrayNames are all files, in the order in which they are written.
func (w *work) arrayNames() (names []string) {
	if !w.Npy {
		return nil
	}
	for _, split := range w.assign.Names() {
		names = append(names, arrayName("X", split))
		if w.Scale.Label != "" {
			names = append(names, arrayName("y", split))
		}
	}
	return names
}

func arrayName(letter, split string) string { return letter + "_" + split + ".npy" }

// planArrays refuses what cannot be an array before anything is read.
func (w *work) planArrays() error {
	if !slices.ContainsFunc(w.Run.Formats, func(f format.Format) bool { return f.Name == w.Writer.Name }) {
		return format.Error(format.ErrUsage, "npy: parts are %s, which is not among the formats that are read", w.Writer.Name)
	}
	in := w.reading.Schema()
	if label, ok := in.FieldsByName(w.Scale.Label); ok && !isNumber(label[0].Type) {
		return format.Error(format.ErrUsage, "npy: label %q is %s, not a number; encode it beforehand or leave --npy out", label[0].Name, label[0].Type)
	}
	rules := len(w.Scale.Scale) + len(w.Scale.Encode) + len(w.Scale.Impute)
	if rules == 0 && len(w.features(in, &scale.Params{})) == 0 {
		return format.Error(format.ErrUsage, "npy: there is no column of numbers beside the label, columns that are kept and those that decide the split")
	}
	return nil
}

// isNumber says that a column can be one of an array.
func isNumber(t arrow.DataType) bool {
	return t.ID() == arrow.BOOL || arrow.IsInteger(t.ID()) || arrow.IsFloating(t.ID())
}

// features are the columns of X, in the order of out: all numbers but the
// label, what is kept, and what decides the split unless a rule works on it.
func (w *work) features(out *arrow.Schema, p *scale.Params) []string {
	var names, decide []string
	for _, f := range w.reading.Schema().Fields() {
		names = append(names, f.Name)
	}
	apart := map[string]bool{w.Scale.Label: true}
	for _, k := range w.Scale.Keep {
		if slices.Contains(names, k) {
			apart[k] = true
			continue
		}
		at, _ := format.Match(names, []string{k}) // the design has found it good
		for _, i := range at {
			apart[names[i]] = true
		}
	}
	decide = append(decide, w.Split.Range.Column, w.Split.Column, w.Split.Stratify)
	for _, name := range append(decide, w.Split.By...) {
		c := p.Column(name)
		if c == nil || c.Impute+c.Encode == "" && (c.Scale == "" || c.Scale == "none") {
			apart[name] = true
		}
	}
	var list []string
	for _, f := range out.Fields() {
		if isNumber(f.Type) && !apart[f.Name] {
			list = append(list, f.Name)
		}
	}
	return list
}

// checkLabels finds labels that an array of integers cannot hold: those of b,
// which begins at a cursor, so that a run fails in its first pass and not in
// its last.
func (w *work) checkLabels(b *stream.Batch, before stream.Cursor) error {
	if !w.Npy || w.Scale.Label == "" {
		return nil
	}
	i, why := badLabel(b.Record.Column(b.Record.Schema().FieldIndices(w.Scale.Label)[0]))
	if why == "" {
		return nil
	}
	object, row := b.First(before)
	if row += int64(i); b.Objects != nil {
		object, row = b.Objects[i], 0
	}
	return format.Error(format.ErrData, "%s: row %d: label %q is %s; leave such rows or --npy out",
		w.reading.Objects()[object].URL, row, w.Scale.Label, why)
}

// badLabel is the first value that has no place in an array; "": none.
func badLabel(c arrow.Array) (row int, why string) {
	if arrow.IsFloating(c.DataType().ID()) {
		return 0, ""
	}
	if c.NullN() > 0 {
		for i := range c.Len() {
			if c.IsNull(i) {
				return i, "null, which is no integer"
			}
		}
	}
	if big, ok := c.(*array.Uint64); ok {
		for i, v := range big.Uint64Values() {
			if v>>63 != 0 {
				return i, fmt.Sprintf("%d, which is no int64", v)
			}
		}
	}
	return 0, ""
}

// writeArrays is the third pass.
func (w *work) writeArrays(ctx context.Context, out *arrow.Schema) (rep run.Report, all []dataset.Array, err error) {
	sheets := w.sheets(out, w.params)
	done := w.from.Arrays
	for i, s := range w.data.Splits() {
		if len(done) == i*len(sheets) {
			r, parts, err := w.stack(ctx, i, s, sheets)
			rep = together(rep, r)
			if err != nil {
				return rep, nil, err
			}
			done = append(done, parts...)
		}
		for k, sheet := range sheets {
			all = append(all, sheet.describe(done[i*len(sheets)+k]))
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
func (w *work) stack(ctx context.Context, i int, s dataset.Split, sheets []*sheet) (rep run.Report, parts []dataset.Part, err error) {
	target := func(_ context.Context, in *arrow.Schema) (run.Prepared, error) {
		return w.stackTarget(in, s, sheets, func(made []dataset.Part) error {
			parts = made
			return w.data.Checkpoint(ctx, dataset.Checkpoint{Pass: passArrays, Arrays: made})
		}), nil
	}
	if s.Parts == 0 {
		err := w.stackNothing(ctx, target)
		return rep, parts, err
	}
	objects, err := w.partsOf(ctx, i, s)
	if err != nil {
		return rep, nil, err
	}
	c := w.Run
	c.Planned, c.SkipBad, c.From = nil, false, stream.Cursor{}
	c.Paths, c.Format, c.Store = []string{s.Prefix}, w.Writer.Name, listed{w.Store, objects}
	c.Options = format.Options{Columns: patterns(sheets), Threads: w.Run.Options.Threads}
	c.Sink = target
	rep, err = run.Scan(ctx, c)
	return rep, parts, err
}

// stackNothing writes the arrays of a split without rows.
func (w *work) stackNothing(ctx context.Context, target run.Target) error {
	p, err := target(ctx, nil)
	if err != nil {
		return err
	}
	share, err := w.Run.Budget.Carve("writing", p.Least)
	if err != nil {
		return err
	}
	defer share.Close()
	sink, err := p.Open(ctx, share)
	if err != nil {
		return err
	}
	return sink.Close()
}

// patterns name the columns of all sheets and no others.
func patterns(sheets []*sheet) (list []string) {
	plain := strings.NewReplacer("\\", "\\\\", "*", "\\*", "?", "\\?", "[", "\\[")
	for _, s := range sheets {
		for _, name := range s.columns {
			list = append(list, plain.Replace(name))
		}
	}
	return list
}

// partsOf are the objects of a split's parts, in their order.
func (w *work) partsOf(ctx context.Context, split int, s dataset.Split) ([]store.Object, error) {
	prefix := strings.TrimRight(w.Out, "/") + "/" + s.Prefix
	found, err := w.Store.List(ctx, prefix)
	if err != nil {
		return nil, err
	}
	var list []store.Object
	err = w.data.Parts(ctx, func(i int, p dataset.Part) error {
		if i != split {
			return nil
		}
		at, ok := slices.BinarySearchFunc(found, prefix+p.Name, func(o store.Object, url string) int { return strings.Compare(o.URL, url) })
		if !ok || found[at].Size != p.Bytes {
			return format.Error(format.ErrData, "%s%s: it is not the part that was written; --force begins anew", prefix, p.Name)
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
