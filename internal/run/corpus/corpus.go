// Package corpus makes a dataset of documents out of raw rows, in one run: it
// leaves out duplicates, makes tokens of texts, packs them into rows of one
// length, and puts the rows in a random order. What is not asked for costs
// nothing: there is no pass for it and nothing lies on disk between two stages.
//
//	pass 1  hash    keys of all rows ─► which rows are the first of their kind     only to leave out duplicates
//	pass 2  write   rows ─► kept ─► tokens ─► packed ─► parts, or scratch files
//	pass 3  order   scratch files ─► rows in the order of their keys ─► parts      only to shuffle
//
// Rows come in chapters, whose ends are decided by the rows alone. Behind a
// chapter a run that was killed goes on, and writes the same bytes.
package corpus

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/weir-data/weir/internal/dataset"
	"github.com/weir-data/weir/internal/format"
	"github.com/weir-data/weir/internal/run"
	"github.com/weir-data/weir/internal/run/arrays"
	"github.com/weir-data/weir/internal/spill"
	"github.com/weir-data/weir/internal/stage/dedup"
	"github.com/weir-data/weir/internal/stage/dedup/near"
	"github.com/weir-data/weir/internal/stage/pack"
	"github.com/weir-data/weir/internal/stage/shuffle"
	"github.com/weir-data/weir/internal/stage/tokenize"
	"github.com/weir-data/weir/internal/store"
)

// Config is one run. What decides which bytes are written must be in Recipe, in
// one spelling: a run goes on only with the work of the same one.
type Config struct {
	// Run is the reading: paths, options, formats, memory and budget. Sink,
	// Planned and From are not used.
	Run run.Config
	// Store is where Out lies.
	Store store.ReadWriter
	Out   string // a directory or prefix; "": duplicates are counted, tokens are checked, and nothing is written
	Force bool   // replaces a dataset or an unfinished run that is there
	// Scratch is a directory on disk for what does not fit in memory.
	Scratch string
	// ScratchCodec is how rows are compressed there: none, or zstd; "": zstd where
	// they would not find room otherwise. It changes no byte of the output.
	ScratchCodec string
	// Disk is what scratch files are made with; nil: the operating system.
	Disk spill.System

	Dedup    *Dedup        // nil: duplicates stay
	Tokenize *Tokenize     // nil: rows stay as they are
	Pack     *pack.Options // nil: rows are not packed
	Shuffle  bool

	// Writer writes the parts. PartSize is the bytes of rows that a part is
	// made of; 0: 256 MiB. RowGroup 0 is a 16th of the memory, but 1 MiB to
	// 16 MiB. Steady and Threads are set.
	//
	// A format that has an index of its files gets it beside the directory of
	// the parts, which end where the format says. One is made in memory: PartSize
	// 0 is then 64 MiB, or an 8th of the memory where that is less.
	Writer format.Writer
	Write  format.WriteOptions
	// Npy writes an array of every column beside the parts, in one pass more.
	Npy bool

	Recipe  string
	Seed    uint64
	Version string // program and version
	// Every is the time between checkpoints where no part is written; 0: 30 s.
	Every time.Duration
	// Note, if not nil, is told why the beginning waits.
	Note func(text string)
}

// Dedup says which rows are duplicates.
type Dedup struct {
	By        []string // columns that are compared; none: all
	Normalize bool     // texts are compared without regard to case, spaces and Unicode form
	// Against are files of keys of earlier runs, whose rows count as seen; Save
	// is where those of this one go, a file on this machine; "": nowhere.
	Against []string
	Save    string
	Show    int // so many examples of what was left out are told

	// Near, if not 0, is the Jaccard similarity of texts from which on rows are
	// duplicates: of n-grams of Ngram words, or bytes. Check compares what is
	// found once more, by signatures, Exact by the n-grams themselves; one of them
	// at most.
	Near  float64
	Ngram int // 0: 5
	Bytes bool
	Check bool
	Exact bool
}

// Example is a row that was left out, and the one that it equals.
type Example struct {
	Row, First int64  // First is -1: of an earlier run
	Text       string // of the row
}

// Report is what a run did.
type Report struct {
	// Finished says that all was done before, and only tidied up.
	Finished bool
	Hash     run.Report // zero where there is no such pass, or a run before had done it
	Write    run.Report
	Order    run.Report
	Arrays   run.Report  // zero where there are none
	Kept     *dedup.Kept // nil: duplicates were not looked for
	Examples []Example   // of what was left out, as many as were asked for
	Tokens   int64       // that were made
	Cut      int64       // rows that were cut behind the most tokens that they may have
	Packed   pack.Report
	// Differ is how many rows have tokens that do not decode to their text,
	// where that was asked for, and Differences are some of them.
	Differ      int64
	Differences []tokenize.Difference
	Rows        int64 // written
	Bytes       int64
	Parts       int64
	// Rows on scratch disk, as far as this run compressed them: bytes, and what
	// they took.
	ScratchPlain, ScratchStored int64
}

// The passes, as checkpoints number them.
const (
	passHash  = 1
	passWrite = 2
	passOrder = 3
	passDone  = 4 // nothing is left to do that needs scratch files
	// passBeside is that of what lies beside the parts.
	passBeside = 5
)

// split is the name of the one split.
const split = "data"

// work is a run under way.
type work struct {
	Config
	reading *run.Reading
	out     *arrow.Schema   // of the parts
	sheets  []*arrays.Sheet // that are written beside them
	data    *dataset.Run
	from    *dataset.Resumed
	scratch *spill.Dir // nil: none is needed
	state   state

	differ      int64
	differences []tokenize.Difference

	scratchPlain, scratchStored int64 // of rows that were compressed
}

// state is what a run goes on with, beside the cursor.
type state struct {
	Group int64 `json:"row_group,omitempty"` // bytes of a row group; 0: not chosen
	Part  int64 `json:"part_size,omitempty"` // bytes of a part; 0: not chosen
	// Window is the bytes of packing; 0: not chosen.
	Window int64        `json:"pack_window,omitempty"`
	Set    *dedup.State `json:"set,omitempty"` // of the first pass
	Near   *near.State  `json:"near,omitempty"`
	Kept   *dedup.Kept  `json:"kept,omitempty"`

	// Of the second pass, behind a chapter: Skip rows behind the cursor were
	// read too, Row in all, and Done were given on.
	Skip int64 `json:"skip,omitempty"`
	Row  int64 `json:"row,omitempty"`
	Done int64 `json:"done,omitempty"`

	Tokens int64       `json:"tokens,omitempty"`
	Cut    int64       `json:"cut,omitempty"` // rows that were too long
	Packed pack.Report `json:"packed"`

	Codec      string         `json:"scratch_codec,omitempty"` // of rows on scratch disk; "": not chosen
	Partitions int            `json:"partitions,omitempty"`
	Scattered  *shuffle.State `json:"scattered,omitempty"`
	// Of the third pass: rows of a partition that were written.
	Partition int   `json:"partition,omitempty"`
	Ordered   int64 `json:"ordered,omitempty"`
}

// Run makes the dataset. On an error what was done up to the last checkpoint
// stays, for the same Config to go on with. Refusals are those of dataset.Begin
// and run.Scan.
func Run(ctx context.Context, c Config) (Report, error) {
	w, err := plan(ctx, c)
	if err != nil {
		return Report{}, err
	}
	if c.Out == "" {
		return w.look(ctx)
	}
	share, end, err := w.directory()
	if err != nil {
		return Report{}, err
	}
	defer end()
	if err := w.chooseCodec(); err != nil {
		return Report{}, err
	}
	if err := w.fits(); err != nil {
		return Report{}, err
	}
	place := dataset.Place{Store: c.Store, URL: c.Out, Share: share, Note: c.Note}
	known := dataset.Plan{CreatedBy: c.Version, Recipe: c.Recipe, Seed: c.Seed, Source: w.reading.Objects(), Splits: []string{split}}
	if known.Arrays, err = w.besideNames(); err != nil {
		return Report{}, err
	}
	if w.data, w.from, err = dataset.Begin(ctx, place, known, c.Force); err != nil {
		return Report{}, err
	}
	if w.from.Finished {
		return Report{Finished: true}, nil
	}
	defer w.data.Abort()
	if w.needsScratch() {
		if w.scratch, err = spill.OpenWith(c.Scratch, spill.Options{System: c.Disk}); err != nil {
			return Report{}, err
		}
	}
	return w.passes(ctx)
}

// plan looks at the source and at what is to be done with it.
func plan(ctx context.Context, c Config) (*work, error) {
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
	if err := w.schemas(); err != nil {
		return nil, err
	}
	return w, w.planBeside()
}

// needsScratch says that something may not fit in memory.
func (w *work) needsScratch() bool { return w.Dedup != nil || w.Shuffle }

// passes does what is left to do.
func (w *work) passes(ctx context.Context) (rep Report, err error) {
	if w.from.Going {
		if err := w.resume(ctx); err != nil {
			return rep, err
		}
	}
	if w.Dedup != nil && w.from.Pass < passWrite {
		if rep.Hash, err = w.hash(ctx); err != nil {
			return rep, err
		}
		w.from = &dataset.Resumed{Splits: w.data.Splits()}
	}
	if rep.Kept = w.state.Kept; w.from.Pass < passOrder {
		if rep.Write, rep.Examples, err = w.write(ctx); err != nil {
			return rep, err
		}
	}
	if w.Shuffle && w.from.Pass < passDone {
		if rep.Order, err = w.order(ctx); err != nil {
			return rep, err
		}
	}
	if err := w.clear(ctx); err != nil {
		return rep, err
	}
	sum := w.data.Splits()[0]
	rep.Rows, rep.Bytes, rep.Parts = sum.Rows, sum.Bytes, sum.Parts
	rep.Tokens, rep.Cut, rep.Packed = w.state.Tokens, w.state.Cut, w.state.Packed
	rep.ScratchPlain, rep.ScratchStored = w.scratchPlain, w.scratchStored
	end := dataset.Ending{Schema: w.out}
	if rep.Arrays, end.Arrays, err = w.beside(ctx); err != nil {
		return rep, err
	}
	return rep, w.data.Finish(ctx, end)
}

// clear removes the scratch files before the dataset is finished: nothing of a
// finished one would be looked at again.
func (w *work) clear(ctx context.Context) error {
	if w.scratch == nil {
		return nil
	}
	if w.from.Pass < passDone {
		if err := w.checkpoint(ctx, dataset.Checkpoint{Pass: passDone}); err != nil {
			return err
		}
	}
	return w.scratch.Clear()
}

// look counts duplicates and checks tokens, and writes nothing.
func (w *work) look(ctx context.Context) (rep Report, err error) {
	w.from = new(dataset.Resumed)
	write := w.Tokenize != nil
	if w.Dedup != nil {
		if w.scratch, err = spill.OpenWith(w.Scratch, spill.Options{System: w.Disk}); err != nil {
			return rep, err
		}
		rep.Hash, err = w.hash(ctx)
		write = write || w.Dedup.Show > 0
	}
	if err == nil && write {
		rep.Write, rep.Examples, err = w.write(ctx)
	}
	rep.Kept, rep.Tokens, rep.Differ, rep.Differences = w.state.Kept, w.state.Tokens, w.differ, w.differences
	if w.scratch != nil {
		err = errors.Join(err, w.scratch.Clear())
	}
	return rep, err
}

// checkpoint notes how far the run is.
func (w *work) checkpoint(ctx context.Context, c dataset.Checkpoint) error {
	if w.data == nil {
		return nil // nothing is written that could be gone on with
	}
	var err error
	if c.State, err = w.encode(); err != nil {
		return err
	}
	return w.data.Checkpoint(ctx, c)
}

// encode is the state as a checkpoint has it.
func (w *work) encode() ([]byte, error) { return json.Marshal(w.state) }
