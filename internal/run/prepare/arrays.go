package prepare

import (
	"context"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/arrays"
	"github.com/weir-data/weir/internal/stage/scale"
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
	sheets := []*arrays.Sheet{{Name: lettered("X")}}
	if w.Scale.Label != "" {
		sheets = append(sheets, &arrays.Sheet{Name: lettered("y")})
	}
	return arrays.Names(sheets, w.assign.Names())
}

// lettered names the files of a sheet.
func lettered(letter string) func(string) string {
	return func(split string) string { return letter + "_" + split + ".npy" }
}

// planArrays refuses what cannot be an array before anything is read.
func (w *work) planArrays() error {
	if err := arrays.Readable(w.Run.Formats, w.Writer.Name); err != nil {
		return err
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
	i, why := arrays.NoInteger(b.Record.Column(b.Record.Schema().FieldIndices(w.Scale.Label)[0]))
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

// sheets are the arrays of every split: X, and y where there is a label.
func (w *work) sheets(out *arrow.Schema, p *scale.Params) []*arrays.Sheet {
	x := &arrays.Sheet{Name: lettered("X"), Columns: w.features(out, p), Type: arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType)}
	if w.Scale.Dtype == "float32" {
		x.Type = arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType)
	}
	label, ok := out.FieldsByName(w.Scale.Label)
	if !ok {
		return []*arrays.Sheet{x}
	}
	y := &arrays.Sheet{Name: lettered("y"), Columns: []string{w.Scale.Label}, Type: arrow.PrimitiveTypes.Int64.(arrow.FixedWidthDataType), Vector: true}
	switch label[0].Type.ID() {
	case arrow.FLOAT64:
		y.Type = arrow.PrimitiveTypes.Float64.(arrow.FixedWidthDataType)
	case arrow.FLOAT32, arrow.FLOAT16:
		y.Type = arrow.PrimitiveTypes.Float32.(arrow.FixedWidthDataType)
	}
	return []*arrays.Sheet{x, y}
}

// arraysLeast is about what the third pass needs, reading included; 0: there is
// none. Out is the schema of the parts.
func (w *work) arraysLeast(out *arrow.Schema) int64 {
	if !w.Npy {
		return 0
	}
	return arrays.Least(w.Out, w.sheets(out, &scale.Params{}), w.groupSizes()[0])
}

// writeArrays is the third pass.
func (w *work) writeArrays(ctx context.Context, out *arrow.Schema) (run.Report, []dataset.Array, error) {
	pass := arrays.Pass{Run: w.Run, Store: w.Store, Out: w.Out, Format: w.Writer.Name, Sheets: w.sheets(out, w.params), Data: w.data, Done: w.from.Arrays}
	pass.Checkpoint = func(made []dataset.Part) error {
		return w.data.Checkpoint(ctx, dataset.Checkpoint{Pass: passArrays, Arrays: made})
	}
	return pass.Write(ctx)
}
