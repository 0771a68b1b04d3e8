package corpus

import (
	"context"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/format/npy"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/arrays"
	"github.com/weir-data/weir/internal/run/parts"
	"github.com/weir-data/weir/internal/stage/pack"
	"github.com/weir-data/weir/internal/store"
)

// What is written beside the parts once all of them are there: arrays of their
// rows, or an index of them where readers of their format look for one.

// planBeside refuses what cannot be written before anything is read.
func (w *work) planBeside() error {
	if !w.Npy {
		return nil
	}
	if w.Writer.Index != nil {
		return format.Error(format.ErrUsage, "npy: the parts are read back, as Parquet or Arrow; with --to %s leave --npy out", w.Writer.Name)
	}
	if err := arrays.Readable(w.Run.Formats, w.Writer.Name); err != nil {
		return err
	}
	for _, f := range w.out.Fields() {
		if w.Pack != nil && f.Name == pack.Bounds {
			continue // rows differ in how many documents they have; position_ids tell where they begin
		}
		s, err := arrays.Plain(f)
		if err != nil {
			return format.Error(format.ErrUsage, "npy: column %q is %s: neither a number nor a list of so many in every row; read other columns, or leave --npy out", f.Name, f.Type)
		}
		w.sheets = append(w.sheets, s)
	}
	return nil
}

// besideNames are the files beside the parts, in the order in which they are
// written.
func (w *work) besideNames() ([]string, error) {
	if w.Writer.Index == nil {
		return arrays.Names(w.sheets, []string{split}), nil
	}
	name, _, err := w.Writer.Index(w.out, w.Config.Write, nil)
	return []string{name}, err
}

// arraysLeast is what writing arrays needs beyond what reading the source does; 0:
// there are none.
func (w *work) arraysLeast() int64 {
	if !w.Npy {
		return 0
	}
	reading := w.Run.Budget.Limit() - w.reading.Room(w.Run)
	return max(0, arrays.Least(w.Out, w.sheets, w.groupSize())-reading)
}

// noNulls finds rows that no array can hold in the pass that reads them, and not
// in the last.
func (l *line) noNulls(rec arrow.RecordBatch) error {
	if !l.Npy || l.packer != nil {
		return nil
	}
	for i, c := range rec.Columns() {
		if row := npy.Null(c); row >= 0 {
			return format.Error(format.ErrData, "npy: row %d: column %q is null, or has one in it; leave such rows or --npy out", l.row+int64(row), rec.ColumnName(i))
		}
	}
	return nil
}

// beside writes what is left of the files beside the parts.
func (w *work) beside(ctx context.Context) (rep run.Report, all []dataset.Array, err error) {
	note := func(made []dataset.Part) error {
		return w.checkpoint(ctx, dataset.Checkpoint{Pass: passBeside, Arrays: made})
	}
	switch {
	case w.Npy:
		pass := arrays.Pass{Run: w.Run, Store: w.Store, Out: w.Out, Format: w.Writer.Name, Sheets: w.sheets, Data: w.data, Done: w.from.Arrays, Checkpoint: note}
		return pass.Write(ctx)
	case w.Writer.Index == nil:
		return rep, nil, nil
	}
	made := w.from.Arrays
	if len(made) == 0 {
		part, err := w.index(ctx)
		if err != nil {
			return rep, nil, err
		}
		made = []dataset.Part{part}
		if err := note(made); err != nil {
			return rep, nil, err
		}
	}
	return rep, []dataset.Array{{Part: made[0]}}, nil
}

// index writes the file that names all parts.
func (w *work) index(ctx context.Context) (dataset.Part, error) {
	sum := w.data.Splits()[0]
	opt := w.Config.Write
	opt.PartSize = w.partSize()
	_, one, err := w.Writer.Index(w.out, opt, []format.Part{{Name: sum.Prefix + dataset.PartName(sum.Parts, w.Writer.Ext)}})
	if err != nil {
		return dataset.Part{}, err
	}
	// The text may be moved to more memory while it grows; a part's own numbers,
	// and the ending of its name, are up to 64 characters.
	lease, err := w.Run.Budget.Acquire(ctx, (sum.Parts+1)*(3*int64(len(one)+64)+256))
	if err != nil {
		return dataset.Part{}, err
	}
	defer lease.Release()
	var list []format.Part
	err = w.data.Parts(ctx, func(_ int, p dataset.Part) error {
		list = append(list, format.Part{Name: sum.Prefix + p.Name, Rows: p.Rows, Bytes: p.Bytes, Raw: p.Raw})
		return nil
	})
	if err != nil {
		return dataset.Part{}, err
	}
	name, text, err := w.Writer.Index(w.out, opt, list)
	if err != nil {
		return dataset.Part{}, err
	}
	least, _ := store.WriteCost(w.Out)
	share, err := w.Run.Budget.Carve("index", least)
	if err != nil {
		return dataset.Part{}, err
	}
	defer share.Close()
	f, err := parts.Create(ctx, w.Store, strings.TrimRight(w.Out, "/")+"/", name, share)
	if err != nil {
		return dataset.Part{}, err
	}
	defer f.Out.Abort()
	if _, err := f.Write(text); err != nil {
		return dataset.Part{}, err
	}
	if err := f.Out.Commit(ctx); err != nil {
		return dataset.Part{}, err
	}
	return dataset.Part{Name: name, Rows: sum.Rows, Bytes: f.Sent.N, Digest: f.Sum.String()}, nil
}
