// Package prepare makes a dataset of splits out of raw rows, in two passes over
// one planned reading: the first fits on the rows of the train split, the
// second transforms all rows and writes them as Parquet parts.
//
// The parts are the same bytes for every number of threads, every size of the
// reader's batches and, from the memory on that the largest row group needs,
// every budget. A run that was ended at any moment goes on from its last
// checkpoint, to the same bytes.
package prepare

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/mem"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/stage/scale"
	"github.com/weir-data/weir/internal/stage/split"
	"github.com/weir-data/weir/internal/store"
)

// Config is one preparation. What decides which bytes are written must be in
// Recipe, in one spelling: a run goes on only with the work of the same one.
type Config struct {
	// Run is the reading: paths, options, formats, memory and budget. Sink,
	// Planned and From are not used.
	Run run.Config
	// Store is where Out lies.
	Store store.ReadWriter
	Out   string // a directory or prefix
	Force bool   // replaces a dataset or an unfinished run that is there

	Split split.Config // its seed is Seed
	Scale scale.Config
	Prior *scale.Params // whose fit is continued; its rules and dtype are taken where Scale has none; nil: none

	// Writer writes the parts: Parquet. PartSize is the bytes of rows, as they
	// are read and of all splits together, that one part of each split is made
	// of; 0: a 32nd of the source, but 64 MiB to 256 MiB. RowGroup is that of
	// the largest split; 0: a 16th of the memory, but 1 MiB to 16 MiB. Steady
	// and Threads are set.
	Writer format.Writer
	Write  format.WriteOptions
	// Npy writes arrays of every split beside its parts, in a third pass: X of
	// the features and, where there is a label, y.
	Npy bool
	// Shapes counts how the values of a few columns are distributed, before
	// and after.
	Shapes bool

	Recipe  string
	Seed    uint64
	Version string // program and version
	// Every is the time between checkpoints of the first pass; 0: 30 s.
	Every time.Duration
	// Note, if not nil, is told why the beginning waits.
	Note func(text string)
}

// Report is what a preparation did.
type Report struct {
	// Finished says that all was done before, and only tidied up.
	Finished bool
	Fit      run.Report // the first pass; zero where a run before had done it
	Write    run.Report // the second
	Arrays   run.Report // the third, of all splits together; zero where Npy is not set too
	Splits   []dataset.Split
	Params   *scale.Params // what is known of the columns of the train split
	Look     Look          // what the columns looked like
}

// The passes, as checkpoints number them.
const (
	passFit    = 1
	passWrite  = 2
	passArrays = 3
)

// work is a preparation under way.
type work struct {
	Config
	reading *run.Reading
	assign  *split.Assigner
	train   int // index of the split that is fitted on
	design  *scale.Design
	data    *dataset.Run
	from    *dataset.Resumed
	params  *scale.Params
	state   state // of the second pass
	look    *looking
}

// Run prepares. On an error what was done up to the last checkpoint stays, for
// the same Config to go on with. Refusals are those of dataset.Begin and
// run.Scan.
func Run(ctx context.Context, c Config) (Report, error) {
	w, err := plan(ctx, c)
	if err != nil {
		return Report{}, err
	}
	share, end, err := w.directory()
	if err != nil {
		return Report{}, err
	}
	defer end()
	place := dataset.Place{Store: c.Store, URL: c.Out, Share: share, Note: c.Note}
	if w.data, w.from, err = dataset.Begin(ctx, place, w.plan(), c.Force); err != nil {
		return Report{}, err
	}
	if w.from.Finished {
		return Report{Finished: true}, nil
	}
	defer w.data.Abort()
	rep, err := w.passes(ctx)
	return rep, w.besides(err, share.Limit())
}

// directory takes what the directory and the program need out of the budget, and
// leaves the rest to the passes.
func (w *work) directory() (share *mem.Budget, end func(), err error) {
	cost, whole := dataset.Cost(w.Out)+run.ProgramBytes, w.Run.Budget
	if share, err = whole.Carve("dataset", cost); err != nil {
		return nil, nil, w.refuse(cost)
	}
	if w.Run.Budget, err = whole.Carve("passes", whole.Free()); err != nil {
		share.Close()
		return nil, nil, err
	}
	return share, func() { w.Run.Budget.Close(); share.Close() }, nil
}

// plan looks at the source and at what is to be done with it.
func plan(ctx context.Context, c Config) (*work, error) {
	c.Split.Seed = c.Seed
	c.Write.Steady = true
	if c.Every == 0 {
		c.Every = 30 * time.Second
	}
	w := &work{Config: c}
	var err error
	if w.reading, err = run.Open(ctx, c.Run); err != nil {
		return nil, err
	}
	w.Run.Planned = w.reading
	if w.Write.PartSize == 0 {
		w.Write.PartSize = partSize(w.reading.Info())
	}
	if w.assign, err = w.assigner(); err != nil {
		return nil, err
	}
	w.train = max(0, slices.Index(w.assign.Names(), "train"))
	if w.design, err = w.newDesign(); err == nil && c.Npy {
		err = w.planArrays()
	}
	return w, err
}

// partSize is what suits a source: enough parts for many threads, but not
// small ones.
func partSize(source format.Info) int64 {
	return max(64<<20, min(source.InMemory/32, 256<<20))
}

// assigner makes one that has seen no rows.
func (w *work) assigner() (*split.Assigner, error) {
	source := split.Source{Paths: w.Run.Paths}
	for _, o := range w.reading.Objects() {
		source.Objects = append(source.Objects, o.URL)
	}
	return split.New(w.Split, w.reading.Schema(), source)
}

// plan is what the dataset knows the run by.
func (w *work) plan() dataset.Plan {
	return dataset.Plan{CreatedBy: w.Version, Recipe: w.Recipe, Seed: w.Seed, Source: w.reading.Objects(), Splits: w.assign.Names(), Arrays: w.arrayNames()}
}

// passes does what is left to do.
func (w *work) passes(ctx context.Context) (rep Report, err error) {
	c := w.Run
	if w.from.Pass < passWrite {
		c.Sink, c.From = w.fitTarget, w.from.Cursor
		if rep.Fit, err = run.Scan(ctx, c); err != nil {
			return rep, err
		}
		// The second pass deals the rows out anew.
		if w.assign, err = w.assigner(); err != nil {
			return rep, err
		}
		w.from = &dataset.Resumed{Splits: w.data.Splits()}
	} else if err = w.resume(ctx, w.data.State); err != nil {
		return rep, err
	}
	rep.Params = w.params
	out, err := w.design.Out(w.params)
	if err != nil {
		return rep, err
	}
	if w.look, err = w.newLooking(out); err != nil {
		return rep, err
	}
	if w.from.Pass != passArrays {
		if rep.Write, err = w.write(ctx, out); err != nil {
			return rep, err
		}
	}
	rep.Splits = w.data.Splits()
	rep.Look = w.looked(out)
	// Of a state the spelling is another.
	params, err := w.params.Encode()
	if err != nil {
		return rep, err
	}
	end := dataset.Ending{Schema: out, Params: params}
	if w.Npy {
		if rep.Arrays, end.Arrays, err = w.writeArrays(ctx, out); err != nil {
			return rep, err
		}
	}
	return rep, w.data.Finish(ctx, end)
}

// state is what the second pass goes on with.
type state struct {
	// Group is the bytes of a row group of the largest split; 0: not chosen.
	Group  int64           `json:"row_group"`
	Spans  spans           `json:"spans"`
	Assign []byte          `json:"assign,omitempty"` // the Assigner's
	Params json.RawMessage `json:"params"`
	Heavy  int64           `json:"heavy,omitempty"` // what the heaviest row has beside what is fixed
	Look   *lookState      `json:"look,omitempty"`
}

// resume takes the second pass up, with a state that is read by read.
func (w *work) resume(ctx context.Context, read func(context.Context, []byte) error) error {
	err := w.from.Decode(ctx, w.Out, w.Run.Budget, read, &w.state)
	if err != nil {
		return err
	}
	if w.params, err = scale.Decode(w.state.Params); err != nil {
		return err
	}
	if w.state.Assign == nil {
		return nil
	}
	return w.assign.Restore(w.state.Assign)
}
